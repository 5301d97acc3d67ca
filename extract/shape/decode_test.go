package shape

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const goodReport = `{"flags":[false],"items":[{"fix":true,"id":"CVE-2024-12345","note":"x","tags":["api","docs"]}],` +
	`"known":true,"level":-3,"order":["docs","api"],"port":8080,"refs":["#1"],"title":"t"}`

func TestEachFaultHasItsPathAndRule(t *testing.T) {
	t.Parallel()
	s := must[report](t)
	if _, err := s.DecodeCanonical([]byte(goodReport)); err != nil {
		t.Fatal(err)
	}
	hit := map[Rule]bool{RuleCanonical: true} // its test stands below
	for _, c := range []struct {
		name, from, to, path string
		rule                 Rule
	}{
		{"empty", goodReport, ``, "(root)", RuleSyntax},
		{"spaces", goodReport, ` `, "(root)", RuleSyntax},
		{"null document", goodReport, `null`, "(root)", RuleNull},
		{"string document", goodReport, `"a"`, "(root)", RuleType},
		{"list document", goodReport, `[` + goodReport + `]`, "(root)", RuleType},
		{"byte order mark", goodReport, "\xef\xbb\xbf" + goodReport, "(root)", RuleSyntax},
		{"other white space", goodReport, "\v" + goodReport, "(root)", RuleSyntax},
		{"too long", goodReport, strings.Repeat(" ", s.MaxCandidate()) + goodReport, "(root)", RuleLength},
		{"trailing document", goodReport, goodReport + `{}`, "(root)", RuleTrailing},
		{"trailing nul", goodReport, goodReport + "\x00", "(root)", RuleTrailing},
		{"trailing brace", goodReport, goodReport + "}", "(root)", RuleTrailing},
		{"unclosed", `"t"}`, `"t"`, "(root)", RuleSyntax},
		{"unclosed string", `"t"}`, `"t`, "title", RuleSyntax},
		{"trailing comma", `"t"}`, `"t",}`, "(root)", RuleSyntax},
		{"no comma", `true,"level"`, `true "level"`, "(root)", RuleSyntax},
		{"no colon", `"known":true`, `"known" true`, "(root)", RuleSyntax},
		{"no value", `"known":true`, `"known":`, "known", RuleSyntax},
		{"bare key", `"known":true`, `known:true`, "(root)", RuleSyntax},
		{"unclosed key", goodReport, `{"kno`, "(root)", RuleSyntax},
		{"control in a key", goodReport, "{\"kno\n", "(root)", RuleSyntax},
		{"bad escape in a key", `"known":true`, `"\k":true`, "(root)", RuleSyntax},
		{"unknown key", `"known":true`, `"known":true,"evil":1`, "(root)", RuleUnknownKey},
		{"unknown key first", `{"flags"`, `{"evil":{"a":[[[[]]]]},"flags"`, "(root)", RuleUnknownKey},
		{"empty key", `{"flags"`, `{"":0,"flags"`, "(root)", RuleUnknownKey},
		{"key case", `"known":true`, `"KNOWN":true`, "(root)", RuleKeyCase},
		{"key by another letter", `"known":true`, `"Known":true`, "(root)", RuleKeyCase},
		{"second key by case", `"known":true`, `"known":true,"Known":false`, "(root)", RuleKeyCase},
		{"inner unknown key", `"fix":true`, `"fix":true,"evil":1`, "items[]", RuleUnknownKey},
		{"duplicate key", `"known":true`, `"known":true,"known":true`, "known", RuleDuplicateKey},
		{"duplicate escaped key", `"known":true`, `"known":true,"\u006bnown":true`, "known", RuleDuplicateKey},
		{"duplicate object", `"title":"t"`, `"title":"t","where":{"file":"a"},"where":{"file":"a"}`, "where", RuleDuplicateKey},
		{"missing", `"known":true,`, ``, "known", RuleMissing},
		{"inner missing", `"id":"CVE-2024-12345",`, ``, "items[].id", RuleMissing},
		{"null", `"known":true`, `"known":null`, "known", RuleNull},
		{"optional null", `"fix":true`, `"fix":null`, "items[].fix", RuleNull},
		{"null item", `["#1"]`, `[null]`, "refs[]", RuleNull},
		{"word", `"known":true`, `"known":yes`, "known", RuleSyntax},
		{"cut word", `"known":true`, `"known":tru`, "known", RuleSyntax},
		{"case of a word", `"known":true`, `"known":True`, "known", RuleSyntax},
		{"string for bool", `"known":true`, `"known":"true"`, "known", RuleType},
		{"number for bool", `"known":true`, `"known":1`, "known", RuleType},
		{"string for int", `-3`, `"-3"`, "level", RuleType},
		{"list for int", `-3`, `[-3]`, "level", RuleType},
		{"bool for string", `"title":"t"`, `"title":true`, "title", RuleType},
		{"number for label", `"docs","api"]`, `7]`, "order[]", RuleType},
		{"object for list", `["#1"]`, `{}`, "refs", RuleType},
		{"minus zero", `-3`, `-0`, "level", RuleNumber},
		{"exponent", `8080`, `1e3`, "port", RuleNumber},
		{"capital exponent", `8080`, `1E3`, "port", RuleNumber},
		{"fraction", `8080`, `8080.0`, "port", RuleNumber},
		{"huge exponent", `8080`, `1e1000000`, "port", RuleNumber},
		{"many digits", `8080`, strings.Repeat("9", 400), "port", RuleNumber},
		{"seventeen digits", `8080`, "10000000000000000", "port", RuleNumber},
		{"sixteen digits", `8080`, "9999999999999999", "port", RuleRange},
		{"leading zero", `8080`, `08080`, "port", RuleSyntax},
		{"minus alone", `-3`, `-`, "level", RuleSyntax},
		{"plus", `8080`, `+1`, "port", RuleSyntax},
		{"hexadecimal", `8080`, `0x10`, "port", RuleRange},
		{"below", `-3`, `-4`, "level", RuleRange},
		{"above", `8080`, `65536`, "port", RuleRange},
		{"wrapping", `8080`, `4294967297`, "port", RuleRange},
		{"label", `"docs","api"]`, `"shell"]`, "order[]", RuleLabel},
		{"label case", `"docs","api"]`, `"API"]`, "order[]", RuleLabel},
		{"label with a space", `"docs","api"]`, `"api "]`, "order[]", RuleLabel},
		{"label with bad bytes", `"docs","api"]`, "\"api\xff\"]", "order[]", RuleLabel},
		{"unclosed label", `"docs","api"]`, `"api]`, "order[]", RuleLabel},
		{"pattern", `CVE-2024-12345`, `CVE-2024-123`, "items[].id", RulePattern},
		{"pattern with a newline", `CVE-2024-12345`, `CVE-2024-12345\n`, "items[].id", RulePattern},
		{"pattern with another script's digit", `CVE-2024-12345`, `CVE-2024-1234٥`, "items[].id", RulePattern},
		{"bad UTF-8", `"title":"t"`, "\"title\":\"\xff\"", "title", RuleUTF8},
		{"overlong UTF-8", `"title":"t"`, "\"title\":\"\xc0\xaf\"", "title", RuleUTF8},
		{"surrogate in UTF-8", `"title":"t"`, "\"title\":\"\xed\xa0\x80\"", "title", RuleUTF8},
		{"lone high surrogate", `"title":"t"`, `"title":"\ud800"`, "title", RuleSurrogate},
		{"lone low surrogate", `"title":"t"`, `"title":"\udc00"`, "title", RuleSurrogate},
		{"surrogate and letter", `"title":"t"`, `"title":"\ud800\u0041"`, "title", RuleSurrogate},
		{"surrogate and a later letter", `"title":"t"`, `"title":"\ud800\ue000"`, "title", RuleSurrogate},
		{"surrogate cut", `"title":"t"`, `"title":"\ud800\uDC"`, "title", RuleSurrogate},
		{"surrogate in a key", `{"flags"`, `{"\ud800":1,"flags"`, "(root)", RuleSurrogate},
		{"bad escape", `"title":"t"`, `"title":"\x41"`, "title", RuleSyntax},
		{"short escape", `"title":"t"`, `"title":"\u12"`, "title", RuleSyntax},
		{"escape at the end", goodReport, `{"title":"\`, "title", RuleSyntax},
		{"control", `"title":"t"`, "\"title\":\"\n\"", "title", RuleSyntax},
		{"escaped control", `"title":"t"`, `"title":"a\nb"`, "title", RuleAlphabet},
		{"escaped backspace", `"title":"t"`, `"title":"\b"`, "title", RuleAlphabet},
		{"escaped form feed", `"title":"t"`, `"title":"\f"`, "title", RuleAlphabet},
		{"escaped return", `"title":"t"`, `"title":"\r"`, "title", RuleAlphabet},
		{"escape of other letters", `"title":"t"`, `"title":"\u00g0"`, "title", RuleSyntax},
		{"escaped tab", `"title":"t"`, `"title":"\t"`, "title", RuleAlphabet},
		{"delete", `"title":"t"`, "\"title\":\"\x7f\"", "title", RuleAlphabet},
		{"next line", `"title":"t"`, `"title":"\u0085"`, "title", RuleAlphabet},
		{"line separator", `"title":"t"`, "\"title\":\"\u2028\"", "title", RuleAlphabet},
		{"bidi override", `"title":"t"`, "\"title\":\"\u202e\"", "title", RuleAlphabet},
		{"tag character (gh-aw#28058)", `"title":"t"`, "\"title\":\"\U000E0049\"", "title", RuleAlphabet},
		{"escaped tag character", `"title":"t"`, `"title":"\udb40\udc49"`, "title", RuleAlphabet},
		{"noncharacter", `"title":"t"`, "\"title\":\"\uffff\"", "title", RuleAlphabet},
		{"empty text", `"title":"t"`, `"title":""`, "title", RuleTextLength},
		{"long text (xgrammar#895)", `"title":"t"`, `"title":"` + strings.Repeat("é", 41) + `"`, "title", RuleTextLength},
		{"too few items", `["docs","api"]`, `[]`, "order", RuleItems},
		{"too many items", `["docs","api"]`, `["docs","api","api","api"]`, "order", RuleItems},
		{"unclosed list", `["docs","api"]`, `["docs","api"}`, "order", RuleSyntax},
		{"list with a trailing comma", `["docs","api"]`, `["docs",]`, "order[]", RuleSyntax},
		{"list with a leading comma", `["docs","api"]`, `[,"docs"]`, "order[]", RuleSyntax},
		{"duplicate in a set", `["api","docs"]`, `["api","docs","api"]`, "items[].tags", RuleDuplicate},
		{"duplicate flag", `[false]`, `[false,false]`, "flags", RuleDuplicate},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := strings.Replace(goodReport, c.from, c.to, 1)
			if doc == goodReport && c.to != goodReport {
				t.Fatal("the case changes nothing")
			}
			for _, decode := range []func([]byte) (*Value, error){s.Decode, s.DecodeCanonical} {
				v, err := decode([]byte(doc))
				var e *DecodeError
				if !errors.As(err, &e) || v != nil {
					t.Fatalf("want a DecodeError and no value, got %v", err)
				}
				if len(doc) <= s.MaxBytes() && (e.Path != c.path || e.Rule != c.rule) {
					t.Errorf("want %s at %s, got %s at %s", c.rule, c.path, e.Rule, e.Path)
				}
				for _, foreign := range []string{"evil", "shell", "KNOWN", "yes", "65536"} {
					if strings.Contains(err.Error(), foreign) {
						t.Errorf("the error holds foreign text: %v", err)
					}
				}
			}
		})
		hit[c.rule] = true
	}
	for _, r := range Rules() {
		if !hit[r] {
			t.Errorf("no case for rule %s", r)
		}
	}
}

func TestCandidatesInAnySpellingGiveTheCanonicalStructure(t *testing.T) {
	t.Parallel()
	s := must[report](t)
	for _, c := range []struct{ name, from, to string }{
		{"space", `"known":true`, " \r\n\t\"known\" \n: true "},
		{"escaped key", `"known"`, `"\u006Bnow\u006e"`},
		{"escaped label", `"order":["docs"`, `"order":["\u0064oc\u0073"`},
		{"escaped text", `"title":"t"`, `"title":"\u0074"`},
		{"order of keys", `"known":true,"level":-3`, `"level":-3,"known":true`},
		{"order of a set", `["api","docs"]`, `["docs","api"]`},
		{"escape of a slash", `"note":"x"`, `"note":"\u0078"`},
	} {
		doc := strings.Replace(goodReport, c.from, c.to, 1)
		v, err := s.Decode([]byte(doc))
		if err != nil || string(v.Encode()) != goodReport {
			t.Errorf("%s: want the canonical structure, got %v", c.name, err)
		}
		var e *DecodeError
		if _, err := s.DecodeCanonical([]byte(doc)); !errors.As(err, &e) || e.Rule != RuleCanonical {
			t.Errorf("%s: want the rule canonical, got %v", c.name, err)
		}
	}
}

func TestTextsKeepEveryCharacter(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A Text `json:"a" jsonschema:"maxLength=20"`
	}](t)
	doc := `{ "a": "\"\\\/é\u00e9\ud83d\ude00\uD83D\uDE00<>&\u200b日" }`
	v, err := s.Decode([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"\"\\/éé😀😀<>&` + "\u200b" + `日"}`; string(v.Encode()) != want {
		t.Errorf("want %s, got %s", want, v.Encode())
	}
}

func TestBoundsAreInBytesOfOurOwnSpelling(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A Text `json:"a" jsonschema:"maxLength=8"`
	}](t)
	v, err := s.Decode([]byte(`{"a":"<<<<<<<<"}`))
	if err != nil || len(v.Encode()) != len(`{"a":""}`)+8 || s.MaxBytes() != len(`{"a":""}`)+32 {
		t.Errorf("eight < take %v, the most is %d", v, s.MaxBytes())
	}
}

func TestHostileCandidatesCostNoMoreThanTheirBytes(t *testing.T) {
	s := must[report](t)
	n := s.MaxCandidate() - 64
	for _, doc := range []string{
		strings.Repeat("[", n), `{"flags":` + strings.Repeat("[", n), `{"level":` + strings.Repeat("1", n), `{"level":1e` + strings.Repeat("9", n),
		`{"` + strings.Repeat("k", n), `{"` + strings.Repeat("k", n) + `":1}`, `{"title":"` + strings.Repeat(`\u0041`, n/6) + `"}`,
		`{"flags":[` + strings.Repeat("true,", n/5), strings.Repeat(" ", n), `{"title":"` + strings.Repeat("a", n) + `"}`,
	} {
		if got := testing.AllocsPerRun(1, func() {
			if _, err := s.Decode([]byte(doc)); err == nil {
				t.Error("a hostile candidate was taken")
			}
		}); got > 40 {
			t.Errorf("%.40s…: %.0f allocations", doc, got)
		}
	}
}

func TestNullIsAbsenceOnlyInAProjectedAnswer(t *testing.T) {
	t.Parallel()
	s := must[triage](t)
	doc := []byte(`{"kind":"bug","severity":1,"areas":[],"version":null,"quote":"q"}`)
	v, err := s.DecodeProjected(doc)
	if err != nil || string(v.Encode()) != `{"areas":[],"kind":"bug","quote":"q","severity":1}` {
		t.Errorf("got %v %v", v, err)
	}
	if _, err := s.Decode(doc); err == nil {
		t.Error("Decode took a null")
	}
	for _, bad := range []string{
		`{"kind":null,"severity":1,"areas":[]}`,
		`{"kind":"bug","severity":1,"areas":[null]}`,
		`{"kind":"bug","severity":1,"areas":[],"version":null,"version":null}`,
		`{"kind":"bug","severity":1,"areas":[],"version":null,"version":"v1.1.1"}`,
		`{"kind":"bug","severity":1,"areas":[],"version":nul}`,
	} {
		if _, err := s.DecodeProjected([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestRulesAreClosed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.String()] || r.String() == "invalid" || !strings.HasPrefix(r.Want(), "want ") {
			t.Errorf("rule %d has no words of its own: %s", r, r)
		}
		seen[r.String()] = true
	}
	if Rule(0).String() != "invalid" || Rule(255).String() != "invalid" || Rule(255).Want() == "" || len(seen) != int(RuleCanonical) {
		t.Error("the list of rules is open")
	}
}

func TestDecodingIsDoneOnceTheSpellingIsCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		r := rng(rapid.Uint64().Draw(t, "seed"))
		doc := s.Sample(r).Encode()
		v, err := s.DecodeCanonical(doc)
		if err != nil {
			t.Fatalf("a sampled structure was refused: %v\n%s", err, doc)
		}
		if !bytes.Equal(v.Encode(), doc) || len(doc) > s.MaxBytes() {
			t.Errorf("want %s, got %s", doc, v.Encode())
		}
	})
}

// FuzzDecode: never panics; what is taken has one canonical spelling, within the bound, that the oracle takes too.
func FuzzDecode(f *testing.F) {
	s := must[report](f)
	check := compileOracle(f, s.JSONSchema())
	f.Add([]byte(goodReport))
	r := rng(1)
	for range 60 {
		doc, _ := s.Mutate(r, s.Sample(r).Encode())
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := s.Decode(doc)
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Rule.String() == "invalid" || e.Path == "" {
				t.Fatalf("an error without path and rule: %v", err)
			}
			if _, err := s.DecodeCanonical(doc); err == nil {
				t.Fatal("DecodeCanonical takes what Decode refuses")
			}
			return
		}
		canon := v.Encode()
		again, err := s.DecodeCanonical(canon)
		if err != nil || !bytes.Equal(again.Encode(), canon) || len(canon) > s.MaxBytes() {
			t.Fatalf("the canonical spelling is refused: %v\n%s", err, canon)
		}
		if _, err := s.DecodeCanonical(doc); (err == nil) != bytes.Equal(doc, canon) {
			t.Fatalf("DecodeCanonical: want only the canonical spelling: %v", err)
		}
		if !accepts(check, doc) || !accepts(check, canon) {
			t.Fatalf("the oracle refuses %s", canon)
		}
		if _, _, err := Lift[report](s, v); err != nil {
			t.Fatal(err)
		}
	})
}
