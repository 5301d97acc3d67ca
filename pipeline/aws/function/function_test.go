package function

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

const run = "0123456789abcdef0123456789abcdef"

func serve(h Handler) (*Function, *bytes.Buffer) {
	var out bytes.Buffer
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { at = at.Add(1500 * time.Microsecond); return at }
	return &Function{Service: "act", Namespace: "decant", Handle: h, Out: &out, Clock: clock}, &out
}

// Whatever a handler does, the answer is a verdict, or the one error without
// a cause; and nothing that it said reaches the answer or a line.
func TestEveryEndIsAVerdict(t *testing.T) {
	t.Parallel()
	marker := errors.New("zz9-marker")
	for _, tc := range []struct {
		name   string
		handle Handler
		want   string // the verdict, empty for the error
	}{
		{"good", func(context.Context, []byte) (Reply, error) { return Reply{Run: run, Answer: Good}, nil }, "ok"},
		{"code", func(context.Context, []byte) (Reply, error) {
			return Reply{Answer: "zz9", Code: pipeline.PolicyNever}, nil
		}, "policy_never"},
		{"fault", func(context.Context, []byte) (Reply, error) {
			return Reply{Answer: Good}, pipeline.Unreadable.Error("zz9-marker")
		}, "unreadable"},
		{"fault without a code", func(context.Context, []byte) (Reply, error) {
			return Reply{Answer: Good}, &pipeline.Fault{Detail: "zz9"}
		}, "phase_misbehave"},
		{"error", func(context.Context, []byte) (Reply, error) { return Reply{Answer: Good}, marker }, "phase_misbehave"},
		{"code that is not listed", func(context.Context, []byte) (Reply, error) { return Reply{Code: "zz9-marker"}, nil }, "phase_misbehave"},
		{"answer that cannot be encoded", func(context.Context, []byte) (Reply, error) { return Reply{Answer: func() {}}, nil }, "phase_misbehave"},
		{"panic", func(context.Context, []byte) (Reply, error) { panic("zz9-marker") }, "phase_panic"},
		{"out of range", func(_ context.Context, b []byte) (Reply, error) { return Reply{Run: string(b[len(b):][:1:1])}, nil }, "phase_panic"},
		{"run that is no id", func(context.Context, []byte) (Reply, error) { return Reply{Run: "zz9-marker", Answer: Good}, nil }, "ok"},
		{"transient", func(context.Context, []byte) (Reply, error) {
			return Reply{Answer: Good}, errors.Join(marker, client.RetryableError{})
		}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f, out := serve(tc.handle)
			answer, err := f.Invoke(t.Context(), []byte(`{"zz9-marker":1}`))
			if tc.want == "" {
				if err != (client.RetryableError{}) || answer != nil {
					t.Errorf("got %s, %v; want the error alone", answer, err)
				}
			} else if err != nil || string(answer) != `{"verdict":"`+tc.want+`"}` {
				t.Errorf("got %s, %v; want %s", answer, err, tc.want)
			}
			if strings.Contains(out.String(), "zz9") {
				t.Errorf("foreign words in a line: %s", out)
			}
		})
	}
}

func TestAPayloadOverTheLimitIsNotHandled(t *testing.T) {
	t.Parallel()
	f, _ := serve(func(context.Context, []byte) (Reply, error) { return Reply{Answer: Good}, nil })
	for size, want := range map[int]string{MaxPayloadBytes: "ok", MaxPayloadBytes + 1: "phase_misbehave"} {
		if answer, err := f.Invoke(t.Context(), make([]byte, size)); err != nil || string(answer) != `{"verdict":"`+want+`"}` {
			t.Errorf("%d bytes: got %s, %v; want %s", size, answer, err, want)
		}
	}
}

func TestLinesAreARecordAndMetrics(t *testing.T) {
	t.Parallel()
	f, out := serve(func(context.Context, []byte) (Reply, error) {
		return Reply{Run: run, Answer: Good, Counts: []Count{{Name: "SignatureMatched", Dimension: "secret", Value: "previous"}}}, nil
	})
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
	for range 2 {
		if _, err := f.Invoke(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, m)
	}
	if len(lines) != 7 {
		t.Fatalf("got %d lines, want 4 of a cold invocation and 3 of a warm one:\n%s", len(lines), out)
	}
	record := lines[0]
	if record["run"] != run || record["code"] != "ok" || record["service"] != "act" || record["cold_start"] != true ||
		record["duration_ms"] != 1.5 || record["function_request_id"] != "request-1" || record["level"] != "INFO" {
		t.Errorf("got %v", record)
	}
	if lines[4]["cold_start"] != false {
		t.Errorf("got %v, want a warm invocation", lines[4])
	}
	for i, want := range map[int]string{1: "Verdicts", 2: "SignatureMatched", 3: "ColdStart", 5: "Verdicts"} {
		m := lines[i]
		d := m["_aws"].(map[string]any)["CloudWatchMetrics"].([]any)[0].(map[string]any)
		if d["Namespace"] != "decant" || m[want] != 1.0 {
			t.Errorf("line %d: got %v, want %s", i, m, want)
		}
		for _, set := range d["Dimensions"].([]any) {
			for _, name := range set.([]any) {
				if _, ok := m[name.(string)].(string); !ok {
					t.Errorf("line %d: dimension %v has no value", i, name)
				}
			}
		}
	}
}

func TestPayloadsAreReadStrictly(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "null x", `{"envelope":{}}x`, `{"Envelope":{}}`, `{"envelope":{},"envelope":{}}`, `{"zz9":1}`, "[]", "{\"envelope\":{\"run\":\"\xff\"}}"} {
		_, err := Decode[Envelope]([]byte(bad))
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || fault.Code != pipeline.PhaseMisbehave || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%.20q: got %v", bad, err)
		}
	}
	if e, err := Decode[Envelope]([]byte(`{"envelope":{}}`)); err != nil {
		t.Errorf("got %v", err)
	} else if _, err := e.Checked(); err == nil {
		t.Error("an empty envelope was taken")
	}
}

func TestRecipesAreNamedOnce(t *testing.T) {
	t.Parallel()
	if _, err := Recipes(nil); err == nil {
		t.Error("none was taken")
	}
	one := pipeline.Build(pipeline.Spec[struct{}]{Name: "one"})
	if _, err := Recipes([]*pipeline.Recipe{one, one}); err == nil {
		t.Error("two of one name were taken")
	}
	if m, err := Recipes([]*pipeline.Recipe{one}); err != nil || m["one"] != one {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestACountIsOnceOrAsOftenAsItSays(t *testing.T) {
	t.Parallel()
	f, out := serve(func(context.Context, []byte) (Reply, error) {
		return Reply{Answer: Good, Counts: []Count{{Name: "Once", Dimension: "d", Value: "v"}, {Name: "Thrice", Dimension: "d", Value: "v", Times: 3}}}, nil
	})
	if _, err := f.Invoke(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Once":1`, `"Thrice":3`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %s", out, want)
		}
	}
}
