package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// refill draws a value with the same skeleton and other contents.
func refill(s *Shape, v *Value, seed uint64) *Value {
	p := sampler{rng: rng(seed), v: &Value{shape: s, cells: append([]cell(nil), v.cells...)}}
	var walk func(n *node, at int32)
	walk = func(n *node, at int32) {
		c := p.v.cells[at]
		switch n.form {
		case formString:
			p.text(n, at)
		case formList:
			for i, at := int32(0), c.first; i < c.n; i++ {
				walk(n.item, at)
				at = p.v.cells[at].next
			}
		case formObject:
			for i := range n.fields {
				if at := c.first + int32(i); p.v.cells[at].n != absent {
					walk(n.fields[i].value, at)
				}
			}
		}
	}
	walk(s.root, 0)
	return p.v
}

func lift(t fataler, s *Shape, v *Value) (any, Handles) {
	t.Helper()
	dst := reflect.New(s.Type()).Elem()
	h, err := s.LiftInto(v, dst)
	if err != nil {
		t.Fatal(err)
	}
	return dst.Interface(), h
}

func TestLiftedStructuresThatDifferInContentOnlyAreEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		seed := rapid.Uint64().Draw(t, "seed")
		v := s.Sample(rng(seed))
		w := refill(s, v, seed+1)
		x, hx := lift(t, s, v)
		y, hy := lift(t, s, w)
		fx, fy := flatten(reflect.ValueOf(x)), flatten(reflect.ValueOf(y)) // addresses differ, and are no content
		if !reflect.DeepEqual(x, y) || fmt.Sprintf("%#v %+v", fx, fx) != fmt.Sprintf("%#v %+v", fy, fy) {
			t.Errorf("content shows in\n%+v\n%+v", x, y)
		}
		if !reflect.DeepEqual(hx.All(), hy.All()) {
			t.Error("content shows in the handles")
		}
		if _, err := s.DecodeCanonical(w.Encode()); err != nil {
			t.Errorf("the refilled value is none: %v", err)
		}
	})
}

func TestLiftKeepsEverythingThatADocumentSays(t *testing.T) {
	t.Parallel()
	s := must[report](t)
	v, err := s.Decode([]byte(`{"flags":[true,false],"items":[{"id":"CVE-2024-12345","tags":[]},{"fix":false,"id":"CVE-2025-0001","note":"n\"","tags":["other","api"]}],
		"known":true,"level":-2,"order":["docs","docs"],"port":65535,"refs":["#1","#22"],"title":"Ttt","where":{"file":"F","line":7},"state":[1,3],"code":"a b"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, h, err := Lift[report](s, v)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Known || r.Level != -2 || r.Port != 65535 || *r.Where.Line != 7 || (*r.State)[1] != 3 || *r.Items[1].Fix || r.Items[0].Fix != nil || r.Items[0].Note != nil {
		t.Errorf("got %+v", r)
	}
	if r.Flags[0] || !r.Flags[1] || r.Order[1] != "docs" || r.Items[1].Tags[0] != "api" || r.Items[0].Tags == nil || len(r.Items[0].Tags) != 0 {
		t.Errorf("got %+v", r)
	}
	for path, want := range map[string]struct {
		h       Handle
		content string
	}{
		"title": {r.Title.Handle(), "Ttt"}, "refs[1]": {r.Refs[1].Handle(), "#22"}, "items[1].note": {r.Items[1].Note.Handle(), `n"`},
		"items[0].id": {r.Items[0].ID.Handle(), "CVE-2024-12345"}, "where.file": {r.Where.File.Handle(), "F"}, "code": {r.Code.Handle(), "a b"},
	} {
		if got, ok := h.Content(want.h); !ok || got != want.content || want.h.Path() != path {
			t.Errorf("%s: want %q, got %q of %s", path, want.content, got, want.h)
		}
	}
	if h.Len() != 8 || len(h.All()) != 8 {
		t.Errorf("want 8 handles, got %d", h.Len())
	}
}

func TestNoVerbShowsContent(t *testing.T) {
	t.Parallel()
	s := must[triage](t)
	v, err := s.Decode([]byte(`{"areas":[],"kind":"bug","quote":"sesame","severity":0,"version":"v9.9.9"}`))
	if err != nil {
		t.Fatal(err)
	}
	x, h, err := Lift[triage](s, v)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []any{x, &x, *x.Quote, x.Version, x.Quote.Handle(), h, v, *v, Value{}, Text{x.Quote.h}} {
		b, _ := json.Marshal(a)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			got := fmt.Sprintf(verb, a) + string(b)
			if strings.Contains(got, "sesame") || strings.Contains(got, "v9.9.9") || strings.Contains(got, "736573616d65") || strings.Contains(got, "115 101") {
				t.Errorf("%s of %T shows content", verb, a)
			}
		}
	}
	if got := x.Quote.String() + x.Version.String() + fmt.Sprintf("%#v", x.Quote.Handle()) + (Text{x.Quote.h}).String(); got != "quote(quote)token(version)quote(quote)quote(quote)" {
		t.Errorf("got %s", got)
	}
}

func TestHandlesOfAnotherStructureResolveNothing(t *testing.T) {
	t.Parallel()
	s := must[triage](t)
	full, _ := s.Decode([]byte(`{"areas":[],"kind":"bug","quote":"q","severity":0,"version":"v9.9.9"}`))
	part, _ := s.Decode([]byte(`{"areas":[],"kind":"bug","severity":0,"version":"v9.9.9"}`))
	x, _, _ := Lift[triage](s, full)
	_, h, _ := Lift[triage](s, part)
	for _, bad := range []Handle{{}, x.Quote.Handle(), x.Version.Handle(), {ref: -1}, {ref: 99}} {
		if got, ok := h.Content(bad); ok || got != "" {
			t.Errorf("%s resolved", bad)
		}
	}
	if _, ok := (Handles{}).Content(x.Quote.Handle()); ok {
		t.Error("no handles resolve something")
	}
	if z := (Handle{}); !z.IsZero() || z.Kind().String() != "invalid" || z.Path() != "" || x.Quote.Handle().IsZero() {
		t.Error("the zero handle is not invalid")
	}
}

func TestLiftRefusesWhatDoesNotBelong(t *testing.T) {
	t.Parallel()
	s, o := must[triage](t), must[report](t)
	v := s.Sample(rng(1))
	if _, _, err := Lift[report](s, v); !errors.Is(err, ErrOther) {
		t.Errorf("another type: %v", err)
	}
	if _, _, err := Lift[triage](s, o.Sample(rng(1))); !errors.Is(err, ErrOther) {
		t.Errorf("another shape's value: %v", err)
	}
	if _, _, err := Lift[triage](s, nil); !errors.Is(err, ErrOther) {
		t.Errorf("no value: %v", err)
	}
	if _, err := s.LiftInto(v, reflect.ValueOf(triage{})); !errors.Is(err, ErrOther) {
		t.Errorf("a value that cannot be set: %v", err)
	}
	if _, _, err := LiftSkeleton[triage](s, Skeleton{}); !errors.Is(err, ErrOther) {
		t.Errorf("no skeleton: %v", err)
	}
	if v.Shape() != s {
		t.Error("a value forgot its shape")
	}
}

func TestKindsAreTheWordsOfTheDesign(t *testing.T) {
	t.Parallel()
	want := []string{"invalid", "choice", "token", "text", "quote", "list", "object", "invalid"}
	for k, w := range want {
		if got := Kind(k).String(); got != w {
			t.Errorf("want %s, got %s", w, got)
		}
	}
}
