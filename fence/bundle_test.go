package fence

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func richBundle() Bundle {
	c := richContext()
	b := Bundle{Run: c.Run, Recipe: c.Recipe, Profile: c.Profile, Placement: c.Placement, Instruction: c.Instruction, Scaffold: c.Scaffold,
		Limits: c.Limits, Message: c.Trigger, Created: true, Voice: true, Elements: c.Elements}
	for i := range b.Elements {
		b.Elements[i].Trust = 0
	}
	return b
}

func TestBundleComesBackWithoutTrust(t *testing.T) {
	t.Parallel()
	plain := richBundle()
	plain.Placement, plain.Scaffold, plain.Message, plain.Created, plain.Voice, plain.Elements = 0, "", "", false, false, []Element{}
	for _, b := range []Bundle{richBundle(), plain} {
		doc, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(doc, []byte("trust")) {
			t.Errorf("the bundle holds a mark: %s", doc)
		}
		back, err := DecodeBundle(doc)
		if err != nil || !reflect.DeepEqual(back, b) {
			t.Errorf("got %+v, %v; want %+v", back, err, b)
		}
		for i := range b.Elements { // a mark that it came with changes nothing
			b.Elements[i].Trust = TrustSystem
		}
		if again, err := b.Encode(); err != nil || !bytes.Equal(again, doc) {
			t.Errorf("a mark entered the bundle: %v", err)
		}
	}
}

// What could carry a mark, or could not be built into a context once nobody may be the voice, is refused.
func TestBadBundleIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Bundle){
		"no run":                  func(b *Bundle) { b.Run = "" },
		"no instruction":          func(b *Bundle) { b.Instruction = " \u200b" },
		"another's message":       func(b *Bundle) { b.Message = "e99" },
		"two of one id":           func(b *Bundle) { b.Elements[1].ID = b.Elements[0].ID },
		"transcript of nothing":   func(b *Bundle) { b.Elements[2].Parent = "e99" },
		"text that is not UTF-8":  func(b *Bundle) { b.Elements[0].Text = "zz9\xff" },
		"a name that is not":      func(b *Bundle) { b.Elements[0].Author.Name = "zz9\xff" },
		"limits of nothing":       func(b *Bundle) { b.Limits = Limits{} },
		"an origin that is none":  func(b *Bundle) { b.Elements[0].Origin = 0 },
		"a profile that is none":  func(b *Bundle) { b.Profile = 99 },
		"more elements than fit":  func(b *Bundle) { b.Elements = make([]Element, MaxElements+1) },
		"an author without an id": func(b *Bundle) { b.Elements[0].Author.ID = "" },
	} {
		b := richBundle()
		spoil(&b)
		doc, err := b.Encode()
		if doc != nil || !errors.Is(err, ErrContext) && !errors.Is(err, ErrElement) || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: got %d bytes, %v", name, len(doc), err)
		}
	}
	doc, err := richBundle().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, swap := range [][2]string{
		{`"truncated_bytes":0`, `"truncated_bytes":0,"trust":"trigger"`}, {`"created":true`, `"created":1`}, {`"created":true`, `"created":null`},
		{`"created":true`, `"created":"true"`}, {`"created":true`, `"Created":true`}, {`"voice":true`, `"voice":true,"voice":true`}, {`"voice":true`, `"voice":tru`},
		{`"bundle.v1"`, `"run_context.v1"`}, {`"message":"voice"`, `"message":"zz9"`}, {`"message":"voice",`, ``}, {`"voice":true}`, `"voice":true} `}, {`"voice":true}`, `"voice":true}{}`},
	} {
		bad := strings.Replace(string(doc), swap[0], swap[1], 1)
		if _, err := DecodeBundle([]byte(bad)); bad != string(doc) && (err == nil) != strings.HasSuffix(bad, "} ") || err != nil && strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s for %s: got %v", swap[1], swap[0], err)
		}
	}
	if _, err := DecodeBundle(make([]byte, MaxContextBytes+1)); !errors.Is(err, ErrContext) {
		t.Errorf("a document over the limit: got %v", err)
	}
}

// What DecodeBundle takes is what Encode gives, and never more.
func FuzzDecodeBundle(f *testing.F) {
	doc, err := richBundle().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add([]byte(`{"schema":"bundle.v1"}`))
	f.Add(bytes.Replace(doc, []byte(`"text":`), []byte(`"trust":"system","text":`), 1))
	f.Fuzz(func(t *testing.T, doc []byte) {
		b, err := DecodeBundle(doc)
		if err != nil {
			return
		}
		again, err := b.Encode()
		if err != nil {
			t.Fatalf("decoded, and not encoded: %v", err)
		}
		back, err := DecodeBundle(again)
		if err != nil || !reflect.DeepEqual(back, b) {
			t.Errorf("came back as another bundle: %v", err)
		}
	})
}
