package reach

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestOnlyDeclaredHostsAreDialled(t *testing.T) {
	t.Parallel()
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(other.Close)
	declared := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	}))
	t.Cleanup(declared.Close)
	anywhere := func(netip.AddrPort) bool { return true }
	c := client([]string{strings.TrimPrefix(declared.URL, "http://")}, anywhere)
	if a, err := c.Get(declared.URL); err != nil || a.Body.Close() != nil {
		t.Errorf("the declared host: %v", err)
	}
	for _, url := range []string{other.URL, declared.URL + "/away"} {
		if _, err := c.Get(url); !errors.Is(err, errHost) {
			t.Errorf("another host: got %v, want it refused", err)
		}
	}
	if _, err := client(nil, anywhere).Get(declared.URL); !errors.Is(err, errHost) {
		t.Errorf("without hosts: got %v, want it refused", err)
	}
	if asked != 0 {
		t.Errorf("another host was asked %d times", asked)
	}
}

// A declared name that leads to this machine, or to its network, is refused
// as it is connected to.
func TestDeclaredHostAtAnAddressOfOursIsRefused(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "[::ffff:127.0.0.1]:" + port, "169.254.169.254:80", "[64:ff9b::a9fe:a9fe]:80", "100.64.0.1:80"} {
		if _, err := Client([]string{host}).Get("http://" + host); !errors.Is(err, errAddress) {
			t.Errorf("%s: got %v, want its address refused", host, err)
		}
	}
	if asked != 0 {
		t.Errorf("this machine was asked %d times", asked)
	}
}

func TestNoProxyIsFollowed(t *testing.T) {
	t.Parallel()
	if Client(nil).Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy of the environment would be followed")
	}
}
