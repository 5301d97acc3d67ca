package pointer

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestFind(t *testing.T) {
	t.Parallel()
	const doc = ` {"a":{"b/c":[10,{"d~e":"x"}],"":null},"b":"y","0":true}`
	for p, want := range map[jsontext.Pointer]string{
		"": doc[1:], "/b": `"y"`, "/a/b~1c/0": "10", "/a/b~1c/1/d~0e": `"x"`, "/a/": "null", "/0": "true",
		"/c": "", "/a/b~1c/2": "", "/a/b~1c/-1": "", "/a/b~1c/01": "", "/a/b~1c/+1": "", "/a/b~1c/-": "", "/b/0": "", "/a/b": "", "/B": "", "/a/b~1c/99999999999999999999": "",
	} {
		got, ok := Find([]byte(doc), p)
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t, want %q", p, got, ok, want)
		}
	}
	for _, broken := range []string{"", "{", `{"b"`, `{"b":`, `{"b":tru`, `{"a":1,}`, `[`, `[1`, `[1,`, "\xff"} {
		for _, p := range []jsontext.Pointer{"/b", "/1", ""} {
			if got, ok := Find([]byte(broken), p); ok {
				t.Errorf("%q in %q: got %q", p, broken, got)
			}
		}
	}
}

// Whatever the document and the pointer, an answer stands in the document.
func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"c"}]}`), "/a/1/b")
	f.Add([]byte(`[[[]]]`), "/0/0/0")
	f.Fuzz(func(t *testing.T, doc []byte, p string) {
		v, ok := Find(doc, jsontext.Pointer(p))
		if ok && (len(v) == 0 || len(v) > len(doc)) {
			t.Errorf("got %d bytes of %d", len(v), len(doc))
		}
	})
}
