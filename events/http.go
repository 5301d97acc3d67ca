package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"

	"decant.dev/pipeline"
	"github.com/go-json-experiment/json/jsontext"
)

// HTTP is one HTTP request as the ingress received it. Its body holds the
// bytes that were sent, which is what a signature covers. It prints as sizes
// and a digest.
type HTTP struct {
	header map[string][]string // by lower-case name
	path   string              // as sent, at most maxPath bytes; nothing proves it
	Body   []byte              // at most MaxBodyBytes, of any content
}

// Values returns the values of a header, whose name may be given in any case.
func (h HTTP) Values(name string) []string { return h.header[lower([]byte(name))] }

// Path returns the path that the request was sent to, empty where the event
// does not say it in at most 128 bytes. No signature covers it: it may choose
// what verifies a request, and nothing else.
func (h HTTP) Path() string { return h.path }

// maxPath bounds the paths that are looked at.
const maxPath = 128

// Format prints the number of headers and the body's size and digest.
func (h HTTP) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "http event: %d headers, %s", len(h.header), digest(h.Body))
}

// digest describes foreign bytes without showing them.
func digest(b []byte) string {
	return fmt.Sprintf("body of %d bytes, sha256 %x", len(b), sha256.Sum256(b))
}

// NewHTTP makes an HTTP of a request that a server of our own received. Two
// spellings of one header are [pipeline.MalformedEvent], a body over
// MaxBodyBytes is [pipeline.BodyTooLarge].
func NewHTTP(header http.Header, body []byte) (HTTP, error) {
	if len(body) > MaxBodyBytes {
		return HTTP{}, bodyTooLarge()
	}
	h := HTTP{header: make(map[string][]string, len(header)), Body: body}
	for name, values := range header {
		if err := h.add([]byte(name), values...); err != nil {
			return HTTP{}, pipeline.MalformedEvent.Error("%v", err)
		}
	}
	return h, nil
}

// ReadEvent reads one HTTP event, as ParseHTTP, from r to its end. It holds
// at most MaxEventBytes and one byte more.
func ReadEvent(r io.Reader) (HTTP, error) {
	b, err := readAtMost(r, MaxEventBytes, pipeline.MalformedEvent)
	if err != nil {
		return HTTP{}, err
	}
	return ParseHTTP(b)
}

// ReadBody reads a bare body from r to its end. It holds at most MaxBodyBytes
// and one byte more.
func ReadBody(r io.Reader) ([]byte, error) {
	return readAtMost(r, MaxBodyBytes, pipeline.MalformedBody)
}

// readAtMost reads r to its end, or refuses at the first byte beyond limit.
// The limit counts what arrives, not what a length field promised; broken is
// the code of a reader that fails.
func readAtMost(r io.Reader, limit int, broken pipeline.Code) ([]byte, error) {
	b := make([]byte, 0, 64<<10)
	for {
		n, err := r.Read(b[len(b):min(cap(b), limit+1)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limit:
			return nil, pipeline.BodyTooLarge.Error("want at most %d bytes, got more", limit)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, broken.Error("want to read to the end, got an error after %d bytes", len(b))
		}
		if len(b) == cap(b) {
			grown := make([]byte, len(b), min(2*cap(b), limit+1))
			copy(grown, b)
			b = grown
		}
	}
}

// ParseHTTP reads one HTTP event in the JSON of API Gateway's payload format
// 2.0, which function URLs share: header names in any case but each once, and
// the body plain or in base64, decoded once. Other fields of the format are
// not looked at. An event or a body over its limit is
// [pipeline.BodyTooLarge], everything else that is not of the format
// [pipeline.MalformedEvent]: a body that is not strict base64 although the
// event says so, bad UTF-8, lone surrogates, duplicate keys, trailing bytes.
//
// Format: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
func ParseHTTP(b []byte) (HTTP, error) {
	if len(b) > MaxEventBytes {
		return HTTP{}, pipeline.BodyTooLarge.Error("event of %d bytes: want at most %d", len(b), MaxEventBytes)
	}
	p := httpParser{HTTP: HTTP{header: make(map[string][]string)}}
	err := readObject(b, p.member)
	if err == nil {
		err = p.misfit
	}
	if err != nil {
		return HTTP{}, pipeline.MalformedEvent.Error("event of %d bytes: %v", len(b), err)
	}
	if p.base64 {
		if p.Body, err = decodeBase64(p.Body); err != nil {
			return HTTP{}, pipeline.MalformedEvent.Error("event of %d bytes: %v", len(b), err)
		}
	}
	if len(p.Body) > MaxBodyBytes {
		return HTTP{}, bodyTooLarge()
	}
	return p.HTTP, nil
}

func bodyTooLarge() error {
	return pipeline.BodyTooLarge.Error("want a body of at most %d bytes, got more", MaxBodyBytes)
}

// httpParser gathers the members of an event. A misfit is kept until the
// event was read to its end, so that an event that is not JSON is called so.
type httpParser struct {
	HTTP
	base64 bool
	misfit error
}

func (p *httpParser) member(d *jsontext.Decoder, name []byte) error {
	switch string(name) {
	case "version":
		version, ok, err := readString(d, 8)
		if !ok || string(version) != "2.0" {
			p.misfit = fmt.Errorf(`version: want "2.0"`)
		}
		return err
	case "rawPath":
		path, ok, err := readString(d, maxPath)
		if ok {
			p.path = string(path)
		}
		return err
	case "headers":
		if d.PeekKind() != '{' {
			p.misfit = fmt.Errorf("headers: want an object")
		}
		return eachMember(d, p.headerMember)
	case "body":
		kind := d.PeekKind()
		if kind != '"' {
			if kind != 'n' {
				p.misfit = fmt.Errorf("body: want a string")
			}
			return d.SkipValue()
		}
		raw, err := d.ReadValue()
		if err == nil {
			p.Body, err = jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw)
		}
		return err
	case "isBase64Encoded":
		switch d.PeekKind() {
		case 't':
			p.base64 = true
		case 'f':
		default:
			p.misfit = fmt.Errorf("isBase64Encoded: want true or false")
		}
		return d.SkipValue()
	default:
		return d.SkipValue()
	}
}

func (p *httpParser) headerMember(d *jsontext.Decoder, name []byte) error {
	key := lower(name)
	value, ok, err := readString(d, MaxEventBytes)
	switch {
	case err != nil:
		return err
	case !ok:
		p.misfit = fmt.Errorf("headers: want each value a string")
	case p.misfit == nil:
		p.misfit = p.add([]byte(key), string(value))
	}
	return nil
}

func (h *HTTP) add(name []byte, values ...string) error {
	key := lower(name)
	if _, twice := h.header[key]; twice {
		return fmt.Errorf("headers: want one spelling of each name, got two")
	}
	if len(h.header) == MaxHeaders {
		return fmt.Errorf("headers: want at most %d, got more", MaxHeaders)
	}
	h.header[key] = values
	return nil
}

// lower maps A to Z only: RFC 9110 names are ASCII, and Unicode's mapping
// would make the Kelvin sign a k.
func lower(name []byte) string {
	b := bytes.Clone(name)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// decodeBase64 decodes in place: RFC 4648 section 4, padded, with zero
// trailing bits and without the line breaks that Go's decoder skips.
func decodeBase64(b []byte) ([]byte, error) {
	if bytes.ContainsAny(b, "\r\n") {
		return nil, fmt.Errorf("body: want base64 without line breaks")
	}
	n, err := base64.StdEncoding.Strict().Decode(b, b)
	if err != nil {
		return nil, fmt.Errorf("body: want strict base64, since isBase64Encoded is true")
	}
	return b[:n], nil
}
