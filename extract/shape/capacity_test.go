package shape

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// distinct decodes every candidate and counts the distinct canonical documents of those that are accepted.
func distinct(s *Shape, candidates func(yield func(string))) int {
	seen := map[string]bool{}
	candidates(func(doc string) {
		if v, err := s.Decode([]byte(doc)); err == nil {
			seen[string(v.Encode())] = true
		}
	})
	return len(seen)
}

// lists yields every list of up to n items.
func lists(items []string, n int, yield func(string)) {
	var grow func(prefix []string)
	grow = func(prefix []string) {
		yield("[" + strings.Join(prefix, ",") + "]")
		if len(prefix) == n {
			return
		}
		for _, x := range items {
			grow(append(prefix[:len(prefix):len(prefix)], x))
		}
	}
	grow(nil)
}

func TestCountEqualsTheDocumentsOfAnExhaustiveSearch(t *testing.T) {
	t.Parallel()
	labels := []string{`"a"`, `"b"`, `"c"`, `"d"`}
	type inner struct {
		X string `json:"x" jsonschema:"enum=a,enum=b"`
		Y *bool  `json:"y,omitempty"`
	}
	objects := []string{`{}`, `{"y":true}`, `{"x":"a"}`, `{"x":"b"}`, `{"x":"a","y":true}`, `{"y":true,"x":"a"}`, `{"x":"a","y":false}`, `{"x":"b","y":true}`, `{"x":"b","y":false}`, `{"x":"c"}`}
	for _, c := range []struct {
		name  string
		shape *Shape
		want  int
		docs  func(yield func(string))
	}{
		{"set", must[struct {
			L []string `json:"l" jsonschema:"maxItems=2,uniqueItems=true,enum=a,enum=b,enum=c"`
		}](t), 1 + 3 + 3, func(y func(string)) { lists(labels, 3, func(l string) { y(`{"l":` + l + `}`) }) }},
		{"list", must[struct {
			L []string `json:"l" jsonschema:"minItems=1,maxItems=3,enum=a,enum=b,enum=c"`
		}](t), 3 + 9 + 27, func(y func(string)) { lists(labels, 4, func(l string) { y(`{"l":` + l + `}`) }) }},
		{"optional set", must[struct {
			L *[]string `json:"l,omitempty" jsonschema:"maxItems=2,uniqueItems=true,enum=a,enum=b,enum=c"`
		}](t), 8, func(y func(string)) { y(`{}`); lists(labels, 2, func(l string) { y(`{"l":` + l + `}`) }) }},
		{"integers", must[struct {
			N int `json:"n" jsonschema:"minimum=-3,maximum=7"`
		}](t), 11, func(y func(string)) {
			for n := -20; n < 20; n++ {
				y(fmt.Sprintf(`{"n":%d}`, n))
			}
		}},
		{"objects in a list", must[struct {
			L []inner `json:"l" jsonschema:"maxItems=2"`
		}](t), 1 + 6 + 36, func(y func(string)) { lists(objects, 3, func(l string) { y(`{"l":` + l + `}`) }) }},
		{"optional object", must[struct {
			O *inner `json:"o,omitempty"`
		}](t), 7, func(y func(string)) {
			y(`{}`)
			for _, o := range objects {
				y(`{"o":` + o + `}`)
			}
		}},
		{"texts of a small alphabet", must[struct {
			T Text `json:"t" jsonschema:"pattern=^[ab ]{0\\,9}$,minLength=1,maxLength=3"`
		}](t), 3 + 9 + 27, func(y func(string)) {
			var grow func(s string)
			grow = func(s string) {
				y(`{"t":"` + s + `"}`)
				if len(s) < 4 {
					for _, c := range "ab c" {
						grow(s + string(c))
					}
				}
			}
			grow("")
		}},
		{"a text of the whole alphabet", must[struct {
			T Text `json:"t" jsonschema:"maxLength=1"`
		}](t), 1 + 1111791, func(y func(string)) {
			y(`{"t":""}`)
			for r := rune(0); r <= 0x10FFFF; r++ {
				if r < 0x20 {
					y(fmt.Sprintf(`{"t":"\u%04x"}`, r))
				} else {
					y(`{"t":"` + map[bool]string{true: `\`}[r == '"' || r == '\\'] + string(r) + `"}`)
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := distinct(c.shape, c.docs)
			// string(r) of a surrogate is U+FFFD, which the alphabet has: it is found once.
			if got := c.shape.Count(); got.Cmp(big.NewInt(int64(c.want))) != 0 || found != c.want {
				t.Errorf("want %d values, counted %d, found %d", c.want, got, found)
			}
		})
	}
}

func TestCountsOfTheIssue(t *testing.T) {
	t.Parallel()
	p := must[struct {
		A Token `json:"a" jsonschema:"pattern=^[A-Z]{3}-[0-9]{4}$"`
	}](t)
	if p.Count().Int64() != 175760000 || fmt.Sprintf("%.2f", p.Bits(0).Total) != "27.39" {
		t.Errorf("pattern: got %d, %.2f bits", p.Count(), p.Bits(0).Total)
	}
	l := must[struct {
		A []area `json:"a" jsonschema:"maxItems=3,uniqueItems=true"`
	}](t)
	if l.Count().Int64() != 176 || l.Bits(0).Carry != 0 {
		t.Errorf("set: got %d", l.Count())
	}
}

func TestFieldsMultiplyToTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		p := big.NewInt(1)
		for _, f := range s.Fields() {
			if f.Kind.String() == "invalid" || f.Name == "" {
				t.Fatalf("field without name or kind: %+v", f)
			}
			if !strings.ContainsAny(f.Name, ".[") {
				p.Mul(p, f.Values)
			}
		}
		if p.Cmp(s.Count()) != 0 {
			t.Errorf("want %d, got %d", s.Count(), p)
		}
	})
}

func TestDecideAndCarryBoundTheTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		most := s.SkeletonCount()
		if most.Mul(most, s.Fillings()).Cmp(s.Count()) < 0 {
			t.Error("the skeletons times the largest filling are fewer than the values")
		}
		if s.Fillings().Cmp(s.Count()) > 0 || s.SkeletonCount().Cmp(s.Count()) > 0 {
			t.Error("a part is more than the whole")
		}
		if b := s.Bits(3); b.Decide != Log2(new(big.Int).Add(s.SkeletonCount(), big.NewInt(3))) {
			t.Error("terminal codes are not counted")
		}
	})
}

func TestLog2(t *testing.T) {
	t.Parallel()
	for _, k := range []uint{0, 1, 64, 3214, 300000} {
		if got := Log2(new(big.Int).Lsh(big.NewInt(1), k)); got != float64(k) {
			t.Errorf("want %d, got %v", k, got)
		}
	}
	if !math.IsInf(Log2(new(big.Int)), -1) {
		t.Error("the logarithm of nothing is a number")
	}
}

func TestSeriesEqualTheirSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(0, 6).Draw(t, "lo")
		hi := lo + rapid.IntRange(-1, 6).Draw(t, "more")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		pow, sub := new(big.Int), new(big.Int)
		for k := lo; k <= hi; k++ {
			pow.Add(pow, new(big.Int).Exp(big.NewInt(int64(n)), big.NewInt(int64(k)), nil))
			sub.Add(sub, new(big.Int).Binomial(int64(n), int64(k)))
		}
		if got := powers(big.NewInt(int64(n)), lo, hi); got.Cmp(pow) != 0 {
			t.Errorf("powers of %d from %d to %d: want %d, got %d", n, lo, hi, pow, got)
		}
		if got := subsets(n, lo, min(hi, n)); got.Cmp(sub) != 0 {
			t.Errorf("subsets of %d from %d to %d: want %d, got %d", n, lo, hi, sub, got)
		}
	})
}
