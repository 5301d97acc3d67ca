package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"decant.dev/extract"
	"decant.dev/extract/internal/attempt"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/conformance/extractors"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	extractors.Test(t, extractors.Kit{
		New: func(t *testing.T, s *shape.Shape, source *extractors.Source) extract.Extractor {
			x, err := New(s, config(extractors.Serve(t, play(source, ByFormat))))
			if err != nil {
				t.Fatal(err)
			}
			return x
		},
		Shows: extractors.Manners(), Attempts: attempt.Attempts, Late: late, Total: attempt.DefaultTotal, Projected: true,
	})
}

// What is sent is the prompt as it places itself, byte for byte, with the
// preamble alone before the cache point; a correction stands before the user
// message and nowhere else.
func TestPromptIsSentAsItPlacesItself(t *testing.T) {
	t.Parallel()
	schema, err := shapeOf(t).Projection(shape.Bedrock())
	if err != nil {
		t.Fatal(err)
	}
	zero := float32(0)
	for _, placement := range []fence.Placement{fence.PlacementUser, fence.PlacementSystem} {
		for _, held := range []Held{ByFormat, ByTool} {
			for _, all := range []bool{false, true} {
				endpoint := &says{body: converse("end_turn", text(good))}
				c := config(extractors.Serve(t, endpoint))
				c.Held, c.Cache = held, all
				broken := ""
				inference := object{"maxTokens": DefaultMaxTokens}
				if all {
					broken, c.MaxTokens, c.Temperature, c.Guardrail = "kind: label", 77, &zero, Guardrail{"g1", "DRAFT"}
					inference = object{"maxTokens": 77, "temperature": 0}
				}
				p := prompt(t, placement)
				_, _ = ask(t, made(t, c), p, broken)

				var system []object
				for i, part := range p.System() {
					system = append(system, text(part))
					if all && i == 0 {
						system = append(system, object{"cachePoint": object{"type": "default"}})
					}
				}
				want := object{
					"system": system, "inferenceConfig": inference,
					"messages": []object{{"role": "user", "content": []object{text(extract.Correction(broken) + p.User())}}},
				}
				if all {
					want["guardrailConfig"] = object{"guardrailIdentifier": "g1", "guardrailVersion": "DRAFT"}
				}
				if held == ByFormat {
					want["outputConfig"] = object{"textFormat": object{"type": "json_schema", "structure": object{"jsonSchema": object{"schema": string(schema), "name": "structure"}}}}
				} else {
					want["toolConfig"] = object{"toolChoice": object{"tool": object{"name": "structure"}}, "tools": []object{{"toolSpec": object{
						"name": "structure", "description": "Takes the answer to this turn.", "strict": true, "inputSchema": object{"json": json.RawMessage(schema)},
					}}}}
				}
				if got := endpoint.shown()[0]; !reflect.DeepEqual(parsed(t, got), parsed(t, string(must(json.Marshal(want))))) {
					t.Errorf("placement %s, %s, all %t:\ngot  %s\nwant %s", placement, held, all, got, must(json.Marshal(want)))
				}
				if r := endpoint.requests()[0]; r.Method != "POST" || r.URL.EscapedPath() != "/model/eu.example.some-model-v1%3A0/converse" {
					t.Errorf("got %s %s", r.Method, r.URL.EscapedPath())
				}
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func parsed(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return v
}

// The same question is the same bytes, so that a provider's caches hold.
func TestQuestionIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, held := range []Held{ByFormat, ByTool} {
		endpoint := &says{body: converse("end_turn", text(good))}
		c := config(extractors.Serve(t, endpoint))
		c.Held = held
		p := prompt(t, fence.PlacementUser)
		for range 20 {
			_, _ = ask(t, made(t, c), p, "")
		}
		for _, b := range endpoint.shown()[1:] {
			if b != endpoint.shown()[0] {
				t.Fatalf("%s: got\n%s\nand\n%s", held, endpoint.shown()[0], b)
			}
		}
	}
}

// Whatever fails open with status 200 is an error of the list, at the first
// question; none tells what was in the answer.
func TestWhatIsNoWholeAnswerIsAnError(t *testing.T) {
	t.Parallel()
	const secret = extractors.Secret
	whole := converse("end_turn", text(good))
	for name, c := range map[string]struct {
		held Held
		body string
		want error
	}{
		"empty":                     {ByFormat, "", ErrNoAnswer},
		"empty object":              {ByFormat, "{}", ErrNoAnswer},
		"null":                      {ByFormat, "null", ErrNoAnswer},
		"array":                     {ByFormat, "[" + whole + "]", ErrNoAnswer},
		"cut off":                   {ByFormat, whole[:len(whole)/2], nil}, // asked again: the connection may have broken
		"empty output":              {ByFormat, `{"output":{},"stopReason":"end_turn"}`, ErrNoAnswer},
		"null output":               {ByFormat, `{"output":null,"stopReason":"end_turn"}`, ErrNoAnswer},
		"unknown output":            {ByFormat, `{"output":{"` + secret + `":{}},"stopReason":"end_turn"}`, ErrNoAnswer},
		"no content":                {ByFormat, converse("end_turn"), ErrNoAnswer},
		"no role":                   {ByFormat, strings.Replace(whole, `"role":"assistant"`, `"name":"x"`, 1), ErrNoAnswer},
		"another role":              {ByFormat, strings.Replace(whole, `"role":"assistant"`, `"role":"user"`, 1), ErrNoAnswer},
		"two texts":                 {ByFormat, converse("end_turn", text(good), text(good)), ErrNoAnswer},
		"text, then reasoning":      {ByFormat, converse("end_turn", text(good), reasoning(secret)), ErrNoAnswer},
		"reasoning alone":           {ByFormat, converse("end_turn", reasoning(good)), ErrNoAnswer},
		"tool instead of text":      {ByFormat, converse("end_turn", tool(answerName, good)), ErrNoAnswer},
		"tool use instead of text":  {ByFormat, converse("tool_use", tool(answerName, good)), ErrCut},
		"text and tool":             {ByFormat, converse("end_turn", text(good), tool(answerName, good)), ErrNoAnswer},
		"unknown block":             {ByFormat, converse("end_turn", object{secret: object{}}), ErrNoAnswer},
		"image":                     {ByFormat, converse("end_turn", object{"image": object{"format": "png", "source": object{"bytes": "AAAA"}}}), ErrNoAnswer},
		"max_tokens":                {ByFormat, converse("max_tokens", text(good)), ErrCut},
		"stop_sequence":             {ByFormat, converse("stop_sequence", text(good)), ErrCut},
		"context window":            {ByFormat, converse("model_context_window_exceeded", text(good)), ErrCut},
		"malformed output":          {ByFormat, converse("malformed_model_output", text(good)), ErrCut},
		"no stop reason":            {ByFormat, converse("", text(good)), ErrCut},
		"unknown stop reason":       {ByFormat, converse(secret, text(good)), ErrCut},
		"guardrail":                 {ByFormat, converse("guardrail_intervened", text(secret)), ErrRefused},
		"filtered":                  {ByFormat, converse("content_filtered", text(good)), ErrRefused},
		"20 MB":                     {ByFormat, converse("end_turn", text(strings.Repeat("x", 20<<20))), attempt.ErrLarge},
		"text instead of the tool":  {ByTool, converse("end_turn", text(good)), ErrCut},
		"text, said to be a tool":   {ByTool, converse("tool_use", text(good)), ErrNoAnswer},
		"another tool":              {ByTool, converse("tool_use", tool(secret, good)), ErrNoAnswer},
		"two tools":                 {ByTool, converse("tool_use", tool(answerName, good), tool(answerName, good)), ErrNoAnswer},
		"text before the tool":      {ByTool, converse("tool_use", text(secret), tool(answerName, good)), ErrNoAnswer},
		"a tool that was not ended": {ByTool, converse("max_tokens", tool(answerName, good)), ErrCut},
		"malformed tool":            {ByTool, converse("malformed_tool_use", tool(answerName, good)), ErrCut},
		"a tool without input":      {ByTool, strings.Replace(converse("tool_use", tool(answerName, good)), `"input":`, `"x":`, 1), ErrNoAnswer},
		"a tool that ends the turn": {ByTool, converse("end_turn", tool(answerName, good)), ErrCut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				endpoint := &says{body: c.body}
				k := config(extractors.Serve(t, endpoint))
				k.Held = c.held
				a, err := ask(t, made(t, k), prompt(t, fence.PlacementUser), "")
				if err == nil || c.want != nil && (!errors.Is(err, c.want) || len(endpoint.requests()) != 1) || !reflect.DeepEqual(a, extract.Answer{}) {
					t.Errorf("got %v after %d questions, want %v after 1", err, len(endpoint.requests()), c.want)
				}
				if strings.Contains(fmt.Sprint(err), secret) {
					t.Errorf("the error repeats the answer: %v", err)
				}
			})
		})
	}
}

func TestReasoningMayComeFirst(t *testing.T) {
	t.Parallel()
	for held, body := range map[Held]string{
		ByFormat: converse("end_turn", reasoning("a"), reasoning("b"), text(good)),
		ByTool:   converse("tool_use", reasoning("a"), tool(answerName, good)),
	} {
		c := config(extractors.Serve(t, &says{body: body}))
		c.Held = held
		a, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), "")
		if err != nil || !a.Projected {
			t.Fatalf("%s: got %+v, %v", held, a, err)
		}
		v, err := shapeOf(t).DecodeProjected(a.Candidate)
		if err != nil || string(v.Encode()) != `{"grade":2,"kind":"bug"}` {
			t.Errorf("%s: got %s, %v", held, a.Candidate, err)
		}
	}
}

// Each exception of Converse, as Bedrock sends it, and what else may come in
// its place: asked again or not, and told by its name alone.
func TestFaultsAreAskedAgainOrNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status    int
		exception string
		asked     int
		want      error
	}{
		{403, "AccessDeniedException", 1, Fault("AccessDeniedException")},
		{500, "InternalServerException", 3, Fault("InternalServerException")},
		{424, "ModelErrorException", 1, Fault("ModelErrorException")},
		{429, "ModelNotReadyException", 3, Fault("ModelNotReadyException")},
		{408, "ModelTimeoutException", 3, Fault("ModelTimeoutException")},
		{404, "ResourceNotFoundException", 1, Fault("ResourceNotFoundException")},
		{400, "ServiceQuotaExceededException", 3, Fault("ServiceQuotaExceededException")},
		{503, "ServiceUnavailableException", 3, Fault("ServiceUnavailableException")},
		{429, "ThrottlingException", 3, Fault("ThrottlingException")},
		{400, "ValidationException", 1, Fault("ValidationException")},
		{403, "ExpiredTokenException", 1, Fault("error")},
		{403, "UnrecognizedClientException", 1, Fault("error")},
		{400, extractors.Secret, 1, Fault("error")},
		{502, extractors.Secret, 3, Fault("error")},
		{504, "", 3, Fault("error")},
		{301, "", 1, Fault("error")},
		{307, "", 1, Fault("error")},
	} {
		t.Run(fmt.Sprint(c.status, c.exception), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked++
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Location", "http://127.0.0.1:9/elsewhere")
					fails(w, c.status, c.exception, extractors.Secret)
				})
				_, err := ask(t, made(t, config(extractors.Serve(t, h))), prompt(t, fence.PlacementUser), "")
				if !errors.Is(err, c.want) || asked != c.asked {
					t.Errorf("got %v after %d questions, want %v after %d", err, asked, c.want, c.asked)
				}
				if strings.Contains(fmt.Sprint(err), extractors.Secret) {
					t.Errorf("the error repeats the message: %v", err)
				}
			})
		})
	}
}

func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	for after, ok := range map[string]bool{"7": true, "3600": false} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if asked++; asked == 1 {
					w.Header().Set("Retry-After", after)
					fails(w, 429, "ThrottlingException", "slow down")
					return
				}
				_, _ = io.WriteString(w, converse("end_turn", text(good)))
			})
			begin := time.Now()
			_, err := ask(t, made(t, config(extractors.Serve(t, h))), prompt(t, fence.PlacementUser), "")
			if (err == nil) != ok || ok && time.Since(begin) < 7*time.Second {
				t.Errorf("Retry-After %s: got %v after %s", after, err, time.Since(begin))
			}
		})
	}
}

func TestBrokenConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, written := range []int{0, 100} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := converse("end_turn", text(good))
				w.Header().Set("Content-Type", "application/json")
				if asked++; asked == 1 {
					if written > 0 {
						w.Header().Set("Content-Length", fmt.Sprint(len(body)))
						_, _ = io.WriteString(w, body[:written])
					}
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, body)
			})
			if _, err := ask(t, made(t, config(extractors.Serve(t, h))), prompt(t, fence.PlacementUser), ""); err != nil || asked != 2 {
				t.Errorf("after %d bytes: got %v after %d questions, want an answer after 2", written, err, asked)
			}
		})
	}
}

// Headers that do not come, and a body that trickles for ever, end in time.
func TestSlowEndpointEndsInTime(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"no headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a byte a second": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := config(extractors.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body) // so that the server sees when the client leaves
					h(w, r)
				})))
				c.Times = Times{Each: 5 * time.Second, Total: 12 * time.Second}
				begin := time.Now()
				_, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), "")
				if took := time.Since(begin); !errors.Is(err, attempt.ErrTimeout) || took > 12*time.Second {
					t.Errorf("got %v after %s", err, took)
				}
			})
		})
	}
}

func TestOtherContentIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 202} {
		endpoint := &says{status: status, body: converse("end_turn", text(good)), header: map[string]string{"Content-Type": "text/html"}}
		_, err := ask(t, made(t, config(extractors.Serve(t, endpoint))), prompt(t, fence.PlacementUser), "")
		if !errors.Is(err, attempt.ErrForm) || len(endpoint.requests()) != 1 {
			t.Errorf("%d: got %v after %d questions", status, err, len(endpoint.requests()))
		}
	}
}

// On real sockets: a redirect is followed nowhere, and the client of the
// extractor's own reaches its endpoint.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	followed := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed++ }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	c := config(nil)
	c.Endpoint = first.URL
	if _, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), ""); !errors.Is(err, Fault("error")) || followed > 0 {
		t.Errorf("got %v, followed %d times", err, followed)
	}
}

func TestUsageIsReadAndBounded(t *testing.T) {
	t.Parallel()
	c := config(extractors.Serve(t, &says{body: converse("end_turn", text(good))}))
	c.Prices = extract.Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	a, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), "")
	want := extract.Usage{InputTokens: 600, OutputTokens: 50, CacheReadTokens: 400, CacheWriteTokens: 100, Microdollars: 600*3 + 50*15 + 120 + 375}
	if err != nil || a.Usage != want {
		t.Errorf("got %+v, %v; want %+v", a.Usage, err, want)
	}
	without := strings.Replace(converse("end_turn", text(good)), `"usage"`, `"unused"`, 1)
	if a, err := ask(t, made(t, config(extractors.Serve(t, &says{body: without}))), prompt(t, fence.PlacementUser), ""); err != nil || a.Usage != (extract.Usage{}) {
		t.Errorf("without usage: got %+v, %v", a.Usage, err)
	}
	negative := strings.Replace(converse("end_turn", text(good)), `"inputTokens":600`, `"inputTokens":-600`, 1)
	if a, err := ask(t, made(t, config(extractors.Serve(t, &says{body: negative}))), prompt(t, fence.PlacementUser), ""); err != nil || a.Usage.InputTokens != 0 {
		t.Errorf("negative: got %+v, %v", a.Usage, err)
	}
}

func TestWorstIsNeverLessThanACost(t *testing.T) {
	t.Parallel()
	endpoint := &says{body: converse("end_turn", text(good))}
	c := config(extractors.Serve(t, endpoint))
	c.Prices = extract.Prices{Input: 3_000_000, Output: 15_000_000, CacheWrite: 3_750_000}
	x := made(t, c)
	p := prompt(t, fence.PlacementUser)
	if _, err := ask(t, x, p, "kind: label"); err != nil {
		t.Fatal(err)
	}
	size := len(p.User())
	for _, part := range p.System() {
		size += len(part)
	}
	one := c.Prices.Cost(extract.Usage{CacheWriteTokens: len(endpoint.shown()[0]), OutputTokens: DefaultMaxTokens})
	if worst := x.Worst(size); worst < one*extract.MaxTurns*attempt.Attempts || extract.WorstOf(x, size) != worst {
		t.Errorf("worst %d, and one question may cost %d", worst, one)
	}
}

func TestRequestOfAnotherShapeIsRefused(t *testing.T) {
	t.Parallel()
	x := made(t, config(nil))
	other, err := shape.Of[struct {
		Flag bool `json:"flag"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*shape.Shape{nil, other} {
		if _, err := x.Extract(t.Context(), extract.Request{Prompt: prompt(t, fence.PlacementUser), Shape: s}); !errors.Is(err, ErrShape) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := x.Extract(t.Context(), extract.Request{Shape: shapeOf(t)}); !errors.Is(err, fence.ErrNoPrompt) {
		t.Errorf("a zero prompt: got %v", err)
	}
}

// The input of a tool has been through the SDK's own reader; what is left of
// it is held to the shape like any other answer.
func TestToolInputIsHeldToTheShape(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{}`, `[]`, `"bug"`, `{"kind":"bug"}`, `{"kind":"bug","grade":"2","version":null}`, `{"kind":"bug","grade":2.5,"version":null}`,
		`{"kind":"bug","grade":1e1000000,"version":null}`, `{"kind":"bug","grade":-0,"version":null}`, `{"kind":"bug","grade":2,"version":null,"extra":1}`, `{"KIND":"bug","grade":2}`,
		`{"kind":"bug","grade":` + strings.Repeat("9", 100_000) + `}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := config(extractors.Serve(t, &says{body: converse("tool_use", tool(answerName, input))}))
			c.Held = ByTool
			a, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), "")
			if err != nil {
				return
			}
			if v, err := shapeOf(t).DecodeProjected(a.Candidate); err == nil {
				t.Errorf("%.60s: got %s", input, v.Encode())
			}
		})
	}
}
