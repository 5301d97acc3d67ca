package bedrock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/conformance/extractors"
)

func TestHostIsTheRegionsOrTheEndpoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ region, endpoint, want string }{
		{"eu-central-1", "", "bedrock-runtime.eu-central-1.amazonaws.com:443"},
		{"us-gov-west-1", "", "bedrock-runtime.us-gov-west-1.amazonaws.com:443"},
		{"cn-north-1", "", "bedrock-runtime.cn-north-1.amazonaws.com.cn:443"},
		{"eu-central-1", "https://VPCE-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com/", "vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com:443"},
		{"eu-central-1", "http://127.0.0.1:4566", "127.0.0.1:4566"},
		{"eu-central-1", "http://[::1]:4566", "[::1]:4566"},
	} {
		k := config(nil)
		k.Region, k.Endpoint = c.region, c.endpoint
		x, err := New(shapeOf(t), k)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got := extract.HostsOf(x); len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	for _, endpoint := range []string{
		"127.0.0.1:4566", "http://10.0.0.1:80", "http://localhost:4566", "http://127.0.0.1", "http://example.com:80", "ftp://example.com", "https:///a",
		"https://user@example.com", "https://example.com/path", "https://example.com?a", "https://example.com#", "http://[::1%25lo]:80", "https://exa mple.com",
	} {
		k := config(nil)
		k.Endpoint = endpoint
		if _, err := New(shapeOf(t), k); err == nil {
			t.Errorf("%s was taken", endpoint)
		}
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	hot := float32(1.5)
	for want, change := range map[string]func(*Config){
		"region":      func(c *Config) { c.Region = "Frankfurt" },
		"model":       func(c *Config) { c.Model = "" },
		"held":        func(c *Config) { c.Held = "" },
		"guardrail":   func(c *Config) { c.Guardrail.ID = "g1" },
		"max tokens":  func(c *Config) { c.MaxTokens = -1 },
		"temperature": func(c *Config) { c.Temperature = &hot },
		"times":       func(c *Config) { c.Times.Each = -1 },
		"prices":      func(c *Config) { c.Prices.Input = -1 },
		"projection":  func(c *Config) { c.Schema = shape.Provider{Name: "takes nothing optional"} },
		"endpoint":    func(c *Config) { c.Endpoint = "x" },
	} {
		c := config(nil)
		change(&c)
		if _, err := New(shapeOf(t), c); err == nil || !strings.Contains(err.Error(), want) {
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

// Credentials come from the environment alone, are signed with and not sent,
// and nothing is asked without them.
func TestCredentialsComeFromTheEnvironment(t *testing.T) {
	endpoint := &says{body: converse("end_turn", text(good))}
	x := made(t, config(extractors.Serve(t, endpoint)))
	if got := fmt.Sprintln(x.Name(), extract.EnvironmentOf(x)); got != "bedrock [AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN]\n" {
		t.Errorf("got %s", got)
	}
	if _, err := ask(t, x, prompt(t, fence.PlacementUser), ""); err != nil {
		t.Fatal(err)
	}
	r := endpoint.requests()[0]
	if auth := r.Header.Get("Authorization"); !strings.Contains(auth, "Credential=AKIDEXAMPLE/") || !strings.Contains(auth, "/eu-central-1/bedrock/aws4_request") || r.Header.Get("X-Amz-Security-Token") != "session" {
		t.Errorf("got %q", auth)
	}
	if all := fmt.Sprint(r.Header, endpoint.shown()); strings.Contains(all, extractors.Secret) {
		t.Error("the secret key was sent")
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	endpoint = &says{}
	if _, err := ask(t, made(t, config(extractors.Serve(t, endpoint))), prompt(t, fence.PlacementUser), ""); !errors.Is(err, errCredentials) || len(endpoint.requests()) > 0 {
		t.Errorf("without credentials: got %v after %d questions", err, len(endpoint.requests()))
	}
}

// The digest changes with whatever an answer depends on, and not with
// credentials, times or prices.
func TestDigestIsOfWhatAnswersDependOn(t *testing.T) {
	t.Parallel()
	cold := float32(0)
	base := made(t, config(nil)).Digest()
	seen := map[string]string{base: "base"}
	for name, change := range map[string]func(*Config){
		"region":      func(c *Config) { c.Region = "eu-west-1" },
		"endpoint":    func(c *Config) { c.Endpoint = "" },
		"model":       func(c *Config) { c.Model = "other" },
		"held":        func(c *Config) { c.Held = ByTool },
		"guardrail":   func(c *Config) { c.Guardrail = Guardrail{"g1", "1"} },
		"schema":      func(c *Config) { c.Schema = shape.Exact() },
		"max tokens":  func(c *Config) { c.MaxTokens = 5 },
		"temperature": func(c *Config) { c.Temperature = &cold },
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
	c.Cache, c.Prices.Input, c.Times.Each = true, 5, 1
	if made(t, c).Digest() != base {
		t.Error("the digest depends on the cache, the times or the prices")
	}
}
