package openai

import (
	"bytes"
	"compress/gzip"
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
			x, err := New(s, config(extractors.Serve(t, play(source))))
			if err != nil {
				t.Fatal(err)
			}
			return x
		},
		Shows: extractors.Manners(), Attempts: attempt.Attempts, Late: late, Total: attempt.DefaultTotal, Projected: true,
	})
}

// What is sent is the prompt as it places itself, byte for byte, with the
// projection of the shape; a correction stands before the user message and
// nowhere else.
func TestPromptIsSentAsItPlacesItself(t *testing.T) {
	t.Parallel()
	for _, placement := range []fence.Placement{fence.PlacementUser, fence.PlacementSystem} {
		for _, broken := range []string{"", "kind: label"} {
			endpoint := &says{body: completed(good, "stop")}
			c := config(extractors.Serve(t, endpoint))
			zero := 0.0
			c.Dialect, c.MaxTokens, c.Temperature = Hosted, 77, &zero
			p := prompt(t, placement)
			if _, err := ask(t, made(t, c), p, broken); err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal([]byte(endpoint.shown()[0]), &got); err != nil {
				t.Fatal(err)
			}
			schema, err := shapeOf(t).Projection(shape.OpenAI())
			if err != nil {
				t.Fatal(err)
			}
			var messages []any
			for _, part := range p.System() {
				messages = append(messages, map[string]any{"role": "system", "content": part})
			}
			messages = append(messages, map[string]any{"role": "user", "content": extract.Correction(broken) + p.User()})
			b, err := json.Marshal(map[string]any{
				"model": "some-model", "messages": messages, "max_completion_tokens": 77, "temperature": 0, "stream": false,
				"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "structure", "strict": true, "schema": json.RawMessage(schema)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("placement %s, broken %q:\ngot  %s\nwant %s", placement, broken, endpoint.shown()[0], b)
			}
			r := endpoint.requests()[0]
			if r.Method != "POST" || r.URL.Path != "/v1/chat/completions" || r.URL.RawQuery != "" || r.Header.Get("Authorization") != "" {
				t.Errorf("got %s %s with %v", r.Method, r.URL, r.Header)
			}
		}
	}
}

func TestDialectNamesTheLimit(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[Dialect]string{Hosted: `"max_completion_tokens":4096`, Compatible: `"max_tokens":4096`} {
		endpoint := &says{body: completed(good, "stop")}
		c := config(extractors.Serve(t, endpoint))
		c.Dialect = dialect
		if _, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), ""); err != nil {
			t.Fatal(err)
		}
		if b := endpoint.shown()[0]; !strings.Contains(b, want) || strings.Count(b, `"max_`) != 1 || strings.Contains(b, "temperature") {
			t.Errorf("%s: want %s, got %s", dialect, want, b)
		}
	}
}

// Whatever fails open with status 200 is an error of the list, at the first
// question; none tells what was in the answer.
func TestWhatIsNoWholeAnswerIsAnError(t *testing.T) {
	t.Parallel()
	const secret = extractors.Secret
	whole := completed(good, "stop")
	replace := func(old, with string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("%s does not stand in %s", old, whole)
		}
		return strings.Replace(whole, old, with, 1)
	}
	choice := whole[strings.Index(whole, `[{`)+1 : strings.Index(whole, `}]`)+1]
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"empty":                  {"", ErrNoAnswer},
		"empty object":           {"{}", ErrNoAnswer},
		"null":                   {"null", ErrNoAnswer},
		"error in an object":     {`{"error":{"message":"` + secret + `"}}`, ErrNoAnswer},
		"no choice":              {replace(choice, ""), ErrNoAnswer},
		"two choices":            {replace(choice, choice+","+choice), ErrNoAnswer},
		"no message":             {`{"choices":[{"finish_reason":"stop"}]}`, ErrNoAnswer},
		"null message":           {`{"choices":[{"finish_reason":"stop","message":null}]}`, ErrNoAnswer},
		"no content":             {completed(nil, "stop"), ErrNoAnswer},
		"content of parts":       {completed([]any{map[string]any{"type": "text", "text": good}}, "stop"), ErrNoAnswer},
		"content of an object":   {completed(map[string]any{"kind": "bug"}, "stop"), ErrNoAnswer},
		"another role":           {replace(`"role":"assistant"`, `"role":"user"`), ErrNoAnswer},
		"no role":                {replace(`,"role":"assistant"`, ``), ErrNoAnswer},
		"cut by length":          {completed(good, "length"), ErrCut},
		"no finish":              {completed(good, ""), ErrCut},
		"unknown finish":         {completed(good, secret), ErrCut},
		"filtered":               {completed(good, "content_filter"), ErrRefused},
		"refusal":                {replace(`"refusal":null`, `"refusal":"`+secret+`"`), ErrRefused},
		"tool":                   {replace(`"refusal":null`, `"tool_calls":[{"type":"function"}]`), ErrTool},
		"function":               {replace(`"refusal":null`, `"function_call":{"name":"x"}`), ErrTool},
		"finished with a tool":   {completed(good, "tool_calls"), ErrCut},
		"cut off":                {whole[:len(whole)/2], ErrNoAnswer},
		"two objects":            {whole + whole, ErrNoAnswer},
		"a stream":               {"data: " + whole + "\n\ndata: [DONE]\n", ErrNoAnswer},
		"duplicate choices":      {replace(`"choices"`, `"choices":[],"choices"`), ErrNoAnswer},
		"bytes that are no text": {replace(`"chatcmpl-1"`, "\"\xff\""), ErrNoAnswer},
		"array":                  {"[" + whole + "]", ErrNoAnswer},
		"20 MB":                  {`{"a":"` + strings.Repeat("x", 20<<20) + `"}`, attempt.ErrLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endpoint := &says{body: c.body}
			a, err := ask(t, made(t, config(extractors.Serve(t, endpoint))), prompt(t, fence.PlacementUser), "")
			if !errors.Is(err, c.want) || len(endpoint.requests()) != 1 || !reflect.DeepEqual(a, extract.Answer{}) {
				t.Errorf("got %v after %d questions, want %v after 1", err, len(endpoint.requests()), c.want)
			}
			if strings.Contains(fmt.Sprint(err), secret) {
				t.Errorf("the error repeats the answer: %v", err)
			}
		})
	}
}

// Null stands for nothing, so an endpoint may spell out what it does not say.
func TestAnswerThatSpellsOutNullsIsWhole(t *testing.T) {
	t.Parallel()
	body := strings.Replace(completed(good, "stop"), `"refusal":null`, `"refusal":"","tool_calls":[],"function_call":null`, 1)
	a, err := ask(t, made(t, config(extractors.Serve(t, &says{body: body}))), prompt(t, fence.PlacementUser), "")
	if err != nil || string(a.Candidate) != good || !a.Projected {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestStatusesAreAskedAgainOrNot(t *testing.T) {
	t.Parallel()
	for status, asked := range map[int]int{
		201: 1, 204: 1, 301: 1, 302: 1, 303: 1, 307: 1, 308: 1, 400: 1, 401: 1, 403: 1, 404: 1, 408: 1, 413: 1, 418: 1, 422: 1, 501: 1,
		429: 3, 500: 3, 502: 3, 503: 3, 504: 3,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				endpoint := &says{status: status, header: map[string]string{"Location": "http://127.0.0.1:11434/v1/chat/completions"}}
				if status != 204 {
					endpoint.body = completed(good, "stop")
				}
				_, err := ask(t, made(t, config(extractors.Serve(t, endpoint))), prompt(t, fence.PlacementUser), "")
				if !errors.Is(err, Status(status)) || len(endpoint.requests()) != asked {
					t.Errorf("got %v after %d questions, want %d", err, len(endpoint.requests()), asked)
				}
			})
		})
	}
}

// An endpoint that is busy is asked again when it said, if that is soon.
func TestRetryAfterIsHeeded(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]struct {
		least time.Duration
		ok    bool
	}{"7": {7 * time.Second, true}, "20": {20 * time.Second, true}, "21": {0, false}, "3600": {0, false}, "Wed, 21 Oct 2026 07:28:00 GMT": {0, false}} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if asked++; asked == 1 {
					w.Header().Set("Retry-After", after)
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				_, _ = io.WriteString(w, completed(good, "stop"))
			})
			begin := time.Now()
			_, err := ask(t, made(t, config(extractors.Serve(t, h))), prompt(t, fence.PlacementUser), "")
			if (err == nil) != want.ok || time.Since(begin) < want.least {
				t.Errorf("Retry-After %q: got %v after %s", after, err, time.Since(begin))
			}
		})
	}
}

// A connection that breaks, at its start or in the middle of the answer, is
// tried again.
func TestBrokenConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, written := range []int{0, 100} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := completed(good, "stop")
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
		"no body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
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

// What counts is the size of the answer as it is read, not as it was sent.
func TestBombIsAnAnswerTooLarge(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(strings.Repeat(" ", 8<<20))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	endpoint := &says{body: packed.String(), header: map[string]string{"Content-Encoding": "gzip"}}
	if _, err := ask(t, made(t, config(extractors.Serve(t, endpoint))), prompt(t, fence.PlacementUser), ""); !errors.Is(err, attempt.ErrLarge) {
		t.Errorf("%d bytes: got %v", packed.Len(), err)
	}
}

func TestOtherContentIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, media := range []string{"text/html", "text/event-stream", "application/x-ndjson", ""} {
		endpoint := &says{body: completed(good, "stop"), header: map[string]string{"Content-Type": media}}
		_, err := ask(t, made(t, config(extractors.Serve(t, endpoint))), prompt(t, fence.PlacementUser), "")
		if !errors.Is(err, attempt.ErrForm) || len(endpoint.requests()) != 1 {
			t.Errorf("%q: got %v", media, err)
		}
	}
}

// A redirect is followed nowhere, and the key goes nowhere with it. On real
// sockets, since redirects are what a client follows by itself.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	followed := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed++ }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	c := config(nil)
	c.BaseURL = first.URL
	if _, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), ""); !errors.Is(err, Status(307)) || followed > 0 {
		t.Errorf("got %v, followed %d times", err, followed)
	}
}

func TestUsageCountsEachTokenOnce(t *testing.T) {
	t.Parallel()
	c := config(extractors.Serve(t, &says{body: completed(good, "stop")}))
	c.Prices = extract.Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000}
	a, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), "")
	want := extract.Usage{InputTokens: 600, OutputTokens: 50, CacheReadTokens: 400, Microdollars: 600*3 + 50*15 + 400*3/10}
	if err != nil || a.Usage != want {
		t.Errorf("got %+v, %v; want %+v", a.Usage, err, want)
	}
	for in, want := range map[usage]extract.Usage{
		{}:                                  {},
		{Prompt: -5, Completion: -1}:        {},
		{Prompt: 1 << 40, Completion: 3}:    {InputTokens: extract.MaxTokens, OutputTokens: 3},
		{Prompt: 5, Details: cached(9)}:     {CacheReadTokens: 5},
		{Prompt: 5, Details: cached(-9)}:    {InputTokens: 5},
		{Completion: 1 << 60}:               {OutputTokens: extract.MaxTokens},
		{Details: cached(3), Completion: 0}: {},
	} {
		if got := in.counted(); got != want {
			t.Errorf("%+v: got %+v, want %+v", in, got, want)
		}
	}
}

func cached(n int) struct {
	Cached int `json:"cached_tokens"`
} {
	return struct {
		Cached int `json:"cached_tokens"`
	}{n}
}

// No question can cost more than the reservation, whatever the endpoint says
// it used within the limits that it was given.
func TestWorstIsNeverLessThanACost(t *testing.T) {
	t.Parallel()
	c := config(nil)
	c.Prices = extract.Prices{Input: 3_000_000, Output: 15_000_000}
	x := made(t, c)
	p := prompt(t, fence.PlacementUser)
	size := len(p.User())
	for _, part := range p.System() {
		size += len(part)
	}
	body, err := x.question(p, extract.Correction("kind: label"))
	if err != nil {
		t.Fatal(err)
	}
	one := c.Prices.Cost(extract.Usage{InputTokens: len(body), OutputTokens: DefaultMaxTokens})
	if worst := x.Worst(size); worst < one*extract.MaxTurns*attempt.Attempts || extract.WorstOf(x, size) != worst {
		t.Errorf("worst %d, and one question may cost %d", worst, one)
	}
	if made(t, config(nil)).Worst(1<<20) != 0 || x.Worst(-1) > x.Worst(0) {
		t.Error("want nothing where no prices are known, and no size below 0")
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

// Whatever the body is, it is an answer of one text or an error of the list.
func FuzzBodyIsAnAnswerOrAnError(f *testing.F) {
	for _, body := range []string{completed(good, "stop"), completed(nil, "length"), "", "{}", `{"choices":[{}]}`, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1e400}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := decode(body)
		known := errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrCut) || errors.Is(err, ErrRefused) || errors.Is(err, ErrTool)
		if (err != nil) != known || err != nil && a.Candidate != nil {
			t.Errorf("got %+v, %v", a, err)
		}
		if err == nil && (!bytes.Contains(body, []byte("stop")) && !bytes.Contains(body, []byte(`\u`))) {
			t.Errorf("an answer that did not say it was whole: %q", body)
		}
	})
}
