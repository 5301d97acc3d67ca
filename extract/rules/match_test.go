package rules

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"decant.dev/fence"
)

// FuzzWords compares the automaton with a search word by word, over chunks' borders too.
func FuzzWords(f *testing.F) {
	f.Add("the crash crashes on start up", "crash*,crashes on,start,up,cras", uint16(0))
	f.Add("ui build-ui UI_x", "ui,build,build-ui", uint16(chunkBytes-3))
	f.Add("这是崩溃的", "崩溃,crash", uint16(chunkBytes-2))
	f.Add("aaa aa a", "a,aa,aaa,a*", uint16(1))
	f.Fuzz(func(t *testing.T, text, list string, pad uint16) {
		text = strings.Repeat(" .", int(pad)/2) + text
		words := slices.DeleteFunc(strings.Split(list, ","), func(w string) bool { word, _ := starred(w); return word == "" })
		if len(words) == 0 || len(words) > 16 || !utf8.ValidString(list) {
			t.Skip()
		}
		x := &Extractor{wants: Title, sources: []Source{{Origin: fence.OriginRecordField, Title: true}}}
		for i, w := range words {
			word, prefix := starred(w)
			// every other word is looked for elsewhere too, and so stands in another automaton
			x.leaves = append(x.leaves, leaf{where: Title | Prose*Where(i%2)})
			x.learn(word, use{i, prefix})
		}
		x.scan.hits, x.scan.tries = make([]hit, len(words)), make([]int, len(words))
		s := x.read([]fence.Element{{ID: "t", Origin: fence.OriginRecordField, Field: "title", Text: text}})
		for i, w := range words {
			want := naive(foldString(text), w)
			if got := s.hits[i]; got.ok != (want >= 0) || got.ok && got.from != want {
				t.Errorf("word %q in %q: got %v, want it at %d", w, text, got, want)
			}
		}
	})
}

// naive is the first match of a word by its definition, or -1.
func naive(text, word string) int {
	word, prefix := starred(word)
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i:i+len(word)] != word {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if (i == 0 || !bounded(first) || !isWord(before)) && (prefix || i+len(word) == len(text) || !bounded(last) || !isWord(after)) {
			return i
		}
	}
	return -1
}

func TestShareIsAChance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sums []int
		want []int
	}{
		{[]int{0, 0}, []int{50, 50}},
		{[]int{10, 0}, []int{66, 33}},
		{[]int{0, 0, 0, 0}, []int{25, 25, 25, 25}},
		{[]int{200, -200}, []int{100, 0}},
		{[]int{20, 10, 0}, []int{57, 28, 14}},
		{[]int{-5, -15}, []int{66, 33}},
		{[]int{1 << 30, -(1 << 30)}, []int{100, 0}},
	}
	for _, tt := range tests {
		for i, want := range tt.want {
			if got := share(tt.sums, i); got != want {
				t.Errorf("share(%v, %d) = %d, want %d", tt.sums, i, got, want)
			}
		}
	}
}
