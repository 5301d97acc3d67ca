package approval

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

func linkOf(t *testing.T) (LinkKey, Link, string, url.Values) {
	t.Helper()
	key, _, err := NewLinkKey()
	if err != nil {
		t.Fatal(err)
	}
	l := Link{run, strings.Repeat("ab", 32), approver, noon.Add(time.Hour)}
	u, err := url.Parse(key.Path(l))
	if err != nil || !strings.HasPrefix(u.Path, LinkPath) {
		t.Fatalf("%s: %v", u, err)
	}
	return key, l, strings.TrimPrefix(u.Path, LinkPath), u.Query()
}

func TestALinkSaysWhatItWasMadeFor(t *testing.T) {
	t.Parallel()
	key, l, of, q := linkOf(t)
	if got, err := key.Verify(of, q, noon); err != nil || got != l {
		t.Errorf("got %+v, %v; want %+v", got, err, l)
	}
	if _, err := key.Verify(of, q, l.Expires); !errors.Is(err, ErrOld) {
		t.Errorf("at its end: %v", err)
	}
	other, _, err := NewLinkKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]LinkKey{"another key": other, "no key": {}} {
		if _, err := k.Verify(of, q, noon); !errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever is changed of a link, each byte of each part, it is forged.
func TestAChangedLinkIsForged(t *testing.T) {
	t.Parallel()
	key, _, of, whole := linkOf(t)
	forged := func(name, of string, change func(url.Values)) {
		t.Helper()
		q := url.Values{}
		for k, v := range whole {
			q[k] = append([]string(nil), v...)
		}
		change(q)
		if l, err := key.Verify(of, q, noon); !errors.Is(err, ErrForged) || l != (Link{}) {
			t.Errorf("%s: got %+v, %v", name, l, err)
		}
	}
	for i := range of {
		forged("run", of[:i]+"x"+of[i+1:], func(url.Values) {})
	}
	forged("another run", strings.Repeat("0", 32), func(url.Values) {})
	for name := range whole {
		value := whole.Get(name)
		for i := range value {
			for _, c := range []string{"", "0", "1", "A", "%", "\n"} {
				if changed := value[:i] + c + value[i+1:]; changed != value {
					forged(fmt.Sprintf("%s, byte %d", name, i), of, func(q url.Values) { q.Set(name, changed) })
				}
			}
		}
		forged("no "+name, of, func(q url.Values) { q.Del(name) })
		forged(name+" twice", of, func(q url.Values) { q.Add(name, value) })
	}
}

func TestAKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	key, b, err := NewLinkKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		if got := fmt.Sprintf(verb, key); got != "link key" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if again, err := ParseLinkKey(b); err != nil || !strings.HasPrefix(again.Path(Link{}), LinkPath) {
		t.Errorf("got %v", err)
	}
	if _, err := ParseLinkKey(b[1:]); err == nil {
		t.Error("a short key was taken")
	}
}
