package learned

import (
	"fmt"
	"strings"
	"testing"
)

// kinds is a shape with each kind of choice, and with what is none.
type kinds struct {
	Word  string `json:"word" jsonschema:"enum=a \"quoted\" one,enum=b"`
	Yes   bool   `json:"yes"`
	Small int    `json:"small" jsonschema:"minimum=-1,maximum=1"`
	Wide  int    `json:"wide" jsonschema:"minimum=0,maximum=64"`
	One   string `json:"one" jsonschema:"enum=only"`
	Many  []kind `json:"many" jsonschema:"maxItems=2"`
}

type kind struct {
	Inner string `json:"inner" jsonschema:"enum=x,enum=y"`
}

func TestEachKindOfChoiceIsSpeltAsAColumnAndAsJSON(t *testing.T) {
	t.Parallel()
	s := shapeOf[kinds](t)
	for name, want := range map[string]string{
		"word": `[a "quoted" one b] "a \"quoted\" one" "b"`, "yes": "[false true] false true", "small": "[-1 0 1] -1 0 1",
	} {
		c, err := choiceOf(s, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprint(c.labels)
		for i := range c.labels {
			got += " " + string(c.raw(i))
		}
		if got != want {
			t.Errorf("%s: want %s, got %s", name, want, got)
		}
	}
	for _, name := range []string{"wide", "one", "many", "inner", "", "nosuch"} {
		if _, err := choiceOf(s, name); err == nil {
			t.Errorf("%q: want an error", name)
		}
	}
}

func TestDigestTellsChoicesApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, labels := range [][]string{{"a", "b"}, {"b", "a"}, {"a", "b", "c"}, {"ab"}, {"a b"}, {`a" "b`}, {}} {
		d := digestOf(labels)
		if was, ok := seen[d]; ok {
			t.Errorf("%q has the digest of %s", labels, was)
		}
		seen[d] = fmt.Sprintf("%q", labels)
	}
}

func TestListedIsShort(t *testing.T) {
	t.Parallel()
	long := make([]string, MaxChoices)
	for i := range long {
		long[i] = strings.Repeat("x", MaxName)
	}
	if got := listed(long); len(got) > 16*72 || !strings.HasSuffix(got, " and 48 more") {
		t.Errorf("got %d bytes", len(got))
	}
}
