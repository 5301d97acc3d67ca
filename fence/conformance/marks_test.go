package conformance

import (
	"strings"
	"testing"
)

func turnOf(user string) answer { return answer{system: []string{"preamble"}, user: user} }

// Other adapters spell their markers in other ways; the token is found in each.
func TestTokensAreFoundInAnySpelling(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, form, a, b string
		bits             float64
	}{
		{"64 bits in hex", "《DATA token=T》x《/DATA token=T》", "0123456789abcdef", "fedcba9876543210", 64},
		{"joined by signs", "<data-T>x</data-T>", "0123456789abcdef", "fedcba9876543210", 64},
		{"start and end", "DATA_T_START x DATA_T_END", "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100", 128},
		{"ends alike by chance", "[T] x [T]", "a0123456789abcdeff0", "a1032547698badcfef0", 76},
		{"one word before and behind", "T x T", "qLw7Zk2Rt9Yb4Nc8", "Xp5Hd3Mf6Vs1Gj0K", 95},
		{"weak", "[T] x [T]", "01234567", "76543210", 0},
	} {
		put := func(token string) answer { return turnOf(strings.ReplaceAll(tc.form, "T", token)) }
		if tc.form == "《DATA token=T》x《/DATA token=T》" || strings.HasPrefix(tc.form, "DATA_") {
			put = func(token string) answer {
				return turnOf(strings.NewReplacer("=T", "="+token, "_T_", "_"+token+"_").Replace(tc.form))
			}
		}
		a, b := put(tc.a), put(tc.b)
		tokens := tokensOf(a, b, "x")
		if len(tokens) != 1 || tokens[0].text != tc.a || int(tokens[0].bits) != int(tc.bits) {
			t.Errorf("%s: got %v, want one of %.0f bits", tc.name, tokens, tc.bits)
			continue
		}
		m := mark(a.user, tokens)
		if !m.paired || len(m.blocks) != 1 || !m.inside(m.find("x")[0]) {
			t.Errorf("%s: want one block around the text", tc.name)
		}
	}
}

func TestWhatIsNoTokenIsNotTakenForOne(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ a, b, input string }{
		"the same twice":   {"0123456789abcdef x 0123456789abcdef", "0123456789abcdef x 0123456789abcdef", ""},
		"once":             {"request 0123456789abcdef", "request fedcba9876543210", ""},
		"a counter":        {"turn 00000001 x 00000001", "turn 00000002 x 00000002", ""},
		"part of the text": {"0123456789abcdef 0123456789abcdef", "fedcba9876543210 fedcba9876543210", "said 0123456789abcdef"},
		"more words":       {"a 0123456789abcdef 0123456789abcdef", "0123456789abcdef", ""},
	} {
		if got := tokensOf(turnOf(tc.a), turnOf(tc.b), tc.input); len(got) != 0 {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if tokensOf(answer{user: "0123456789abcdef 0123456789abcdef"}, answer{system: []string{""}, user: "x"}, "") != nil {
		t.Error("want answers of other parts not compared")
	}
}

func TestBlocksWantPairs(t *testing.T) {
	t.Parallel()
	one, two := token{"0000aaaa", 64}, token{"1111bbbb", 64}
	for text, want := range map[string]int{
		"a":                                     0,
		"0000aaaa x 0000aaaa":                   1,
		"0000aaaa x 0000aaaa 1111bbbb 1111bbbb": 2,
		"0000aaaa x":                            -1,
		"0000aaaa 1111bbbb 0000aaaa 1111bbbb":   -1,
		"0000aaaa 1111bbbb 1111bbbb 0000aaaa":   -1,
	} {
		m := mark(text, []token{one, two})
		if got := len(m.blocks); m.paired && got != want || !m.paired && want != -1 {
			t.Errorf("%q: %d blocks, paired %v", text, got, m.paired)
		}
	}
	m := mark("a 0000aaaa x 0000aaaa b", []token{one})
	if m.outside() != "a \x00\x00 b" || m.plain() != "a \x00 x \x00 b" {
		t.Errorf("got %q and %q", m.outside(), m.plain())
	}
}
