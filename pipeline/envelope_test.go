package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func sampleEnvelope() Envelope {
	return NewEnvelope("issues", strings.Repeat("ab", 32), "github", []byte(`{"action":"opened"}`),
		Actor{"github:583231", Person}, "github:octo-org/sample", Target{"issues.opened", "octo-org/sample", 12}, noon.Add(1234567*time.Nanosecond))
}

func TestNewEnvelopeIsWithinBoundsAndRoundTrips(t *testing.T) {
	t.Parallel()
	e := sampleEnvelope()
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeEnvelope(b)
	if err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("%+v, %v: want %+v", back, err, e)
	}
	if e.Received.Nanosecond() != 1_000_000 {
		t.Errorf("received %s: want milliseconds", e.Received)
	}
	local := NewEnvelope("issues", e.RecipeDigest, "github", nil, e.Actor, e.Channel, e.Target, noon.In(time.FixedZone("", 3600)))
	if local.Received.Location() != time.UTC || !local.Received.Equal(noon) {
		t.Errorf("received %s: want %s", local.Received, noon)
	}
}

// faults breaks one field each; the key begins with the field's name in the
// error. The word SECRET must not come back.
var faults = map[string]func(*Envelope){
	"schema":                    func(e *Envelope) { e.Schema = "SECRET" },
	"schema of another version": func(e *Envelope) { e.Schema = "envelope.v2" },
	"run":                       func(e *Envelope) { e.Run = "SECRET" },
	"run of another body":       func(e *Envelope) { e.Run = strings.Repeat("0", 32) },
	"run missing":               func(e *Envelope) { e.Run = "" },
	"recipe":                    func(e *Envelope) { e.Recipe = "SECRET" },
	"recipe too long":           func(e *Envelope) { e.Recipe = strings.Repeat("a", 33) },
	"recipe_digest":             func(e *Envelope) { e.RecipeDigest = strings.ToUpper(e.RecipeDigest) },
	"recipe_digest missing":     func(e *Envelope) { e.RecipeDigest = "" },
	"source":                    func(e *Envelope) { e.Source = "git hub SECRET" },
	"body_sha256":               func(e *Envelope) { e.BodySHA256 = e.BodySHA256[1:] + "g" },
	"body_sha256 too long":      func(e *Envelope) { e.BodySHA256 += "00" },
	"item":                      func(e *Envelope) { e.Item = "SECRET" },
	"item in capitals":          func(e *Envelope) { e.Item = strings.ToUpper(e.BodySHA256) },
	"run without its item":      func(e *Envelope) { e.Item = e.BodySHA256 },
	"actor.id":                  func(e *Envelope) { e.Actor.ID = "Mallory SECRET" },
	"actor.id without source":   func(e *Envelope) { e.Actor.ID = "583231" },
	"actor.id too long":         func(e *Envelope) { e.Actor.ID = "github:" + strings.Repeat("1", 65) },
	"actor.kind":                func(e *Envelope) { e.Actor.Kind = "SECRET" },
	"actor.kind missing":        func(e *Envelope) { e.Actor.Kind = "" },
	"actor.kind in capitals":    func(e *Envelope) { e.Actor.Kind = "Person" },
	"channel":                   func(e *Envelope) { e.Channel = "github:octo org/SECRET" },
	"channel too long":          func(e *Envelope) { e.Channel = "github:" + strings.Repeat("x", 161) },
	"target.event":              func(e *Envelope) { e.Target.Event = "SECRET" },
	"target.event of three":     func(e *Envelope) { e.Target.Event = "a.b.c" },
	"target.repository":         func(e *Envelope) { e.Target.Repository = "octo-org/a/SECRET" },
	"target.number below":       func(e *Envelope) { e.Target.Number = -1 },
	"target.number above":       func(e *Envelope) { e.Target.Number = 1 << 31 },
	"received":                  func(e *Envelope) { e.Received = time.Time{} },
}

// Each field has its bounds; the error names the field and repeats no value.
func TestEachFieldOutOfBoundsIsNamedAndNotRepeated(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for name, fault := range faults {
		e := sampleEnvelope()
		fault(&e)
		if reflect.DeepEqual(e, sampleEnvelope()) {
			t.Errorf("%s: nothing was changed", name)
		}
		field, _, _ := strings.Cut(name, " ")
		named[field] = true
		err := e.Check()
		if err == nil || !strings.HasPrefix(err.Error(), "envelope: "+field+": want ") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: error %v: want one that names %s", name, err, field)
		}
		if b, err := e.Encode(); err == nil || b != nil {
			t.Errorf("%s: written as %s", name, b)
		}
	}
	for _, f := range fieldNames(reflect.TypeFor[Envelope](), "") {
		if !named[f] {
			t.Errorf("field %s has no bound in this test", f)
		}
	}
}

// fieldNames lists the leaves of a struct as errors name them.
func fieldNames(typ reflect.Type, prefix string) (names []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() {
			names = append(names, fieldNames(f.Type, prefix+name+".")...)
			continue
		}
		names = append(names, prefix+name)
	}
	return names
}

// The largest envelope is far below the limit of what is read.
func TestTheLargestEnvelopeIsRead(t *testing.T) {
	t.Parallel()
	e := NewEnvelope(strings.Repeat("r", 32), strings.Repeat("f", 64), strings.Repeat("s", 32), nil,
		Actor{strings.Repeat("a", 16) + ":" + strings.Repeat("+", 64), Person}, strings.Repeat("c", 16)+":"+strings.Repeat("/", 160),
		Target{strings.Repeat("e", 32) + "." + strings.Repeat("_", 31), strings.Repeat("o", 39) + "/" + strings.Repeat("n", 100), 1<<31 - 1}, noon)
	b, err := e.Encode()
	if err != nil || len(b) > MaxEnvelopeBytes {
		t.Fatalf("%d bytes, %v: want at most %d", len(b), err, MaxEnvelopeBytes)
	}
	full := append(b, bytes.Repeat([]byte(" "), MaxEnvelopeBytes-len(b))...)
	if _, err := DecodeEnvelope(full); err != nil {
		t.Errorf("%d bytes: %v", len(full), err)
	}
	if _, err := DecodeEnvelope(append(full, ' ')); err == nil {
		t.Errorf("%d bytes pass", len(full)+1)
	}
}

func TestDecodeEnvelopeIsStrict(t *testing.T) {
	t.Parallel()
	b, err := sampleEnvelope().Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	for name, c := range map[string]struct{ from, to string }{
		"unknown key":        {`"recipe":`, `"note":"SECRET","recipe":`},
		"duplicate key":      {`"recipe":"issues"`, `"recipe":"issues","recipe":"issues"`},
		"key in capitals":    {`"recipe":`, `"Recipe":`},
		"nested unknown key": {`"kind":"person"`, `"kind":"person","name":"SECRET"`},
		"nested duplicate":   {`"kind":"person"`, `"kind":"person","kind":"person"`},
		"missing key":        {`"recipe":"issues",`, ``},
		"null":               {`"number":12`, `"number":null`},
		"null with space":    {`"repository":"octo-org/sample"`, "\"repository\" : \nnull "},
		"null object":        {`{"id":"github:583231","kind":"person"}`, `null`},
		"trailing data":      {`"}`, `"}{}`},
		"fraction":           {`"number":12`, `"number":12.5`},
		"exponent":           {`"number":12`, `"number":1e1`},
		"number as text":     {`"number":12`, `"number":"12"`},
		"bad UTF-8":          {`"issues"`, "\"iss\xffues\""},
		"lone surrogate":     {`"issues"`, `"iss\ud800ues"`},
		"time without zone":  {`.001Z"`, `.001"`},
		"no time":            {good[strings.Index(good, `"received"`):], `"received":"SECRET"}`},
		"another run":        {`"issues"`, `"issue"`},
	} {
		edited := strings.Replace(good, c.from, c.to, 1)
		if name == "trailing data" {
			edited = good + "{}"
		}
		if edited == good {
			t.Errorf("%s: nothing was changed", name)
			continue
		}
		if _, err := DecodeEnvelope([]byte(edited)); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v: want a refusal without the value, of %s", name, err, edited)
		}
	}
	for _, s := range []string{"", "null", "[]", "{}", "0", `""`, good[:len(good)-1]} {
		if _, err := DecodeEnvelope([]byte(s)); err == nil {
			t.Errorf("%q is read", s)
		}
	}
}

const pinnedRun = "fcacd91edf191fb9332dc449c93b870e"

func TestRunIDIsPinned(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("body"))
	if got := RunID("issues", "github", sum); got != pinnedRun {
		t.Errorf("run id %s: want %s; a new form makes every recorded run another", got, pinnedRun)
	}
	// Written out a second time: a line, then each field behind its length.
	var pre bytes.Buffer
	pre.WriteString("decant run id v1\n\x00\x00\x00\x00\x00\x00\x00\x06issues\x00\x00\x00\x00\x00\x00\x00\x06github\x00\x00\x00\x00\x00\x00\x00\x20")
	pre.Write(sum[:])
	whole := sha256.Sum256(pre.Bytes())
	if want := hex.EncodeToString(whole[:16]); want != pinnedRun {
		t.Errorf("the written out form gives %s: want %s", want, pinnedRun)
	}
}

// The id is that of the recipe's name, the source and the bytes: each enters
// it, and what ends one field cannot begin the next.
func TestRunIDIsInjectiveOnItsFields(t *testing.T) {
	t.Parallel()
	type key struct {
		recipe, source string
		body           [32]byte
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\x01\n")), 0, 4, -1)
		draw := func(name string) key {
			k := key{recipe: text.Draw(t, name+" recipe"), source: text.Draw(t, name+" source")}
			k.body[rapid.IntRange(0, 31).Draw(t, name+" at")] = rapid.Byte().Draw(t, name+" byte")
			return k
		}
		a := draw("a")
		b := rapid.OneOf(rapid.Just(a), rapid.Custom(func(*rapid.T) key { return draw("b") }), rapid.Just(key{a.source, a.recipe, a.body}),
			rapid.Just(key{a.recipe + a.source, "", a.body})).Draw(t, "b")
		ia, ib := RunID(a.recipe, a.source, a.body), RunID(b.recipe, b.source, b.body)
		if (a == b) != (ia == ib) {
			t.Fatalf("%+v is %s and %+v is %s", a, ia, b, ib)
		}
		if !IsRunID(ia) {
			t.Fatalf("%q is no run id", ia)
		}
	})
}

// Nothing else enters the id: a repeated delivery is the same run.
func TestARepeatedDeliveryIsTheSameRun(t *testing.T) {
	t.Parallel()
	a := sampleEnvelope()
	b := NewEnvelope("issues", strings.Repeat("cd", 32), "github", []byte(`{"action":"opened"}`), Actor{"github:1", App}, "github:a/b", Target{Event: "push"}, noon.AddDate(1, 0, 0))
	if a.Run != b.Run {
		t.Errorf("runs %s and %s of the same bytes", a.Run, b.Run)
	}
	if c := NewEnvelope("issues", a.RecipeDigest, "github", []byte(`{"action":"opened"} `), a.Actor, a.Channel, a.Target, noon); c.Run == a.Run {
		t.Error("other bytes are the same run")
	}
}

func TestTargetKey(t *testing.T) {
	t.Parallel()
	for want, target := range map[string]Target{
		"octo-org/sample#12": {"issues.opened", "octo-org/sample", 12},
		"octo-org/sample":    {"push", "octo-org/sample", 0},
		"":                   {"tick", "", 0},
	} {
		if got := target.String(); got != want {
			t.Errorf("%+v is %q: want %q", target, got, want)
		}
	}
}

// Whatever is read is within its bounds, is written again and stays the same.
func FuzzDecodeEnvelope(f *testing.F) {
	b, err := sampleEnvelope().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(bytes.Replace(b, []byte(`.001Z`), []byte(`.123456789+23:59`), 1))
	f.Add(bytes.Replace(b, []byte(`"number":12`), []byte(`"number":-0`), 1))
	if item, err := sampleEnvelope().OfItem([]byte("i")).Encode(); err == nil {
		f.Add(item)
	}
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEnvelope(b)
		if err != nil {
			return
		}
		if err := e.Check(); err != nil {
			t.Fatalf("read and out of bounds: %v", err)
		}
		encoded, err := e.Encode()
		if err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		back, err := DecodeEnvelope(encoded)
		if err != nil || !back.Received.Equal(e.Received) {
			t.Fatalf("%s is not read again: %v", encoded, err)
		}
		back.Received = e.Received
		if back != e {
			t.Fatalf("%+v became %+v", e, back)
		}
	})
}
