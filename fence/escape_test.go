package fence

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// escapeOne is the body of a block of one line.
func escapeOne(s string) string { return string(appendEscaped(nil, s, formLine)) }

// escapeSlowly decides code point by code point, without the tables of the fast loop.
func escapeSlowly(s string, f form) string {
	var out []byte
	var look lookalike
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = appendByte(out, s[i])
		case r == '\n' && f != formLine:
			out = append(out, "\n"+lineMark...)
		case r == '\r' && f == formCRLF && strings.HasPrefix(s[i+1:], "\n"):
		case r < 0x20 && r != '\t' || r == 0x7F:
			out = appendRune(out, r)
		case r == blackFlag:
			size += flagLen(s[i+size:])
			out = append(out, s[i:i+size]...)
		case (r == '<' || r == '&') && look.markerAt(s, i), r >= utf8.RuneSelf && mustEscape(&look, s, i, r, size):
			out = appendRune(out, r)
		default:
			out = append(out, s[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

func FuzzFastLoopDecidesAsTheSlowOne(f *testing.F) {
	for _, s := range seedTexts {
		f.Add(s)
		f.Add(strings.Repeat("گزارش\u200cهای ", 3) + s + strings.Repeat("中文", 5) + s + "plain ascii text")
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, form := range []form{formLF, formOf(s), formLine} {
			if got, want := string(appendEscaped(nil, s, form)), escapeSlowly(s, form); got != want {
				t.Fatalf("form %d: got %q, want %q", form, got, want)
			}
		}
	})
}

func TestFastLoopDecidesAsTheSlowOneOnTheCorpus(t *testing.T) {
	t.Parallel()
	for _, s := range append(corpus(t, "payloads.jsonl"), corpus(t, "benign.jsonl")...) {
		if escapeOne(s.Text) != escapeSlowly(s.Text, formLine) {
			t.Errorf("%s: the loops differ", s.ID)
		}
	}
}

func TestEveryCodePointAloneIsEscapedOrKeptByItsClass(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xD800 <= r && r <= 0xDFFF {
			continue
		}
		if within := r & 0xFFFF; r >= 0x20000 && r>>16 != 0xE && within%251 != 0 && within < 0xFFF0 {
			continue // no assigned code point there has a class of its own
		}
		want := unicode.IsControl(r) && r != '\t' || isIgnorableByUnicode(r) || r == escapeOpen || r == 0x2028 || r == 0x2029 ||
			isNonCharacter(r) || 0xFFF9 <= r && r <= 0xFFFB
		for _, s := range []string{string(r), "abcdefgh" + string(r) + "中文文", "ня" + string(r) + "няня"} {
			out := escapeOne(s)
			if got := strings.Contains(out, "⟦"); got != want {
				t.Fatalf("U+%04X: escaped %v, want %v", r, got, want)
			}
			if back, err := unescape(out); err != nil || back != s {
				t.Fatalf("U+%04X does not come back", r)
			}
		}
	}
}

// isIgnorableByUnicode derives Default_Ignorable_Code_Point as DerivedCoreProperties.txt does.
func isIgnorableByUnicode(r rune) bool {
	switch {
	case unicode.Is(unicode.White_Space, r), 0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x1343F, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
}

func TestTwoAndThreeByteRunsAreCheckedByteByByte(t *testing.T) {
	t.Parallel()
	for a := range 256 {
		for b := range 256 {
			for _, tail := range []string{"", "\x80", "\x80\x80", "abcdefgh", "ننننننن"} {
				s := string([]byte{byte(a), byte(b)}) + tail
				out := escapeOne(s)
				if !utf8.ValidString(out) || out != escapeSlowly(s, formLine) {
					t.Fatalf("bytes %02X %02X: the fast loop is wrong", a, b)
				}
			}
		}
	}
}

func TestPictographsAreThoseOfUTS51(t *testing.T) {
	t.Parallel()
	for r := rune(0x80); r < 0x20000; r++ {
		if 0xD800 <= r && r <= 0xDFFF {
			continue
		}
		// GB11 of UAX #29 joins over ZWJ just these.
		joins := uniseg.GraphemeClusterCount(string(r)+"\u200d"+string(r)) == 1 && !unicode.In(r, unicode.M, unicode.Sk, unicode.Cf) &&
			!in(ignorable, r)
		if got := in(pictographic, r); got != joins && uniseg.GraphemeClusterCount("a"+string(r)) == 2 {
			t.Errorf("U+%04X: pictograph %v, want %v", r, got, joins)
		}
	}
}

func TestZeroWidthCharactersStayWhereAScriptNeedsThem(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"persian zwnj":         "می\u200cخواهم",
		"persian after a mark": "خَ\u200cم",
		"urdu zwj":             "ه\u200d ",
		"hindi zwj":            "क्\u200dष",
		"hindi zwnj":           "क्\u200cष",
		"hindi half form":      "क्\u200d।",
		"bengali ya-phalaa":    "র\u200d্যাম",
		"sinhala":              "ක්\u200dෂ",
		"khmer zwsp":           "សួស្តី\u200bពិភព",
		"thai zwsp":            "ระบบ\u200bลินุกซ์",
		"mongolian fvs":        "ᠪ\u180bᠠ",
		"mongolian mvs":        "ᠨ\u180eᠠ",
		"rlm after hebrew":     "שלום\u200f!",
		"lrm before arabic":    "(\u200eسلام",
		"family":               "👨\u200d👩\u200d👧",
		"rainbow flag":         "🏳\ufe0f\u200d🌈",
		"skin tone":            "🧑🏽\u200d💻",
		"heart":                "❤\ufe0f",
		"text style":           "✔\ufe0e",
		"keycap":               "1\ufe0f\u20e3",
		"scotland":             "🏴" + flagTags[1],
		"country":              "🇮🇷",
		"titles":               "《DATA分析入门》和《数据 DATA》、《关于〈数据〉》",
		"spaced title":         "《DATA 科学入门》",
		"numbered title":       "《Data 2.0 时代》",
		"comparison":           "a << data; b < data_token && c ≪ data",
		"html":                 "<data value=\"3\">x</data> <div data-token=\"1\">",
		"french":               "« data », « DATA », «/data/logs»",
		"tabs and indents":     "\tx\n\t\ty  \n    z",
		"nfd":                  "Cafe\u0301",
	} {
		if got := string(appendEscaped(nil, s, formLF)); strings.ReplaceAll(got, "\n"+lineMark, "\n") != s {
			t.Errorf("%s: got %q, want it unchanged", name, got)
		}
	}
}

func TestZeroWidthCharactersAreShownElsewhere(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"zwnj in latin":            "DA\u200cTA",
		"zwnj at an end":           "می\u200c",
		"two zwnj":                 "می\u200c\u200cخ",
		"zwnj between scripts":     "م\u200cक",
		"zwnj by a digit":          "۲\u200cم",
		"zwj in cyrillic":          "д\u200dа",
		"zwj chinese":              "中\u200d文",
		"zwsp latin":               "a\u200bb",
		"zwsp arabic":              "م\u200bخ",
		"rlm latin":                "a\u200fb",
		"rlm twice":                "ש\u200f\u200f",
		"word joiner":              "a\u2060b",
		"bom":                      "\ufeffa",
		"soft hyphen":              "a\u00adb",
		"cgj":                      "a\u034fb",
		"hangul filler":            "a\u3164b",
		"halfwidth filler":         "a\uffa0b",
		"invisible times":          "a\u2062b",
		"annotation":               "\ufff9a\ufffab\ufffb",
		"vs16 on a letter":         "a\ufe0f",
		"vs16 on a digit":          "1\ufe0fx",
		"vs1":                      "中\ufe00",
		"vs17 on an ideograph":     "葛\U000E0100",
		"two vs16":                 "❤\ufe0f\ufe0f",
		"tags on a letter":         "a\U000E0041",
		"flag with other tags":     "🏴\U000E0075\U000E0073\U000E007F",
		"flag without an end":      "🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067",
		"isolate round hebrew":     "\u2068שיר\u2069",
		"embedding":                "\u202bדוד\u202c",
		"khmer invisible vowel":    "ក\u17b4",
		"fvs on a latin letter":    "a\u180b",
		"zwj after a pictograph":   "👨\u200da",
		"musical":                  "\U0001D173",
		"unassigned ignorable":     "a\u2065b",
		"noncharacter":             "\ufdd0",
		"astral noncharacter":      "\U0005FFFE",
		"opening escape in arabic": "م⟦خ",
	} {
		if got := escapeOne(s); got == s {
			t.Errorf("%s: want an escape", name)
		} else if back, err := unescape(got); err != nil || back != s {
			t.Errorf("%s: does not come back", name)
		}
	}
}

func TestZeroWidthCharactersInARowAreAllShown(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"ש\u200f\u200f":       "ש⟦U+200F⟧⟦U+200F⟧",
		"ש\u200f\u200e!":      "ש⟦U+200F⟧⟦U+200E⟧!",
		"م\u200c\u200dخ":      "م⟦U+200C⟧⟦U+200D⟧خ",
		"ក\u200b\u200bក":      "ក⟦U+200B⟧⟦U+200B⟧ក",
		"❤\ufe0f\ufe0f":       "❤\ufe0f⟦U+FE0F⟧",
		"ᠪ\u180b\u180bᠠ":      "ᠪ⟦U+180B⟧⟦U+180B⟧ᠠ",
		"👨\u200d\u200d👩":      "👨⟦U+200D⟧⟦U+200D⟧👩",
		"1\ufe0f\ufe0f\u20e3": "1⟦U+FE0F⟧⟦U+FE0F⟧\u20e3",
	} {
		if got := escapeOne(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
