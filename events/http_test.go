package events

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"decant.dev/pipeline"
	"github.com/aws/aws-lambda-go/events"
)

func TestParseHTTPReadsWhatAWSSends(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{}", `{"a":"\u003c♥",  "b":1}`, "line\r\nline\x00\u2028 \"quoted\" \\ 😕"} {
		for _, encoded := range []bool{false, true} {
			wire := body
			if encoded {
				wire = base64.StdEncoding.EncodeToString([]byte(body))
			}
			headers := map[string]string{"X-GitHub-Event": "issues", "content-type": "application/json"}
			for _, event := range []any{
				events.APIGatewayV2HTTPRequest{Version: "2.0", RouteKey: "POST /", Headers: headers, Body: wire, IsBase64Encoded: encoded,
					QueryStringParameters: map[string]string{"a": "1"}, Cookies: []string{"c=1"}},
				events.LambdaFunctionURLRequest{Version: "2.0", Headers: headers, Body: wire, IsBase64Encoded: encoded},
			} {
				b, err := json.Marshal(event)
				if err != nil {
					t.Fatal(err)
				}
				h, err := ParseHTTP(b)
				if err != nil {
					t.Fatalf("%T: %v", event, err)
				}
				if string(h.Body) != body {
					t.Errorf("%T: got %q, want %q", event, h.Body, body)
				}
				for _, name := range []string{"x-github-event", "X-GITHUB-EVENT", "X-GitHub-Event"} {
					if got := h.Values(name); len(got) != 1 || got[0] != "issues" {
						t.Errorf("%T: %s: got %q", event, name, got)
					}
				}
				if clear(b); string(h.Body) != body {
					t.Errorf("%T: the body shares memory with the event", event)
				}
			}
		}
	}
}

func TestParseHTTPBase64IsDecodedOnceAndStrictly(t *testing.T) { // CUDly#1483
	t.Parallel()
	for wire, body := range map[string]string{
		"dG9rZW49YQ==":     "token=a",
		"ZEc5clpXNDlZUT09": "dG9rZW49YQ==", // once, not until it no longer decodes
		"":                 "",
		"/+8=":             "\xff\xef",
	} {
		h, err := ParseHTTP(fmt.Appendf(nil, `{"body":%q,"isBase64Encoded":true}`, wire))
		if err != nil || string(h.Body) != body {
			t.Errorf("%q: got %q, %v", wire, h.Body, err)
		}
	}
	for name, wire := range map[string]string{
		"no padding": "dG9rZW49YQ", "half padding": "dG9rZW49YQ=", "URL alphabet": "_-8=", "trailing bits": "dG9rZW49YR==",
		"line break": `dG9r\nZW49YQ==`, "carriage return": `dG9rZW49YQ==\r`, "space": "dG9r ZW49YQ==", "two values": "YQ==YQ==", "plain": "{}",
	} {
		_, err := ParseHTTP(fmt.Appendf(nil, `{"body":"%s","isBase64Encoded":true}`, wire))
		t.Log(name)
		want(t, err, pipeline.MalformedEvent, wire)
	}
}

func TestParseHTTPRefusesWhatTwoReadersWouldReadDifferently(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	for name, event := range map[string]string{
		"empty":                   ``,
		"white space":             ` `,
		"null":                    `null`,
		"list":                    `[{}]`,
		"string":                  `"{}"`,
		"cut":                     `{"body":"zebra"`,
		"trailing bytes":          `{"body":"zebra"} zebra`,
		"second document":         `{"body":"zebra"}{}`,
		"byte order mark":         "\ufeff{}",
		"comment":                 `{} // zebra`,
		"two bodies":              `{"body":"zebra","body":"zebra"}`,
		"two bodies, escaped":     `{"body":"zebra","b\u006fdy":"zebra"}`,
		"duplicate elsewhere":     `{"requestContext":{"zebra":1,"zebra":1}}`,
		"header twice":            `{"headers":{"zebra":"1","zebra":"1"}}`,
		"header in two spellings": `{"headers":{"x-zebra":"1","X-Zebra":"1"}}`,
		"header not a string":     `{"headers":{"zebra":["1"]}}`,
		"header null":             `{"headers":{"zebra":null}}`,
		"headers a list":          `{"headers":["zebra"]}`,
		"headers null":            `{"headers":null}`,
		"body a number":           `{"body":1}`,
		"body an object":          `{"body":{"zebra":1}}`,
		"flag a string":           `{"body":"","isBase64Encoded":"true"}`,
		"flag null":               `{"body":"","isBase64Encoded":null}`,
		"payload format 1.0":      `{"version":"1.0","body":"zebra"}`,
		"version a number":        `{"version":2.0}`,
		"bad UTF-8":               "{\"body\":\"zebra\xff\"}",
		"bad UTF-8 elsewhere":     "{\"rawPath\":\"zebra\xc3\x28\"}",
		"lone surrogate":          `{"body":"zebra\ud83d"}`,
		"surrogates reversed":     `{"body":"\ude00\ud83dzebra"}`,
		"raw control character":   "{\"body\":\"zebra\n\"}",
		"too deep":                `{"zebra":` + deep + `}`,
		"number overflow":         `{"body":1e}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseHTTP([]byte(event))
			want(t, err, pipeline.MalformedEvent, "zebra")
		})
	}
	if _, err := ParseHTTP([]byte(`{"a":` + deep[1:len(deep)-1] + `,"body":null,"x":null}`)); err != nil {
		t.Errorf("at the limit of depth: %v", err)
	}
}

func TestHeaderNamesFoldInASCIIOnly(t *testing.T) {
	t.Parallel()
	h, err := ParseHTTP([]byte(`{"headers":{"x-\u212aelvin":"sign","X-Kelvin":"letter"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Values("x-kelvin"); len(got) != 1 || got[0] != "letter" {
		t.Errorf("got %q", got)
	}
}

func TestHeadersAreCounted(t *testing.T) {
	t.Parallel()
	event := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"h%d":""`, i)
		}
		return fmt.Appendf(nil, `{"headers":{%s}}`, strings.TrimPrefix(b.String(), ","))
	}
	_, err := ParseHTTP(event(MaxHeaders))
	want(t, err, pipeline.OK)
	_, err = ParseHTTP(event(MaxHeaders + 1))
	want(t, err, pipeline.MalformedEvent)
}

func TestSizesAreRefusedAtTheByte(t *testing.T) { // ffuf#897
	t.Parallel()
	plain := func(n int) []byte { return []byte(`{"body":"` + strings.Repeat("a", n) + `"}`) }
	encoded := func(n int) []byte {
		return fmt.Appendf(nil, `{"body":"%s","isBase64Encoded":true}`, base64.StdEncoding.EncodeToString(make([]byte, n)))
	}
	for name, event := range map[string]func(int) []byte{"plain": plain, "base64": encoded} {
		h, err := ParseHTTP(event(MaxBodyBytes))
		if want(t, err, pipeline.OK); len(h.Body) != MaxBodyBytes {
			t.Errorf("%s: got %d bytes", name, len(h.Body))
		}
		_, err = ParseHTTP(event(MaxBodyBytes + 1))
		want(t, err, pipeline.BodyTooLarge)
	}
	_, err := NewHTTP(nil, make([]byte, MaxBodyBytes+1))
	want(t, err, pipeline.BodyTooLarge)
	b, err := ReadBody(bytes.NewReader(make([]byte, MaxBodyBytes)))
	if want(t, err, pipeline.OK); len(b) != MaxBodyBytes {
		t.Errorf("got %d bytes", len(b))
	}
	_, err = ReadBody(bytes.NewReader(make([]byte, MaxBodyBytes+1)))
	want(t, err, pipeline.BodyTooLarge)
	event := append([]byte(`{"body":"a"}`), bytes.Repeat([]byte(" "), MaxEventBytes)...)
	_, err = ReadEvent(bytes.NewReader(event[:MaxEventBytes]))
	want(t, err, pipeline.OK)
	_, err = ReadEvent(bytes.NewReader(event[:MaxEventBytes+1]))
	want(t, err, pipeline.BodyTooLarge)
	_, err = ParseHTTP(event[:MaxEventBytes+1])
	want(t, err, pipeline.BodyTooLarge)
}

// counter counts what is read of an endless stream.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	c.n += len(p)
	return len(p), nil
}

func TestReadersStopOneByteBeyondTheLimit(t *testing.T) { // not parallel: it counts allocations
	for _, size := range []int64{30 << 20, 3 << 30} {
		var c counter
		var err error
		bytes := allocated(func() { _, err = ReadEvent(io.LimitReader(&c, size)) })
		want(t, err, pipeline.BodyTooLarge)
		if c.n > MaxEventBytes+1 {
			t.Errorf("read %d bytes, want at most %d", c.n, MaxEventBytes+1)
		}
		if bytes > 3*MaxEventBytes {
			t.Errorf("allocated %d bytes for %d, want at most %d", bytes, size, 3*MaxEventBytes)
		}
	}
}

func TestReadersReportAReaderThatFails(t *testing.T) {
	t.Parallel()
	broken := iotest.ErrReader(errors.New("zebra"))
	_, err := ReadEvent(broken)
	want(t, err, pipeline.MalformedEvent, "zebra")
	_, err = ReadBody(broken)
	want(t, err, pipeline.MalformedBody, "zebra")
	h, err := ReadEvent(iotest.OneByteReader(strings.NewReader(`{"body":"a"}`)))
	if want(t, err, pipeline.OK); string(h.Body) != "a" {
		t.Errorf("got %q", h.Body)
	}
}

func TestNewHTTPKeepsEveryValueAndOneSpelling(t *testing.T) {
	t.Parallel()
	h, err := NewHTTP(http.Header{"X-A": {"1", "2"}}, []byte("zebra"))
	if err != nil || len(h.Values("x-a")) != 2 {
		t.Errorf("got %q, %v", h.Values("x-a"), err)
	}
	_, err = NewHTTP(http.Header{"X-A": {"1"}, "x-a": {"1"}}, nil)
	want(t, err, pipeline.MalformedEvent)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, h); !strings.HasPrefix(got, "http event: 1 headers, body of 5 bytes, sha256 ") {
			t.Errorf("%s: got %q", verb, got)
		}
	}
}

func FuzzParseHTTP(f *testing.F) {
	for _, seed := range []string{
		`{"version":"2.0","headers":{"X-A":"1"},"body":"YQ==","isBase64Encoded":true}`,
		`{"headers":{"a":"1","A":"2"},"body":null}`, `{"body":"\ud83d\ude00"}`, `{"body":"\\\""}`, "{\"body\":\"\xff\"}", `[[[[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		given := bytes.Clone(b)
		h, err := ParseHTTP(b)
		if !bytes.Equal(given, b) {
			t.Fatal("the event was written to")
		}
		switch code(t, err) {
		case pipeline.OK:
		case pipeline.MalformedEvent, pipeline.BodyTooLarge:
			if h.Body != nil || h.header != nil {
				t.Fatal("want nothing beside an error")
			}
			return
		default:
			t.Fatalf("unexpected code: %v", err)
		}
		// What is accepted, the standard library reads in the same way.
		var std events.APIGatewayV2HTTPRequest
		if json.Unmarshal(b, &std) != nil {
			return // it wants the types of fields that we skip
		}
		var exact map[string]json.RawMessage
		if err := json.Unmarshal(b, &exact); err != nil {
			t.Fatalf("accepted what is not JSON: %v", err)
		}
		for name := range exact {
			for _, own := range []string{"version", "headers", "body", "isBase64Encoded"} {
				if name != own && strings.EqualFold(name, own) {
					return // it ignores case
				}
			}
		}
		body := []byte(std.Body)
		if std.IsBase64Encoded {
			if body, err = base64.StdEncoding.DecodeString(std.Body); err != nil {
				t.Fatal("accepted bad base64")
			}
		}
		if !bytes.Equal(body, h.Body) {
			t.Fatalf("got %q, want %q", h.Body, body)
		}
		for name, value := range std.Headers {
			if got := h.Values(name); len(got) != 1 || got[0] != value {
				t.Fatalf("header: got %q, want %q", got, value)
			}
		}
	})
}
