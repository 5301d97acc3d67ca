package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestOriginIsHTTPSOrATestsLoopback(t *testing.T) {
	t.Parallel()
	for raw, c := range map[string]struct{ always, loopback bool }{
		"https://example.com":          {true, true},
		"https://example.com:8443/a/b": {true, true},
		"https://127.0.0.1:8443/":      {true, true},
		"http://127.0.0.1:8080/x":      {false, true},
		"http://[::1]:8080/x":          {false, true},
		"http://localhost/x":           {false, false}, // a name may lead anywhere
		"http://example.com/":          {false, false},
		"http://169.254.169.254/":      {false, false},
		"ftp://127.0.0.1/":             {false, false},
		"https://":                     {false, false},
		"https://u:p@example.com/":     {false, false},
		"https://example.com/?a=b":     {false, false},
		"https://example.com/#a":       {false, false},
		"https:example.com":            {false, false},
		"//example.com":                {false, false},
		"":                             {false, false},
		"https://exa mple.com/":        {false, false},
	} {
		for loopback, want := range map[bool]bool{false: c.always, true: c.loopback} {
			if u, err := Origin(raw, loopback); (err == nil) != want || (u == nil) == want {
				t.Errorf("%s, loopback %t: %v, %v: want taken: %t", raw, loopback, u, err, want)
			}
		}
	}
}

func request(t *testing.T, client *http.Client, to string, max int64) (*http.Response, *Call, error) {
	t.Helper()
	ctx, call := Begin(t.Context(), max)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Do(r)
	return a, call, err
}

func origin(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := Origin(raw, true)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A client asks its one host: no other host, no other port or scheme, and not
// where a redirect points.
func TestAClientAsksItsOneHost(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer other.Close()
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer own.Close()
	client := NewClient(nil, origin(t, own.URL))
	a, call, err := request(t, client, own.URL+"/x", 10)
	if err != nil || a.StatusCode != http.StatusTemporaryRedirect || !call.Begun() {
		t.Errorf("%v: want the redirect itself", err)
	}
	_ = a.Body.Close()
	for _, to := range []string{other.URL, strings.Replace(own.URL, "http:", "https:", 1)} {
		if _, call, err := request(t, client, to, 10); !errors.Is(err, errElsewhere) || call.Begun() {
			t.Errorf("%s: %v: want not asked", to, err)
		}
	}
	bare, err := http.NewRequestWithContext(t.Context(), http.MethodGet, own.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(bare); !errors.Is(err, errElsewhere) {
		t.Errorf("a request outside a call: %v", err)
	}
}

// What is known of a call: nothing was written before there was a connection,
// and anything may have been after.
func TestACallKnowsWhetherItBegan(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	if _, call, err := request(t, NewClient(nil, origin(t, closed.URL)), closed.URL, 1); err == nil || call.Begun() {
		t.Errorf("no connection: %v, begun %t", err, call.Begun())
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0") // where TLS was wanted
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	go func() {
		for c, err := plain.Accept(); err == nil; c, err = plain.Accept() {
			_, _ = io.WriteString(c, "zz9-marker\n")
			_ = c.Close()
		}
	}()
	to := "https://" + plain.Addr().String()
	if _, call, err := request(t, NewClient(nil, origin(t, to)), to, 1); err == nil || call.Begun() {
		t.Errorf("no TLS: %v, begun %t", err, call.Begun())
	}
	hangsUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangsUp.Close()
	if _, call, err := request(t, NewClient(nil, origin(t, hangsUp.URL)), hangsUp.URL, 1); err == nil || !call.Begun() {
		t.Errorf("hung up: %v, begun %t", err, call.Begun())
	}
	foreign := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("lost") })}
	if _, call, err := request(t, NewClient(foreign, origin(t, closed.URL)), closed.URL, 1); err == nil || !call.Begun() {
		t.Errorf("a transport that does not tell: %v, begun %t", err, call.Begun())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnAnswerEndsAtItsBound(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Path[1:])
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	}))
	defer server.Close()
	client := NewClient(nil, origin(t, server.URL))
	for n, ok := range map[int]bool{0: true, 99: true, 100: true, 101: false, 1 << 20: false} {
		a, _, err := request(t, client, server.URL+"/"+strconv.Itoa(n), 100)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		if (err == nil) != ok || ok && len(b) != n || len(b) > 100 {
			t.Errorf("%d bytes: %d, %v; want whole: %t", n, len(b), err, ok)
		}
		_ = a.Body.Close()
	}
}

func TestRetryAfterIsBoundedAndNeverNegative(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, "2147483647": MaxAfter,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
		now.AddDate(9, 0, 0).Format(http.TimeFormat):      MaxAfter,
	} {
		if d, ok := RetryAfter(http.Header{"Retry-After": {v}}, now); !ok || d != want {
			t.Errorf("%s: %s, %t: want %s", v, d, ok, want)
		}
	}
	for _, v := range []string{"", "-1", "1.5", "soon", "99999999999999999999", "+3"} {
		if d, ok := RetryAfter(http.Header{"Retry-After": {v}}, now); ok {
			t.Errorf("%q says %s", v, d)
		}
	}
}
