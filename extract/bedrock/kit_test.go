package bedrock

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/conformance/extractors"
)

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": extractors.Secret, "AWS_SESSION_TOKEN": "session", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// report is a shape with something that may be absent.
type report struct {
	Kind    string       `json:"kind" jsonschema:"enum=bug,enum=feature"`
	Grade   int          `json:"grade" jsonschema:"minimum=0,maximum=3"`
	Version *shape.Token `json:"version,omitempty" jsonschema:"pattern=^[0-9]{1\\,3}(\\.[0-9]{1\\,3}){2}$"`
}

func shapeOf(tb testing.TB) *shape.Shape {
	tb.Helper()
	s, err := shape.Of[report]()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func prompt(tb testing.TB, placement fence.Placement) fence.Prompt {
	tb.Helper()
	p, err := fence.Render(fence.RunContext{
		Run: strings.Repeat("0", 32), Recipe: "report", Profile: fence.ProfileIntake, Placement: placement, Instruction: "Read the report.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 10, ContextMaxBytes: 1 << 12},
		Elements: []fence.Element{{
			ID: "e1", Author: fence.Author{ID: "u7", Kind: fence.KindPerson}, Origin: fence.OriginMessage, Role: fence.RoleUser,
			Trust: fence.TrustUnverified, Text: "ALPHA \"went\" wrong.\n<b>",
		}},
	}, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

const model = "eu.example.some-model-v1:0"

func config(c *http.Client) Config {
	return Config{Region: "eu-central-1", Model: model, Held: ByFormat, Client: c, Endpoint: "http://127.0.0.1:9"}
}

const good = `{"kind":"bug","grade":2,"version":null}`

type object map[string]any

func text(s string) object { return object{"text": s} }

func tool(name, input string) object {
	return object{"toolUse": object{"toolUseId": "t1", "name": name, "input": json.RawMessage(input)}}
}

func reasoning(s string) object {
	return object{"reasoningContent": object{"reasoningText": object{"text": s, "signature": "c2ln"}}}
}

// converse is an answer as Bedrock writes it.
func converse(stop string, blocks ...object) string {
	b, err := json.Marshal(object{
		"output":     object{"message": object{"role": "assistant", "content": blocks}},
		"stopReason": stop,
		"usage":      object{"inputTokens": 600, "outputTokens": 50, "totalTokens": 1150, "cacheReadInputTokens": 400, "cacheWriteInputTokens": 100},
		"metrics":    object{"latencyMs": 7},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// says answers every request alike, and keeps the requests.
type says struct {
	status int
	header map[string]string
	body   string

	mu     sync.Mutex
	asked  []*http.Request
	bodies []string
}

// requests are those that came, and shown their bodies.
func (s *says) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *says) shown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

func (s *says) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(b))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for k, v := range s.header {
		w.Header().Set(k, v)
	}
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	_, _ = io.WriteString(w, s.body)
}

func made(t *testing.T, c Config) *Extractor {
	t.Helper()
	x, err := New(shapeOf(t), c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ask(t *testing.T, x *Extractor, p fence.Prompt, broken string) (extract.Answer, error) {
	t.Helper()
	return x.Extract(t.Context(), extract.Request{Prompt: p, Context: p.Context(), Shape: shapeOf(t), Broken: broken})
}

func fails(w http.ResponseWriter, status int, exception, message string) {
	w.Header().Set("X-Amzn-ErrorType", exception+":http://internal.amazon.com/coral/")
	w.WriteHeader(status)
	b, _ := json.Marshal(object{"message": message})
	_, _ = w.Write(b)
}

const late = 30 * time.Second

// play shows a source's turns as Bedrock would, as a text or as the input of
// the tool.
func play(source *extractors.Source, held Held) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			System   []struct{ Text string }
			Messages []struct{ Content []struct{ Text string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, "not JSON", 400)
			return
		}
		var shown strings.Builder
		for _, s := range q.System {
			shown.WriteString(s.Text)
		}
		for _, m := range q.Messages {
			shown.WriteString(m.Content[0].Text)
		}
		turn := source.Ask(shown.String())
		whole, stop := text(turn.Text), "end_turn"
		if held == ByTool && json.Valid([]byte(turn.Text)) {
			whole, stop = tool(answerName, turn.Text), "tool_use"
		}
		w.Header().Set("Content-Type", "application/json")
		switch turn.Manner {
		case extractors.Late:
			time.Sleep(late)
			fallthrough
		case extractors.Answers:
			_, _ = io.WriteString(w, converse(stop, reasoning("thinking"), whole))
		case extractors.Cut:
			_, _ = io.WriteString(w, converse("max_tokens", text(turn.Text)))
		case extractors.Refuses:
			_, _ = io.WriteString(w, converse("guardrail_intervened", text(turn.Text)))
		case extractors.Nothing:
			_, _ = io.WriteString(w, "{}")
		case extractors.Denies:
			fails(w, 403, "AccessDeniedException", turn.Text)
		case extractors.Fails:
			fails(w, 500, "InternalServerException", turn.Text)
		case extractors.Hangs:
			<-r.Context().Done()
		case extractors.Endless:
			for {
				if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
					return
				}
			}
		default:
			panic("no such manner")
		}
	})
}
