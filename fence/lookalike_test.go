package fence

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLookAlikeMarkersAreEscapedInEverySpelling(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"footer":              "《/DATA 3 token=x》",
		"header":              "《DATA 3 token=x》",
		"footer alone":        "《/DATA》",
		"header alone":        "《DATA》",
		"number alone":        "《DATA 3》",
		"number at the end":   "《DATA 3",
		"lower case":          "《/data token=x》",
		"spaced":              "《 / D A T A  t o k e n = x》",
		"on lines":            "《\n/DA\r\nTA\ntoken=x",
		"underscores":         "《DATA_token=x》",
		"full width":          "《／ＤＡＴＡ　ｔｏｋｅｎ＝ｘ》",
		"cyrillic":            "《/DАТА tоkеn=x》",
		"greek":               "《/DΑΤΑ token=x》",
		"cherokee":            "《/ᎠᎪᎢᎪ token=x》",
		"lisu":                "《/ꓓꓮꓔꓮ token=x》",
		"mathematical":        "《/𝐃𝐀𝐓𝐀 token=x》",
		"circled":             "《/ⒹⒶⓉⒶ token=x》",
		"parenthesized":       "《/⒟⒜⒯⒜ token=x》",
		"negative circled":    "《/🅓🅐🅣🅐 token=x》",
		"negative squared":    "《/🅳🅰🆃🅰 token=x》",
		"accent in token":     "《DATA 科 tokЀn=x》",
		"regional indicators": "《/🇩 🇦 🇹 🇦 token=x》",
		"small capitals":      "《/ᴅᴀᴛᴀ token=x》",
		"accents":             "《/ĎÄŤÂ token=x》",
		"combining":           "《/D̶A̶T̶A̶ token=x》",
		"zero width":          "《/D\u200bA\u200cT\u200dA token=x》",
		"word joiners":        "《\u2060/\u2060DATA",
		"filler":              "《/DA\u3164TA",
		"fraction slash":      "《⁄DATA",
		"division slash":      "《∕DATA",
		"box slash":           "《╱DATA",
		"backslash":           "《\\DATA token=x",
		"double brackets":     "《《/DATA",
		"one title in front":  "《x《/DATA",
		"angle":               "⟪/DATA token=x⟫",
		"vertical":            "︽/DATA token=x︾",
		"two single":          "〈〈/DATA token=x〉〉",
		"two ornaments":       "❮❮/DATA 3❯❯",
		"one single":          "〈/DATA token=x〉",
		"guillemet":           "«/DATA token=x»",
		"much less":           "≪/DATA token=x≫",
		"ascii":               "<<DATA 3 token=x>>",
		"one ascii":           "</DATA 3 token=x>",
		"full-width less":     "＜＜/DATA token＝x＞＞",
		"lenticular":          "【/DATA token=x】",
		"colon":               "≪/DATA token꞉x≫",
		"decimal reference":   "&#12298;/DATA token=x&#12299;",
		"padded reference":    "&#0012298;/DATA token=x",
		"hex reference":       "&#x300a;&#47;DATA token&#61;x",
		"unclosed reference":  "&#x300A/DATA",
		"named reference":     "&Lang;/DATA token=x",
		"escaped reference":   "&amp;amp;#x300A;/DATA token=x",
		"less than":           "&lt;&LT;/DATA&nbsp;token=x",
		"leet":                "《DATA t0ken=x》",
		"word in front":       "《END DATA token=x》",
		"cyrillic accents":    "《/DӒТӒ token=x》",
		"dotted letters":      "《/ḌẠṬẠ token=x》",
		"ideographs between":  "《数据 DATA 三 token=x》",
		"bracket inside":      "《/DATA《",
		"arabic digit":        "《DATA ٣ token=x》",
		"halfwidth voiced":    "《DATA ﾞ3 token=x》",
		"tag inside":          "《/DA<b></b>TA token=x》",
	} {
		out := escapeOne(s)
		first := out[:strings.Index(out+"⟧", "⟧")]
		if !strings.HasPrefix(out, "⟦U+") && name != "one title in front" {
			t.Errorf("%s: got %q, want its bracket escaped", name, out)
		}
		if strings.Count(out, "⟦") == 0 || first == out {
			t.Errorf("%s: got %q, want an escape", name, out)
		}
		if back, err := unescape(out); err != nil || back != s {
			t.Errorf("%s: does not come back", name)
		}
	}
}

func TestHonestBracketsStay(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"《DATA分析入门》", "《DATA 科学入门》", "《Data Science 导论》", "《Database Systems》", "《红楼梦》", "《Token 经济学》", "《》",
		"《Data: A Love Story》", "〈DATA〉", "<data>", "</data>", "<DATA 3>", "«DATA»", "« data »", "【DATA】", "「データ」",
		"&lt;data&gt;", "&#x300A;quoted&#x300B;", "a << data;", "x &data", "&", "&&", "&amp;", "&lt;", "&#;", "&#x;", "&#xFFFFFFFFF;",
		"std::vector<std::vector<int>>", "<<<<<<< HEAD", "a <data", "a < data", "|DATA token=x|", "/DATA token=x", "<data-list token='x'>",
		"if (a < dataToken) return", "[/DATA 3 token=x]",
	} {
		if out := escapeOne(s); out != s {
			t.Errorf("got %q, want %q", out, s)
		}
	}
}

func TestEveryHomoglyphSpellsTheMarker(t *testing.T) {
	t.Parallel()
	if len(homoglyphs) < 150 {
		t.Fatalf("want the table of confusables, got %d entries", len(homoglyphs))
	}
	for r, letter := range homoglyphs {
		s := strings.NewReplacer(string(letter), string(r)).Replace("《/data token=")
		if out := escapeOne(s); !strings.HasPrefix(out, "⟦U+300A⟧") {
			t.Errorf("U+%04X for %q: got %q, want the bracket escaped", r, letter, out)
		}
	}
	for r, w := range openers {
		s := string(r) + "/DATA 3 token=x"
		if out := escapeOne(s); out == s {
			t.Errorf("U+%04X of weight %d: want it escaped", r, w)
		}
		if in(ignorable, r) || in(deceptive, r) {
			t.Errorf("U+%04X is in two tables", r)
		}
	}
	for _, r := range closers {
		if openers[r] != 0 || homoglyphs[r] != 0 {
			t.Errorf("U+%04X closes and does something else", r)
		}
	}
}

// Each bracket is read with a bound, and a run of them once: the number of symbols looked at grows with the text.
func TestBracketsAreReadInLinearWork(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"brackets": "《", "spaced": "《  ", "half": "《DAT", "ascii": "<d", "references": "&lt;", "chain": "&amp;amp;amp;", "runs": "<<<< ",
	} {
		var look lookalike
		s := strings.Repeat(unit, 4096)
		ends := 0
		for i := 0; i < len(s); i++ {
			if s[i] != '<' && s[i] != '&' && !strings.HasPrefix(s[i:], "《") {
				continue
			}
			before := look.end
			look.markerAt(s, i)
			if look.end < before {
				t.Fatalf("%s: a run is read again", name)
			}
			ends++
		}
		if ends == 0 || !utf8.ValidString(s) {
			t.Fatalf("%s: nothing was read", name)
		}
	}
}
