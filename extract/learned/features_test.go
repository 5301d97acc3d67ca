package learned

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// most bounds the features of one text: each rune starts at most five features of the title's, fewer elsewhere.
const most = 16*MaxTitle + 16*MaxBody + 64

func checkDocument(tb testing.TB, r *reader, d *document) {
	tb.Helper()
	if len(d.entries) > most {
		tb.Errorf("%d features, want at most %d", len(d.entries), most)
	}
	if slices.ContainsFunc(r.counts, func(n uint8) bool { return n != 0 }) {
		tb.Error("a count stays for the next text")
	}
	last := uint32(0)
	for s, end := range d.ends {
		if end < last || int(end) > len(d.entries) {
			tb.Fatalf("space %d ends at %d after %d", s, end, last)
		}
		seen := map[uint32]bool{}
		for _, e := range d.entries[last:end] {
			if e>>8 >= buckets || e&0xff == 0 || seen[e>>8] {
				tb.Fatalf("space %d: entry %x", s, e)
			}
			seen[e>>8] = true
		}
		last = end
	}
	if int(last) != len(d.entries) {
		tb.Errorf("entries beyond the last space")
	}
}

var hostile = map[string]string{
	"repeated word": strings.Repeat("crash ", 12_000),
	"one word":      strings.Repeat("a", 64<<10),
	"letters apart": strings.Repeat("a b c d ", 8<<10),
	"no letters":    strings.Repeat("\x00\xff", 32<<10),
	"cut runes":     strings.Repeat("\xe6\x97", 32<<10),
	"marks":         strings.Repeat("?![:", 16<<10),
	"line feeds":    strings.Repeat("\n", 64<<10),
	"headings":      strings.Repeat("# a\nb\n", 10<<10),
	"fences":        strings.Repeat("```\n", 16<<10),
	"quotes":        strings.Repeat("> a\n", 16<<10),
	"questions":     strings.Repeat("a? ", 20<<10),
	"han":           strings.Repeat("字", 20<<10),
	"combining":     "a" + strings.Repeat("\u0301", 30<<10),
	"colons":        strings.Repeat("x9@x.x wrote:\n", 4<<10),
}

func TestHostileTextsCostNoMoreThanTheirBound(t *testing.T) {
	t.Parallel()
	r := &reader{}
	m := smallModel(t)
	for name, text := range hostile {
		d := r.read(content{Title: text, Body: text, Group: text})
		checkDocument(t, r, d)
		if cap(r.runes) > 8*(MaxTitle+MaxBody) || cap(r.body) > 4*MaxBody {
			t.Errorf("%s: the reader holds %d runes and %d tokens", name, cap(r.runes), cap(r.body))
		}
		for _, p := range m.predict(r, m.textOf(titled(text, text).Elements)) {
			if !(p.chance > 0 && p.chance <= 1) || p.confidence < 0 || p.confidence > 100 {
				t.Errorf("%s: chance %v", name, p.chance)
			}
		}
	}
}

// A word that is said ten thousand times weighs less than six that are said once.
func TestRepeatingAWordGainsLittle(t *testing.T) {
	t.Parallel()
	if got := damped[255]; got > 7 {
		t.Errorf("a count of 255 weighs %v, want at most 7", got)
	}
	for n := 2; n < len(damped); n++ {
		if damped[n] <= damped[n-1] {
			t.Fatalf("a count of %d weighs no more than %d", n, n-1)
		}
	}
	if damped[0] != 0 || damped[1] != 1 {
		t.Errorf("got %v and %v", damped[0], damped[1])
	}
	// Each space is of one length, however much is in it.
	r := &reader{}
	all := slices.Repeat([]uint8{16}, buckets)
	for name, text := range hostile {
		cells := appendCells(nil, r.read(content{Title: text, Body: text}), all, nil)
		sum, want := 0.0, biasValue*biasValue
		for _, c := range cells {
			sum += float64(c.value) * float64(c.value)
		}
		for _, w := range weights {
			want += float64(w) * float64(w)
		}
		if sum > want+1e-3 || math.IsNaN(sum) {
			t.Errorf("%s: squared length %v, want at most %v", name, sum, want)
		}
	}
}

// A group that training did not have changes nothing, whatever it is named.
func TestAnUnknownGroupIsNoGroup(t *testing.T) {
	t.Parallel()
	m, r := smallModel(t), &reader{}
	ask := func(group string) []prediction {
		return m.predict(r, content{Title: "crash of the lamp", Body: "the lamp broken on level2", Group: group})
	}
	none := ask("")
	for _, group := range []string{"North", "north ", "octo-org/sample", "\xff", strings.Repeat("n", 1<<20)} {
		if got := ask(group); !reflect.DeepEqual(got, none) {
			t.Errorf("%.20q: got %v, want %v", group, got, none)
		}
	}
	if reflect.DeepEqual(ask("north"), none) {
		t.Error("a known group has no weights of its own")
	}
}

func TestSpacesAreApart(t *testing.T) {
	t.Parallel()
	r := &reader{}
	in := func(t content, s space) []uint32 {
		d := r.read(t)
		from := uint32(0)
		if s > 0 {
			from = d.ends[s-1]
		}
		return slices.Clone(d.entries[from:d.ends[s]])
	}
	for name, tc := range map[string]struct {
		a, b content
		s    space
		same bool
	}{
		"case folds":                    {content{Title: "Crash ÄRGER"}, content{Title: "crash ärger"}, titleWords, true},
		"numbers are alike":             {content{Title: "crash 12"}, content{Title: "crash 4711"}, titleWords, true},
		"order counts":                  {content{Title: "a b c"}, content{Title: "c b a"}, titleWords, false},
		"typographic apostrophe":        {content{Title: "doesn’t"}, content{Title: "doesn't"}, titleWords, true},
		"code is no opening":            {content{Body: "one\n\n```\ntwo\n```\n"}, content{Body: "one\n\n```\nthree\n```\n"}, openingWords, true},
		"comments are no opening":       {content{Body: "one\n\n<!-- two -->\n"}, content{Body: "one\n\n<!-- three -->\n"}, openingWords, true},
		"headings are no opening":       {content{Body: "# two\n\none"}, content{Body: "# three\n\none"}, openingWords, true},
		"headings":                      {content{Body: "# two\n\none"}, content{Body: "# three\n\none"}, headings, false},
		"the answer to a heading":       {content{Body: "# type\n\nbug\n"}, content{Body: "# type\n\nfeature\n"}, answers, false},
		"a long answer is none":         {content{Body: "# type\n\n" + strings.Repeat("bug ", 40)}, content{Body: "# type\n\n" + strings.Repeat("wish ", 40)}, answers, true},
		"sentences that do not ask":     {content{Body: "why?\nit broke."}, content{Body: "why?\nit works."}, questions, true},
		"sentences that ask":            {content{Body: "it broke. why so?"}, content{Body: "it broke. how so?"}, questions, false},
		"beyond the opening":            {content{Body: strings.Repeat("word ", 120) + "a"}, content{Body: strings.Repeat("word ", 120) + "b"}, openingWords, true},
		"title that asks":               {content{Title: "crash"}, content{Title: "crash?"}, structure, false},
		"a body's words are no title's": {content{Title: "x", Body: "a"}, content{Title: "x", Body: "b"}, titleWords, true},
	} {
		if got := slices.Equal(in(tc.a, tc.s), in(tc.b, tc.s)); got != tc.same {
			t.Errorf("%s: same features: want %v, got %v", name, tc.same, got)
		}
	}
}

func FuzzReadText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text[:40], text[:200])
	}
	f.Add("Title: one?", "# Heading\n\nanswer\n\nText with `code` and https://example.com. Why?\n\n```\nTraceback\n```\n- [ ] box\n")
	r := &reader{}
	f.Fuzz(func(t *testing.T, title, body string) {
		d := r.read(content{Title: title, Body: body})
		checkDocument(t, r, d)
		again := (&reader{}).read(content{Title: title, Body: body})
		if !slices.Equal(d.entries, again.entries) || d.ends != again.ends {
			t.Error("a used reader reads otherwise than a new one")
		}
	})
}
