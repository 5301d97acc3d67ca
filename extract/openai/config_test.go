package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/conformance/extractors"
)

func TestBaseURLIsHTTPSOrThisMachine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://api.openai.com/v1":       "api.openai.com:443",
		"https://API.openai.com/v1/":      "api.openai.com:443",
		"https://models.example.com:8443": "models.example.com:8443",
		"http://127.0.0.1:11434/v1":       "127.0.0.1:11434",
		"http://127.0.0.1/v1":             "127.0.0.1:80",
		"http://[::1]:8080/v1":            "[::1]:8080",
		"http://localhost:8080/v1":        "localhost:8080",
		"https://10.0.0.5/v1":             "10.0.0.5:443",
	} {
		b, err := parseBase(in)
		if err != nil || b.host != want || strings.HasSuffix(b.url, "/") {
			t.Errorf("%s: got %+v, %v; want host %s", in, b, err, want)
		}
	}
	for _, in := range []string{
		"", "api.openai.com/v1", "//api.openai.com/v1", "https:///v1", "https:api", "ftp://api.openai.com", "file:///etc/passwd",
		"http://api.openai.com/v1", "http://10.0.0.5/v1", "http://127.0.0.1.example.com/", "http://localhost.example.com/", "http://0.0.0.0/", "http://2130706433/",
		"https://user@api.openai.com/", "https://user:" + extractors.Secret + "@api.openai.com/", "https://@api.openai.com/",
		"https://api.openai.com/v1?key=" + extractors.Secret, "https://api.openai.com/v1?", "https://api.openai.com/v1#a", "https://api.openai.com/v1#",
		"https://api.openai.com:/v1", "https://api.openai.com:0/", "https://api.openai.com:70000/", "https://api.openai.com:x/",
		"http://[::1%25lo]/v1", "https://exa mple.com/", "https://example.com/\n", "https://" + strings.Repeat("a", 1024) + ".example.com",
	} {
		b, err := parseBase(in)
		if err == nil {
			t.Errorf("%q was taken: %+v", in, b)
		} else if strings.Contains(err.Error(), extractors.Secret) {
			t.Errorf("the error repeats the URL: %v", err)
		}
	}
}

// Whatever URL is taken, no request goes over http to another machine, and
// none carries a user, a query or a fragment.
func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{"https://api.openai.com/v1", "http://127.0.0.1:11434/v1", "http://[::1]/", "https://a@b/", "http://localhost%00.example.com/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := parseBase(s)
		if err != nil {
			return
		}
		r, err := http.NewRequest(http.MethodPost, b.url+"/chat/completions", nil)
		if err != nil {
			t.Skip() // a host that no client dials
		}
		u := r.URL
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" || !strings.HasSuffix(u.Path, "/chat/completions") ||
			u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) || !strings.HasPrefix(b.host, strings.ToLower(strings.Trim(u.Hostname(), "[]"))) && !strings.HasPrefix(b.host, "[") {
			t.Errorf("%q: a request to %s, host %s", s, u, b.host)
		}
	})
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	one := func(n float64) *float64 { return &n }
	for want, change := range map[string]func(*Config){
		"base URL":     func(c *Config) { c.BaseURL = "http://example.com" },
		"model":        func(c *Config) { c.Model = "a b" },
		"dialect":      func(c *Config) { c.Dialect = "" },
		"key variable": func(c *Config) { c.KeyVariable = "sk-" + extractors.Secret },
		"got both":     func(c *Config) { c.KeyVariable, c.Key = "A", func(context.Context) (Key, error) { return Key{}, nil } },
		"max tokens":   func(c *Config) { c.MaxTokens = 1 << 20 },
		"temperature":  func(c *Config) { c.Temperature = one(math.NaN()) },
		"times":        func(c *Config) { c.Times.Total = -1 },
		"prices":       func(c *Config) { c.Prices.Output = -1 },
		"projection":   func(c *Config) { c.Schema = shape.Provider{Name: "takes nothing optional"} },
	} {
		c := config(nil)
		change(&c)
		_, err := New(shapeOf(t), c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), extractors.Secret) {
			t.Errorf("%s: got %v", want, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: Must did not panic", want)
				}
			}()
			Must(shapeOf(t), c)
		}()
	}
	if _, err := New(nil, config(nil)); err == nil {
		t.Error("no shape was taken")
	}
	if _, err := New(shapeOf(t), Config{}); strings.Count(fmt.Sprint(err), "\n") < 2 {
		t.Errorf("want all faults at once, got %v", err)
	}
}

// The key goes into one header, and is printed and written nowhere.
func TestKeyIsShownToTheEndpointAlone(t *testing.T) {
	key, err := ParseKey("sk-" + extractors.Secret)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DECANT_TEST_KEY", "sk-"+extractors.Secret)
	for name, change := range map[string]func(*Config){
		"variable": func(c *Config) { c.KeyVariable = "DECANT_TEST_KEY" },
		"function": func(c *Config) { c.Key = func(context.Context) (Key, error) { return key, nil } },
	} {
		endpoint := &says{status: 401}
		c := config(extractors.Serve(t, endpoint))
		change(&c)
		x := made(t, c)
		_, err := ask(t, x, prompt(t, fence.PlacementUser), "")
		if got := endpoint.requests()[0].Header.Get("Authorization"); got != "Bearer sk-"+extractors.Secret {
			t.Errorf("%s: the endpoint was shown %d bytes", name, len(got))
		}
		if all := fmt.Sprintf("%v %+v %s %v", err, x, x.Digest(), endpoint.shown()); strings.Contains(all, extractors.Secret) {
			t.Errorf("%s: the key came out: %s", name, all)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{key, &key, struct{ K Key }{key}, []Key{key}} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, extractors.Secret) || strings.Contains(s, fmt.Sprintf("%x", extractors.Secret)) {
				t.Errorf("%s prints the key: %s", verb, s)
			}
		}
	}
	if b, err := json.Marshal(key); err == nil {
		t.Errorf("the key was written: %s", b)
	}
}

// Where a key is configured and cannot be had, nothing is asked.
func TestMissingKeyAsksNothing(t *testing.T) {
	t.Setenv("DECANT_TEST_BAD", "two words "+extractors.Secret)
	for name, change := range map[string]func(*Config){
		"unset":     func(c *Config) { c.KeyVariable = "DECANT_TEST_UNSET" },
		"malformed": func(c *Config) { c.KeyVariable = "DECANT_TEST_BAD" },
		"error": func(c *Config) {
			c.Key = func(context.Context) (Key, error) { return Key{}, errors.New(extractors.Secret) }
		},
		"zero": func(c *Config) { c.Key = func(context.Context) (Key, error) { return Key{}, nil } },
	} {
		endpoint := &says{body: completed(good, "stop")}
		c := config(extractors.Serve(t, endpoint))
		change(&c)
		_, err := ask(t, made(t, c), prompt(t, fence.PlacementUser), "")
		if err == nil || len(endpoint.requests()) > 0 || strings.Contains(err.Error(), extractors.Secret) {
			t.Errorf("%s: got %v after %d questions", name, err, len(endpoint.requests()))
		}
	}
}

// The engine learns where the endpoint is and which variable holds the key.
func TestNeedsAreDeclared(t *testing.T) {
	t.Parallel()
	c := config(nil)
	c.KeyVariable = "MODEL_KEY"
	x := made(t, c)
	if got := fmt.Sprintln(x.Name(), extract.HostsOf(x), extract.EnvironmentOf(x)); got != "openai [127.0.0.1:11434] [MODEL_KEY]\n" {
		t.Errorf("got %s", got)
	}
	if got := extract.EnvironmentOf(made(t, config(nil))); got != nil {
		t.Errorf("without a key: got %v", got)
	}
}

// The digest changes with whatever an answer depends on, and not with the key,
// the times or the prices.
func TestDigestIsOfWhatAnswersDependOn(t *testing.T) {
	t.Parallel()
	one := 1.0
	base := made(t, config(nil)).Digest()
	seen := map[string]string{base: "base"}
	for name, change := range map[string]func(*Config){
		"url":         func(c *Config) { c.BaseURL = "http://127.0.0.1:11435/v1" },
		"model":       func(c *Config) { c.Model = "other" },
		"dialect":     func(c *Config) { c.Dialect = Hosted },
		"schema":      func(c *Config) { c.Schema = shape.Exact() },
		"max tokens":  func(c *Config) { c.MaxTokens = 5 },
		"temperature": func(c *Config) { c.Temperature = &one },
	} {
		c := config(nil)
		change(&c)
		d := made(t, c).Digest()
		if seen[d] != "" {
			t.Errorf("%s: the digest of %s", name, seen[d])
		}
		seen[d] = name
	}
	c := config(nil)
	c.KeyVariable, c.Prices.Input, c.Times.Each = "MODEL_KEY", 5, 1
	if made(t, c).Digest() != base {
		t.Error("the digest depends on the key, the times or the prices")
	}
}
