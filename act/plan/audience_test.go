package plan

import "testing"

// Every pair, the invalid included: a sink that declares nothing reaches
// anyone, and a source that declares nothing is for the operators alone.
func TestWiderForEveryPair(t *testing.T) {
	t.Parallel()
	asSink := map[Audience]int{0: 3, Operators: 1, ChannelReaders: 2, Anyone: 3, 9: 3}
	asSource := map[Audience]int{0: 1, Operators: 1, ChannelReaders: 2, Anyone: 3, 9: 1}
	for sink, m := range asSink {
		for source, n := range asSource {
			if got := sink.Wider(source); got != (m > n) {
				t.Errorf("%s wider than %s: %t", sink, source, got)
			}
		}
	}
	for i, a := range Audiences() {
		if !a.Valid() || int(a) != i+1 || a.String() == "invalid" {
			t.Errorf("audience %d: %s", a, a)
		}
	}
	if Audience(0).Valid() || Audience(4).Valid() || Audience(4).String() != "invalid" {
		t.Error("an audience beyond the closed list is valid")
	}
}

// No kind leaves it out: what it says is what the audit goes by.
func TestEveryKindDeclaresItsAudience(t *testing.T) {
	t.Parallel()
	for _, k := range AllKinds() {
		if !k.Trait().Audience.Valid() {
			t.Errorf("%s: want an audience", k)
		}
	}
	if Kind("mail.send").Trait().Audience != Anyone {
		t.Error("an unknown kind has not the widest audience")
	}
}
