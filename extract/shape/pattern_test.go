package shape

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPatternsAreCountedExactly(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		`^[A-Z]{3}-[0-9]{4}$`:                "175760000",
		`^CVE-[0-9]{4}-[0-9]{4,7}$`:          "111100000000",
		`^v[0-9]{1,3}(\.[0-9]{1,3}){2}$`:     "1367631000",
		`^(?:a|a)$`:                          "1",
		`^(?:a|ab)(?:c|bc)$`:                 "3", // ac, abc twice, abbc
		`^a?a?a?$`:                           "4",
		`^(?:a{0,2}){0,2}$`:                  "5",
		`^[a-z ]{0,40}$`:                     sum(27, 0, 40),
		`^$`:                                 "1",
		`^(?:)$`:                             "1",
		`^\d\w$`:                             "630",
		`^[\]\[\-]$`:                         "3",
		`^["\\]{2}$`:                         "4",
		`^(?:b(?:c|d)|(e))$`:                 "3",
		`^[0-9]{0,1000}$`:                    sum(10, 0, 1000),
		`^(?:[ab][cd]?|[a-d]{2})$`:           "18",
		`^(?:a$|b)$`:                         "!",
		`^a|b$`:                              "!",
		`^a$|^b$`:                            "!",
		`a$`:                                 "!",
		`^a`:                                 "!",
		`^a\$`:                               "!",
		`^^a$`:                               "!",
		`^a$$`:                               "!",
		``:                                   "!",
		`^(?i)k$`:                            "!",
		`^(?i:k)$`:                           "!",
		`^(?m)a$`:                            "!",
		`^(?P<n>a)$`:                         "!",
		`^(?=a)a$`:                           "!",
		`^(?!a)b$`:                           "!",
		`^.$`:                                "!",
		`^\s$`:                               "!",
		`^\S$`:                               "!",
		`^\D$`:                               "!",
		`^\W$`:                               "!",
		`^[^a]$`:                             "!",
		`^\pL$`:                              "!",
		`^\p{Greek}$`:                        "!",
		`^\x41$`:                             "!",
		`^\ba$`:                              "!",
		`^a\B$`:                              "!",
		`^(a)\1$`:                            "!",
		`^\Qa\E$`:                            "!",
		`^\Aa\z$`:                            "!",
		`^[[:alpha:]]$`:                      "!",
		`^[]a]$`:                             "!",
		`^[a&&b]$`:                           "!",
		`^é$`:                                "!",
		`^[à-é]$`:                            "!",
		"^\t$":                               "!",
		`^a*$`:                               "!",
		`^a+$`:                               "!",
		`^a{1,}$`:                            "!",
		`^a{,3}$`:                            "!",
		`^a{x}$`:                             "!",
		`^a{3$`:                              "!",
		`^a}$`:                               "!",
		`^a]$`:                               "!",
		`^a??$`:                              "!",
		`^a{2}?$`:                            "!",
		`^a{2}{3}$`:                          "!",
		`^a{1001}$`:                          "!",
		`^(a{100}){100}$`:                    "!",
		`^[b-a]$`:                            "!",
		`^(a$`:                               "!",
		`^[a$`:                               "!",
		`^a\`:                                "!",
		`^(?:[01]{0,12}1[01]{14}){1,2}$`:     "!", // too many states
		`^` + strings.Repeat("a", 600) + `$`: "!",
	} {
		d, f := compile(p, 0, -1)
		switch {
		case want == "!" && (f == nil || f.missing == "" || f.mend == ""):
			t.Errorf("%s: want a refusal with its mend", p)
		case want != "!" && f != nil:
			t.Errorf("%s: refused: %s", p, f.missing)
		case want != "!" && d.count().String() != want:
			t.Errorf("%s: want %s, got %d", p, want, d.count())
		}
	}
}

func TestRefusedPatternsNameTheirMend(t *testing.T) {
	t.Parallel()
	for p, mend := range map[string]string{
		`^.$`: `\.`, `^a|b$`: `^(?:a|b)$`, `^a+$`: `{1,40}`, `^a{1,}$`: `{1,3}`, `^(?i)a$`: "both cases", `^[^a]$`: "list what is allowed",
		`^\s$`: "class out", `^é$`: "maxLength alone", `^a}$`: `\}`,
	} {
		if _, f := compile(p, 0, -1); f == nil || !strings.Contains(f.mend, mend) {
			t.Errorf("%s: want the mend %q, got %+v", p, mend, f)
		}
	}
}

func sum(base int64, lo, hi int) string { return powers(big.NewInt(base), lo, hi).String() }

func TestTokenMayHaveExactly64Bits(t *testing.T) {
	t.Parallel()
	if _, err := Of[struct {
		A Token `json:"a" jsonschema:"pattern=^[0-9a-f]{16}$"`
	}](); err != nil {
		t.Error(err)
	}
	if _, err := Of[struct {
		A Token `json:"a" jsonschema:"pattern=^[0-9a-f]{0\\,16}$"`
	}](); err == nil {
		t.Error("a token of more than 2^64 values was taken")
	}
}

// strings of length up to n over the letters.
func words(letters string, n int, yield func(string)) {
	var grow func(s string)
	grow = func(s string) {
		yield(s)
		if len(s) == n {
			return
		}
		for _, c := range letters {
			grow(s + string(c))
		}
	}
	grow("")
}

// genPattern draws a pattern whose values are at most 6 letters of a, b and c.
func genPattern(t *rapid.T, depth int) (p string, longest int) {
	if depth == 0 {
		return rapid.SampledFrom([]string{"a", "b", "c", "[ab]", "[a-c]", "(?:)"}).Draw(t, "atom"), 1
	}
	x, n := genPattern(t, depth-1)
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		y, m := genPattern(t, depth-1)
		return x + y, n + m
	case 1:
		y, m := genPattern(t, depth-1)
		return "(?:" + x + "|" + y + ")", max(n, m)
	case 2:
		return "(?:" + x + ")?", n
	case 3:
		return "(?:" + x + "){0,2}", 2 * n
	default:
		return "(" + x + ")", n
	}
}

func checkAgainstBruteForce(t interface{ Errorf(string, ...any) }, p string, minLen, maxLen, longest int) {
	d, f := compile(p, minLen, maxLen)
	re := regexp.MustCompile(p)
	top := longest
	if maxLen >= 0 {
		top = min(top, maxLen)
	}
	count, most, lo, hi := int64(0), 0, 99, 0
	words("abc", top+1, func(s string) {
		want := re.MatchString(s) && len(s) >= minLen && (maxLen < 0 || len(s) <= maxLen)
		if want {
			count++
			most, lo, hi = max(most, len(s)), min(lo, len(s)), max(hi, len(s))
		}
		if f == nil && d.match([]byte(s)) != want {
			t.Errorf("%s, lengths %d to %d: match of %q: want %v", p, minLen, maxLen, s, want)
		}
	})
	if f != nil {
		if count > 0 {
			t.Errorf("%s was refused: %s", p, f.missing)
		}
		return
	}
	if d.count().Int64() != count || d.longest() != most || d.minLen != lo || d.maxLen != hi {
		t.Errorf("%s, lengths %d to %d: want %d values of %d to %d, got %d of %d to %d", p, minLen, maxLen, count, lo, hi, d.count(), d.minLen, d.maxLen)
	}
}

func TestCountingAgreesWithBruteForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, longest := genPattern(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		if longest > 7 {
			return
		}
		minLen := rapid.IntRange(0, 3).Draw(t, "minLength")
		checkAgainstBruteForce(t, "^(?:"+p+")$", minLen, rapid.IntRange(-1, 6).Draw(t, "maxLength"), longest)
	})
}

// FuzzPattern: a pattern is refused, or counted as brute force counts it, and read by Go's regexp as by the automaton.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{`^(?:a|ab)(?:c|bc)$`, `^a{0,3}b?$`, `^[a-c]{1,4}$`, `^a|b$`, `^(a{0,2}){0,2}$`, `^[^a]$`, `^a{,3}$`, `^(?i)k$`, `^\.\d?$`, `^$`, `^a\b$`} {
		f.Add(p, 0, 5)
	}
	f.Fuzz(func(t *testing.T, p string, minLen, maxLen int) {
		minLen, maxLen = minLen&7, min(maxLen&7, 6)
		d, fl := compile(p, minLen, maxLen)
		if fl != nil {
			return
		}
		re, err := regexp.Compile(p)
		if err != nil {
			t.Fatalf("%q was taken and does not compile", p)
		}
		letters := ""
		for c := byte(firstChar); c <= lastChar && len(letters) < 4; c++ {
			if d.has(c) {
				letters += string(c)
			}
		}
		words(letters+"~", min(maxLen+1, 5), func(s string) {
			if got, want := d.match([]byte(s)), re.MatchString(s) && len(s) >= minLen && len(s) <= maxLen; got != want {
				t.Fatalf("%q, lengths %d to %d: match of %q: want %v, got %v", p, minLen, maxLen, s, want, got)
			}
		})
		count := new(big.Int)
		var walk func(q int32, depth int) // every path is one value: count them one by one, up to a cap
		walk = func(q int32, depth int) {
			if count.Cmp(big.NewInt(5000)) > 0 {
				return
			}
			if d.accept[q] {
				count.Add(count, big.NewInt(1))
			}
			for c := byte(firstChar); c <= lastChar; c++ {
				if to := d.step(q, c); d.class[c] > 0 && to >= 0 {
					walk(to, depth+1)
				}
			}
		}
		walk(0, 0)
		if count.Cmp(big.NewInt(5000)) <= 0 && count.Cmp(d.count()) != 0 {
			t.Fatalf("%q: want %d values, got %d", p, count, d.count())
		}
	})
}
