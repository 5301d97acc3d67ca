package fence

import (
	"encoding"
	"strings"
	"testing"
)

func TestEnumerationsAreClosedAndTheirZeroIsInvalid(t *testing.T) {
	t.Parallel()
	type value interface {
		encoding.TextMarshaler
		String() string
	}
	for _, e := range []struct {
		name  string
		names []string
		make  func(uint8) value
		parse func(string) (uint8, error)
		text  func([]byte) (uint8, error)
	}{
		enum("trust", trustNames, ParseTrust, func(t *Trust, b []byte) error { return t.UnmarshalText(b) }, func(t Trust) value { return t }),
		enum("origin", originNames, ParseOrigin, func(t *Origin, b []byte) error { return t.UnmarshalText(b) }, func(t Origin) value { return t }),
		enum("role", roleNames, ParseRole, func(t *Role, b []byte) error { return t.UnmarshalText(b) }, func(t Role) value { return t }),
		enum("kind", kindNames, ParseAuthorKind, func(t *AuthorKind, b []byte) error { return t.UnmarshalText(b) }, func(t AuthorKind) value { return t }),
		enum("profile", profileNames, ParseProfile, func(t *Profile, b []byte) error { return t.UnmarshalText(b) }, func(t Profile) value { return t }),
		enum("placement", placementNames, ParsePlacement, func(t *Placement, b []byte) error { return t.UnmarshalText(b) }, func(t Placement) value { return t }),
	} {
		for i := range 256 {
			v := e.make(uint8(i))
			text, err := v.MarshalText()
			if i == 0 || i >= len(e.names) {
				if err == nil || !strings.HasPrefix(v.String(), "invalid(") {
					t.Errorf("%s %d: want it invalid", e.name, i)
				}
				continue
			}
			if err != nil || string(text) != v.String() || v.String() != e.names[i] {
				t.Errorf("%s %d: want its word, got %q, %v", e.name, i, text, err)
			}
			if back, err := e.parse(v.String()); err != nil || int(back) != i {
				t.Errorf("%s %d: does not parse back", e.name, i)
			}
			if back, err := e.text(text); err != nil || int(back) != i {
				t.Errorf("%s %d: does not unmarshal back", e.name, i)
			}
			if _, err := e.parse(strings.ToUpper(e.names[i])); err == nil {
				t.Errorf("%s %d: want its exact spelling only", e.name, i)
			}
		}
		if _, err := e.parse("zebra"); err == nil || strings.Contains(err.Error(), "zebra") {
			t.Errorf("%s: want an error without the value, got %v", e.name, err)
		}
		if _, err := e.parse(""); err == nil {
			t.Errorf("%s: want no empty word", e.name)
		}
	}
}

func enum[E ~uint8, V any](name string, names []string, parse func(string) (E, error), text func(*E, []byte) error, make func(E) V) struct {
	name  string
	names []string
	make  func(uint8) V
	parse func(string) (uint8, error)
	text  func([]byte) (uint8, error)
} {
	return struct {
		name  string
		names []string
		make  func(uint8) V
		parse func(string) (uint8, error)
		text  func([]byte) (uint8, error)
	}{name, names, func(i uint8) V { return make(E(i)) },
		func(s string) (uint8, error) { e, err := parse(s); return uint8(e), err },
		func(b []byte) (uint8, error) { var e E; err := text(&e, b); return uint8(e), err }}
}

func TestTrustIsOrderedByPower(t *testing.T) {
	t.Parallel()
	order := []Trust{0, TrustUnverified, TrustAuthorized, TrustTrigger, TrustSystem}
	for i, a := range order {
		if a.Rank() != i {
			t.Errorf("%v: rank %d, want %d", a, a.Rank(), i)
		}
	}
	if TrustSelf.Rank() != TrustUnverified.Rank() || Trust(99).Rank() != 0 {
		t.Error("want self as low as unverified, and an invalid mark below both")
	}
}

func TestClosedSwitchesEndInDeny(t *testing.T) {
	t.Parallel()
	if canSpeak(0) || canSpeak(99) || !Origin(0).fetched() || !Origin(99).fetched() {
		t.Error("an unknown origin can speak, or counts as said")
	}
	for s := range script(40) {
		if (s == 0 || s > rohingya) && (s.joins() || s.unspaced() || s.rightToLeft()) {
			t.Errorf("script %d: want nothing allowed", s)
		}
	}
	if Profile(0).Preamble() != "" || Profile(99).Preamble() != "" {
		t.Error("an unknown profile has a preamble")
	}
}
