package shape

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestSkeletonsAreCountedAndDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		if s.SkeletonCount().BitLen() > 13 {
			return
		}
		seen := map[string]bool{}
		s.Skeletons(func(k Skeleton) bool {
			dst := reflect.New(s.Type()).Elem()
			h, err := s.LiftSkeletonInto(k, dst)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range h.All() {
				if _, ok := h.Content(x); ok {
					t.Fatal("a skeleton has content")
				}
			}
			key := fmt.Sprintf("%v", flatten(dst))
			if seen[key] {
				t.Fatalf("twice: %s", key)
			}
			seen[key] = true
			return true
		})
		if int64(len(seen)) != s.SkeletonCount().Int64() {
			t.Errorf("want %d skeletons, got %d", s.SkeletonCount(), len(seen))
		}
		v := s.Sample(rng(rapid.Uint64().Draw(t, "seed")))
		if x, _ := lift(t, s, v); !seen[fmt.Sprintf("%v", flatten(reflect.ValueOf(x)))] {
			t.Errorf("the skeleton of a value is not among all skeletons: %+v", x)
		}
	})
}

// flatten prints through pointers.
func flatten(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return "-"
	case v.Kind() == reflect.Pointer:
		return flatten(v.Elem())
	case v.Kind() == reflect.Slice:
		out := []any{}
		for i := range v.Len() {
			out = append(out, flatten(v.Index(i)))
		}
		return out
	case v.Kind() == reflect.Struct && handleKind(v.Type()) == 0:
		out := []any{}
		for i := range v.NumField() {
			out = append(out, flatten(v.Field(i)))
		}
		return out
	default:
		return v.Interface()
	}
}

func TestSkeletonsStopWhenAsked(t *testing.T) {
	t.Parallel()
	for _, s := range []*Shape{must[triage](t), must[report](t)} {
		for _, stop := range []int{1, 2, 777} {
			n := 0
			s.Skeletons(func(Skeleton) bool { n++; return n < stop })
			if n != stop {
				t.Errorf("want %d, got %d", stop, n)
			}
		}
	}
}

func ExampleShape_Skeletons() {
	type order struct {
		Wish   string `json:"wish" jsonschema:"enum=refund,enum=status"`
		Number *Token `json:"number,omitempty" jsonschema:"pattern=^[A-Z]{3}-[0-9]{4}$"`
	}
	s, _ := Of[order]()
	for k := range s.Skeletons {
		fmt.Println(k)
	}
	fmt.Println(Skeleton{})
	// Output:
	// {"wish":"refund"}
	// {"wish":"status"}
	// {"number":"","wish":"refund"}
	// {"number":"","wish":"status"}
	// no skeleton
}

func TestSkeletonsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	s := must[triage](t)
	list := func() (out []triage) {
		s.Skeletons(func(k Skeleton) bool {
			x, _, err := LiftSkeleton[triage](s, k)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
			return true
		})
		return out
	}
	if a, b := list(), list(); !reflect.DeepEqual(a, b) || len(a) != 3584 {
		t.Errorf("the order is not fixed, or %d are not 3584", len(a))
	}
}
