package fence

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestCutFallsOnTheLastGraphemeBoundary(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", " ", "\n", "\r\n", "é", "e\u0301\u0301", "خ", "\u200c", "क्\u200dष", "中", "👨‍👩‍👧‍👦", "🇮🇷", "🇮", "\u0600", "각", "ᄀ", "\xff", "ｶﾞ", "ﾞ"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "text"), "")
		limit := rapid.IntRange(0, len(s)+2).Draw(t, "limit")
		want, at := 0, 0
		for g := uniseg.NewGraphemes(s); g.Next(); {
			if at += len(g.Str()); at <= limit {
				want = at
			}
		}
		if got := cut(s, limit); got != want {
			t.Fatalf("cut %q at %d: got %d, want %d", s, limit, got, want)
		}
	})
}

func contextOf(l Limits, sizes ...int) RunContext {
	c := validContext()
	c.Limits, c.Elements = l, nil
	for i, n := range sizes {
		c.Elements = append(c.Elements, element("e"+string(rune('0'+i)), strings.Repeat("x", n)))
	}
	return c
}

func TestLimitsAreExactAtTheBoundaryByte(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		limits    Limits
		sizes     []int
		included  string
		truncated []Cut
		dropped   string
	}{
		{"all fit", Limits{10, 30}, []int{10, 10, 10}, "e0 e1 e2", nil, ""},
		{"one byte over in sum", Limits{10, 29}, []int{10, 10, 10}, "e0 e1 e2", []Cut{{"e0", 1}}, ""},
		{"one byte left", Limits{10, 21}, []int{10, 10, 10}, "e0 e1 e2", []Cut{{"e0", 9}}, ""},
		{"no byte left", Limits{10, 20}, []int{10, 10, 10}, "e1 e2", nil, "e0"},
		{"one byte over in one", Limits{9, 30}, []int{10, 9, 9}, "e0 e1 e2", []Cut{{"e0", 1}}, ""},
		{"oldest first", Limits{10, 15}, []int{10, 10, 10}, "e1 e2", []Cut{{"e1", 5}}, "e0"},
		{"newest alone", Limits{10, 3}, []int{10, 10, 10}, "e2", []Cut{{"e2", 7}}, "e0 e1"},
		{"cut before counted", Limits{5, 15}, []int{50, 50, 50}, "e0 e1 e2", []Cut{{"e0", 45}, {"e1", 45}, {"e2", 45}}, ""},
		{"small and old is not kept instead", Limits{10, 10}, []int{1, 5, 8}, "e1 e2", []Cut{{"e1", 3}}, "e0"},
		{"empty costs nothing", Limits{10, 10}, []int{0, 10}, "e0 e1", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := mustRender(t, contextOf(tc.limits, tc.sizes...))
			if got := strings.Join(p.Included(), " "); got != tc.included {
				t.Errorf("included %q, want %q", got, tc.included)
			}
			if got := strings.Join(p.Dropped(), " "); got != tc.dropped {
				t.Errorf("dropped %q, want %q", got, tc.dropped)
			}
			if got := p.Truncated(); len(got) != len(tc.truncated) {
				t.Errorf("truncated %v, want %v", got, tc.truncated)
			} else {
				for i := range got {
					if got[i] != tc.truncated[i] {
						t.Errorf("truncated %v, want %v", got, tc.truncated)
					}
				}
			}
			for i, want := range tc.truncated {
				if strings.Count(p.Data(), " truncated="+itoa(want.Bytes)) == 0 {
					t.Errorf("cut %d is not shown in a header", i)
				}
			}
			if shown := strings.Contains(p.Data(), "left out from the oldest on: "); shown != (tc.dropped != "") {
				t.Error("want a line that counts what is left out, just where something is")
			}
		})
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}

func TestNamesAreBoundedToo(t *testing.T) {
	t.Parallel()
	c := contextOf(Limits{1000, 1000}, 500, 500)
	c.Elements[1].Author.Name = strings.Repeat("n", 256)
	if p := mustRender(t, c); len(p.Truncated())+len(p.Dropped()) != 0 {
		t.Error("want a name of 256 bytes free")
	}
	c.Elements[1].Author.Name += "n"
	if p := mustRender(t, c); len(p.Truncated()) != 1 {
		t.Error("want the byte over 256 counted")
	}
	c.Limits.MessageMaxBytes, c.Elements[1].Author.Name = 1, strings.Repeat("n", 256)
	if p := mustRender(t, c); strings.Contains(p.Data(), "author name truncated") {
		t.Error("want a short name whole under the smallest limit")
	}
	c.Limits.MessageMaxBytes = 1000
	c.Elements[1].Author.Name = strings.Repeat("n", 1<<20)
	if p := mustRender(t, c); !strings.Contains(p.Data(), "author name truncated=1048320: ") {
		t.Error("want the cut of a name shown")
	}
	if p := mustRender(t, c); len(p.Data()) > 8000 {
		t.Errorf("a name of a mebibyte makes data of %d bytes", len(p.Data()))
	}
}

func TestWhatFetchLeftOutIsShown(t *testing.T) {
	t.Parallel()
	c := contextOf(Limits{6, 100}, 10)
	c.Elements[0].TruncatedBytes = 100
	p := mustRender(t, c)
	if got := p.Truncated(); len(got) != 1 || got[0].Bytes != 104 || !strings.Contains(p.Data(), " truncated=104\n") {
		t.Errorf("got %v, want the sum of both", got)
	}
}
