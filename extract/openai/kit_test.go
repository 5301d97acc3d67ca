package openai

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// report is a shape with something that may be absent.
type report struct {
	Kind    string       `json:"kind" jsonschema:"enum=bug,enum=feature"`
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

const voice = "Read the report."

func prompt(tb testing.TB, placement fence.Placement) fence.Prompt {
	tb.Helper()
	p, err := fence.Render(fence.RunContext{
		Run: strings.Repeat("0", 32), Recipe: "report", Profile: fence.ProfileIntake, Placement: placement, Instruction: voice,
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

func config(c *http.Client) Config {
	return Config{BaseURL: "http://127.0.0.1:11434/v1", Model: "some-model", Dialect: Compatible, Client: c}
}

// completed is an answer as an endpoint writes it.
func completed(content any, finish string) string {
	b, err := json.Marshal(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "some-model", "system_fingerprint": "fp",
		"choices": []any{map[string]any{"index": 0, "logprobs": nil, "finish_reason": finish,
			"message": map[string]any{"role": "assistant", "content": content, "refusal": nil, "reasoning_content": "thinking"}}},
		"usage": map[string]any{"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050,
			"prompt_tokens_details": map[string]any{"cached_tokens": 400, "audio_tokens": 0}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

const good = `{"kind":"bug","version":null}`

// says answers every request with a body, and keeps the requests.
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

func ask(t *testing.T, x *Extractor, p fence.Prompt, broken string) (extract.Answer, error) {
	t.Helper()
	return x.Extract(t.Context(), extract.Request{Prompt: p, Context: p.Context(), Shape: shapeOf(t), Broken: broken})
}

func made(t *testing.T, c Config) *Extractor {
	t.Helper()
	x, err := New(shapeOf(t), c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// play shows a source's turns as an endpoint would.
func play(source *extractors.Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, "not JSON", 400)
			return
		}
		var shown strings.Builder
		for _, m := range q.Messages {
			shown.WriteString(m.Content)
		}
		turn := source.Ask(shown.String())
		w.Header().Set("Content-Type", "application/json")
		switch turn.Manner {
		case extractors.Late:
			time.Sleep(late)
			fallthrough
		case extractors.Answers:
			_, _ = io.WriteString(w, completed(turn.Text, "stop"))
		case extractors.Cut:
			_, _ = io.WriteString(w, completed(turn.Text, "length"))
		case extractors.Refuses:
			_, _ = io.WriteString(w, strings.Replace(completed(nil, "stop"), `"refusal":null`, fmt.Sprintf(`"refusal":%q`, turn.Text), 1))
		case extractors.Nothing:
		case extractors.Denies:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, turn.Text)
		case extractors.Fails:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, turn.Text)
		case extractors.Hangs:
			<-r.Context().Done()
		case extractors.Endless:
			for {
				if _, err := io.WriteString(w, strings.Repeat(" ", 4096)+turn.Text); err != nil {
					return
				}
			}
		default:
			panic("no such manner")
		}
	})
}

const late = 30 * time.Second
