package pipeline

import (
	"slices"
	"strings"
	"testing"
)

func TestGrantIsOfAnActorOnAChannel(t *testing.T) {
	t.Parallel()
	for _, good := range []Grant{{"github:1", "github:octo-org/sample"}, {"mail:ann+x@example.com", "mail:inbox@example.com"}} {
		if err := good.Check(); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []Grant{
		{}, {"zz9", "github:a/b"}, {"github:", "github:a/b"}, {"github:zz9/1", "github:a/b"}, {"github:1", "zz9"}, {"github:1", "github:zz9 b"},
		{"github:1", "github:" + strings.Repeat("a", 161)}, {"github:" + strings.Repeat("1", 65), "github:a/b"}, {"GitHub:1", "github:a/b"}, {"github:zz9\n", "github:a/b"},
	} {
		if err := bad.Check(); err == nil || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestGrantsAreSortedByChannelAndOnce(t *testing.T) {
	t.Parallel()
	a, b, c := Grant{"github:2", "github:a/a"}, Grant{"github:3", "github:a/a"}, Grant{"github:1", "github:b/b"}
	if got := SortGrants([]Grant{c, b, a, c, a}); !slices.Equal(got, []Grant{a, b, c}) {
		t.Errorf("got %v", got)
	}
}
