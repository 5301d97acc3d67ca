package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/extract"
	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// A line may have its limit in bytes, and not one more, whatever the size of
// the reader's buffer and whatever follows.
func TestLineLimitIsExact(t *testing.T) {
	t.Parallel()
	for _, buffer := range []int{16, 31, 32, 33, 64, 4096} {
		for _, limit := range []int{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 500} {
			for _, size := range []int{0, limit - 1, limit, limit + 1, limit + 2, 2*limit + 40} {
				if size < 0 {
					continue
				}
				line := strings.Repeat("x", size)
				r := bufio.NewReaderSize(strings.NewReader(line+"\nnext\n"), buffer)
				got, err := readLine(r, nil, limit)
				switch {
				case size <= limit && (err != nil || string(got) != line):
					t.Errorf("buffer %d, limit %d, size %d: %d bytes, %v", buffer, limit, size, len(got), err)
				case size > limit && !errors.Is(err, errLongLine):
					t.Errorf("buffer %d, limit %d, size %d: %d bytes, %v, want %v", buffer, limit, size, len(got), err, errLongLine)
				}
				if len(got) > limit+1 {
					t.Errorf("buffer %d, limit %d, size %d: %d bytes are held", buffer, limit, size, len(got))
				}
				if size <= limit && limit >= 4 {
					if next, err := readLine(r, got, limit); err != nil || string(next) != "next" {
						t.Errorf("buffer %d, limit %d, size %d: the next line is %q, %v", buffer, limit, size, next, err)
					}
				}
			}
		}
	}
}

func TestLineWithoutItsEndIsNoLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", io.EOF}, {"abc", io.ErrUnexpectedEOF}, {strings.Repeat("x", 10), io.ErrUnexpectedEOF}, {strings.Repeat("x", 12), errLongLine},
	} {
		if _, err := readLine(bufio.NewReaderSize(strings.NewReader(c.in), 16), nil, 10); !errors.Is(err, c.want) {
			t.Errorf("%d bytes: %v, want %v", len(c.in), err, c.want)
		}
	}
}

func TestRequestLineIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	env := pipeline.NewEnvelope("notes", strings.Repeat("0", 64), "github", []byte("b"), pipeline.Actor{ID: "github:1", Kind: pipeline.Person},
		"github:o/r", pipeline.Target{Event: "issues.opened"}, time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC))
	for _, q := range []request{
		{N: 1, Run: env.Run, Fetch: &fetch.Input{Envelope: env, Body: []byte("a\nb\xff")}},
		{N: 1, Run: env.Run, List: &listInput{env, []byte("here")}},
		{N: 2, Run: env.Run, Extract: &extract.Input{Recipe: "notes", Run: env.Run, Object: []byte(`{"a":"b"}`)}},
		{N: 3, Acts: []question{{Run: env.Run, Admit: &act.AdmitInput{Envelope: env}}, {Run: env.Run, Act: &act.Input{Envelope: env, Structure: []byte(`{}`)}}}},
	} {
		var line, again bytes.Buffer
		if err := writeLine(&line, q); err != nil {
			t.Fatal(err)
		}
		b, err := readLine(bufio.NewReader(bytes.NewReader(line.Bytes())), nil, line.Len()-1)
		if err != nil {
			t.Fatal(err)
		}
		var back request
		if err := unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if err := writeLine(&again, back); err != nil || again.String() != line.String() {
			t.Errorf("got %s, %v, want %s", &again, err, &line)
		}
	}
}

func TestWireIsStrict(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"unknown key":         `{"n":1,"run":"r","more":1}`,
		"unknown inner key":   `{"n":1,"run":"r","acts":[{"run":"r","more":1}]}`,
		"duplicate key":       `{"n":1,"n":1,"run":"r"}`,
		"duplicate inner key": `{"n":1,"acts":[{"run":"r","run":"q"}]}`,
		"another case":        `{"N":1,"run":"r"}`,
		"trailing bytes":      `{"n":1,"run":"r"}{}`,
		"bad utf-8":           "{\"n\":1,\"run\":\"\xff\"}",
		"lone surrogate":      `{"n":1,"run":"\ud800"}`,
		"negative number":     `{"n":-1,"run":"r"}`,
		"no json":             `n`,
		"nothing":             ``,
	} {
		var q request
		if err := unmarshal([]byte(line), &q); err == nil {
			t.Errorf("request: %s is taken", name)
		}
		var r reply
		if err := unmarshal([]byte(line), &r); err == nil {
			t.Errorf("reply: %s is taken", name)
		}
	}
}

// answered puts q to a child that has written these bytes as its answer.
func answered(tb testing.TB, q request, answer []byte) (answers, pipeline.Code, bool) {
	tb.Helper()
	pipe := func() (*os.File, *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _, _ = r.Close(), w.Close() })
		return r, w
	}
	inRead, in := pipe()
	out, outWrite := pipe()
	go func() { _, _ = io.Copy(io.Discard, inRead) }()
	go func() {
		_, _ = outWrite.Write(answer)
		_ = outWrite.Close()
	}()
	c := &proc{in: in, out: out, reader: bufio.NewReader(out), stop: func() {}}
	return c.ask(context.Background(), q, []byte(`{"run":"r"}`), time.Minute, maxAnswer)
}

// questions are one request of each kind, the first put to a new child.
func questions() []request {
	env, in := act.AdmitInput{Envelope: pipeline.Envelope{Run: "a"}}, act.Input{}
	return []request{
		{Run: "r", Fetch: &fetch.Input{}},
		{Run: "r", Extract: &extract.Input{}},
		{Acts: []question{{Run: "a", Admit: &env}}},
		{Acts: []question{{Run: "a", Admit: &env}, {Run: "b", Act: &in}}},
	}
}

func TestAnswerMustBeForTheQuestion(t *testing.T) {
	t.Parallel()
	const fetched, extracted, admitted = 0, 1, 2
	for _, c := range []struct {
		q    int
		line string
		want pipeline.Code
	}{
		{fetched, `{"n":1,"run":"r","answer":{}}`, pipeline.OK},
		{fetched, `{"n":1,"run":"r","code":"phase_panic"}`, pipeline.PhasePanic},
		{fetched, `{"n":1,"run":"r","code":"SECRETWORD"}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"run":"r","code":"approval_needed"}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":2,"run":"r","answer":{}}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":0,"run":"r","answer":{}}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"run":"q","answer":{}}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"answer":{}}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"run":"r","answer":{"structure":{}}}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"run":"r","answer":{},"more":{}}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"run":"r","answer":[{"run":"r"}]}`, pipeline.PhaseMisbehave},
		{fetched, `{"n":1,"run":"r"}`, pipeline.PhaseMisbehave},
		{fetched, `null`, pipeline.PhaseMisbehave},
		{extracted, `{"n":1,"run":"r","answer":{"structure":{}}}`, pipeline.OK},
		{extracted, `{"n":1,"run":"r","answer":{"structure":{},"label":"system"}}`, pipeline.PhaseMisbehave},
		{admitted, `{"n":1,"answer":[{"run":"a","admit":{"label":"system"}}]}`, pipeline.OK},
		{admitted, `{"n":1,"answer":[{"run":"a","code":"phase_panic"}]}`, pipeline.OK}, // of that question alone
		{admitted, `{"n":1,"answer":[{"run":"b","admit":{"label":"system"}}]}`, pipeline.PhaseMisbehave},
		{admitted, `{"n":1,"answer":[{"run":"a","code":"SECRETWORD"}]}`, pipeline.PhaseMisbehave},
		{admitted, `{"n":1,"answer":[{"run":"a","act":{"status":"done","actions":[]}}]}`, pipeline.PhaseMisbehave},
		{admitted, `{"n":1,"answer":[{"run":"a"}]}`, pipeline.PhaseMisbehave},
		{admitted, `{"n":1,"answer":[]}`, pipeline.PhaseMisbehave},
		{admitted, `{"n":1,"answer":[{"run":"a","admit":{"label":"highest"}}]}`, pipeline.PhaseMisbehave},
	} {
		_, code, healthy := answered(t, questions()[c.q], []byte(c.line+"\n"))
		if code != c.want || healthy != (c.want == pipeline.OK) {
			t.Errorf("%s: got %q, healthy %v, want %q", c.line, code, healthy, c.want)
		}
	}
	if _, code, healthy := answered(t, questions()[0], []byte(`{"n":1,"run":"r","answer":{}}`)); code != pipeline.PhaseDied || healthy {
		t.Errorf("a line without its end: got %q, healthy %v", code, healthy)
	}
	if _, code, _ := answered(t, questions()[0], bytes.Repeat([]byte("x"), maxAnswer+2)); code != pipeline.PhaseMisbehave {
		t.Errorf("too long a line: got %q", code)
	}
}

// Whatever a child writes, an answer that counts is for the question's number
// and runs, of its kind, and every code is of the list.
func FuzzReply(f *testing.F) {
	for _, s := range []string{
		`{"n":1,"run":"r","answer":{}}`, `{"n":1,"run":"r","answer":{"structure":{"a":1},"code":"undecodable"}}`, `{"n":1,"run":"r","code":"phase_panic"}`,
		`{"n":1,"answer":[{"run":"a","admit":{}}]}`, `{"n":1,"answer":[{"run":"b","admit":{}}]}`, `{"n":1,"answer":[{"run":"a","admit":{}},{"run":"b","act":{"status":"done","actions":[]}}]}`,
		`{"n":1,"answer":[{"run":"a","admit":{}},{"run":"b","code":"plan_failed"}]}`, `{"n":1,"n":1}`, `null`, "", "\n", "{\"n\":1}\n{\"n\":1}",
	} {
		f.Add([]byte(s + "\n"))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, q := range questions() {
			r, code, healthy := answered(t, q, line)
			if !code.Known() || healthy != (code == pipeline.OK) {
				t.Fatalf("code %q, healthy %v", code, healthy)
			}
			if code != pipeline.OK {
				continue
			}
			if len(r.acts) != len(q.Acts) {
				t.Fatalf("%+v is taken for an answer to %+v", r, q)
			}
			for i, a := range r.acts {
				kinds := fmt.Sprint(a.Admit != nil, a.Act != nil) == fmt.Sprint(q.Acts[i].Admit != nil, q.Acts[i].Act != nil)
				if a.Run != q.Acts[i].Run || !a.Code.Known() || a.Code == pipeline.OK && !kinds {
					t.Fatalf("%+v is taken for an answer to %+v", a, q.Acts[i])
				}
			}
		}
	})
}
