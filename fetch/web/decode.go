package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"decant.dev/pipeline"
)

// decode undoes the content encoding. It reads at most limit and one byte.
func decode(wire *wireReader, encodings []string, limit int64) ([]byte, error) {
	var from io.Reader = wire
	switch strings.ToLower(strings.TrimSpace(strings.Join(encodings, ","))) {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(wire)
		if err != nil {
			return nil, broken(wire)
		}
		from = z
	default:
		return nil, pipeline.SourceMalformed.Error("a content encoding that was not asked for: want gzip or none")
	}
	body, err := io.ReadAll(io.LimitReader(from, limit+1))
	switch {
	case int64(len(body)) > limit:
		return nil, pipeline.SourceTooLarge.Error("more than %d bytes decoded", limit)
	case err != nil:
		return nil, broken(wire)
	}
	return body, nil
}

// broken tells a body that is not what it says from a connection that ended.
func broken(wire *wireReader) error {
	if wire.err != nil && wire.err != io.ErrUnexpectedEOF {
		return pipeline.SourceUnreachable.Error("a connection that ended in a body")
	}
	return pipeline.SourceMalformed.Error("a body that is not of its length or its encoding")
}

// declaration is an XML declaration with an encoding
// (https://www.w3.org/TR/xml/#NT-XMLDecl).
var declaration = regexp.MustCompile(`^<\?xml\s+version\s*=\s*(?:"[^"<>]{1,16}"|'[^'<>]{1,16}')\s+encoding\s*=\s*(?:"([A-Za-z][A-Za-z0-9._-]{0,39})"|'([A-Za-z][A-Za-z0-9._-]{0,39})')`)

// toUTF8 turns a text into UTF-8, and counts the characters that stand for
// bytes that were none. The charset is, in this order, that of a byte order
// mark, of the Content-Type, of the XML declaration or the HTML meta element,
// and that of the type: UTF-8, or windows-1252 where HTML or a plain text is
// not (https://encoding.spec.whatwg.org/#decode, RFC 7303, section 3). JSON is
// UTF-8 whatever is said of it (RFC 8259, section 8.1). Bytes of another type
// stay as they are.
func toUTF8(body []byte, kind, label string) ([]byte, int, error) {
	head := body[:min(len(body), 1024)]
	isXML := strings.HasSuffix(kind, "/xml") || strings.HasSuffix(kind, "+xml") || bytes.HasPrefix(head, []byte("<?xml"))
	isJSON := strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
	isHTML := kind == "text/html"
	mark, rest := cutMark(body)
	if mark == "" && !isXML && !isJSON && !strings.HasPrefix(kind, "text/") && kind != "" {
		return body, 0, nil
	}
	from := encoding.Encoding(nil)
	switch {
	case mark != "":
		from, _ = charset.Lookup(mark)
	case isJSON:
	case label != "":
		if from, _ = charset.Lookup(label); from == nil {
			return nil, 0, pipeline.SourceMalformed.Error("a charset of %d bytes that is not known", len(label))
		}
	case isXML:
		if m := declaration.FindSubmatch(head); m != nil {
			if from, _ = charset.Lookup(string(m[1]) + string(m[2])); from == nil {
				return nil, 0, pipeline.SourceMalformed.Error("an XML declaration of a charset that is not known")
			}
		}
	case isHTML:
		from, _, _ = charset.DetermineEncoding(head, "text/html")
	case !utf8.Valid(body):
		from, _ = charset.Lookup("windows-1252")
	}
	if from == nil || from == encoding.Nop { // as UTF-8 is called there
		from = unicode.UTF8
	}
	before := 0
	if from == unicode.UTF8 {
		before = bytes.Count(rest, []byte("\uFFFD"))
	}
	out := rest
	if from != unicode.UTF8 || !utf8.Valid(rest) {
		var err error
		if out, err = from.NewDecoder().Bytes(rest); err != nil {
			return nil, 0, pipeline.SourceMalformed.Error("a body that is not of its charset")
		}
	}
	if isXML {
		out = redeclared(out)
	}
	return out, max(bytes.Count(out, []byte("\uFFFD"))-before, 0), nil
}

// cutMark takes a byte order mark off, and names its charset.
func cutMark(b []byte) (string, []byte) {
	for _, m := range []struct{ mark, name string }{{"\xef\xbb\xbf", "utf-8"}, {"\xfe\xff", "utf-16be"}, {"\xff\xfe", "utf-16le"}} {
		if rest, ok := bytes.CutPrefix(b, []byte(m.mark)); ok {
			return m.name, rest
		}
	}
	return "", b
}

// redeclared makes an XML declaration say what is true of the text now, so that
// no reader decodes it again.
func redeclared(xml []byte) []byte {
	m := declaration.FindSubmatchIndex(xml[:min(len(xml), 256)])
	if m == nil {
		return xml
	}
	start, end := m[2], m[3]
	if start < 0 {
		start, end = m[4], m[5]
	}
	return append(append(append(make([]byte, 0, len(xml)), xml[:start]...), "UTF-8"...), xml[end:]...)
}
