package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"decant.dev/extract"
	"decant.dev/extract/internal/attempt"
	"decant.dev/extract/shape"
)

// Dialect says which names an endpoint gives to the parts of a request. The
// zero Dialect is none.
type Dialect string

// The dialects.
const (
	Hosted     Dialect = "hosted"     // OpenAI's own: max_completion_tokens
	Compatible Dialect = "compatible" // Ollama, llama.cpp, vLLM and others: max_tokens
)

// Config is one model of one endpoint, and how it is asked.
type Config struct {
	BaseURL string  // "https://api.openai.com/v1", "http://127.0.0.1:11434/v1"; see New
	Model   string  // the endpoint's name of it, 1 to 256 visible characters of ASCII
	Dialect Dialect // Hosted or Compatible

	// KeyVariable names the environment variable that holds the key, which is
	// read at each question and given by the engine to the extract phase alone.
	// Key is another way to it. At most one of them; none sends no key.
	KeyVariable string
	Key         func(context.Context) (Key, error)

	// Schema is what the endpoint takes of JSON Schema; the zero value is
	// shape.OpenAI. shape.Exact is for an endpoint that builds its grammar from
	// the whole schema.
	Schema shape.Provider

	MaxTokens   int            // most tokens of an answer, reasoning included, 1 to 65536; 0 is DefaultMaxTokens
	Temperature *float64       // 0 to 2; nil leaves it to the endpoint, since some models refuse it
	Times       Times          // of a question; zero are the defaults
	Prices      extract.Prices // zero: none known

	// Client makes the requests; nil is one that reaches the endpoint's host
	// and no other. Its transport is used, its other settings are not.
	Client *http.Client
}

// Times bound one question: Each an attempt, to the last byte of its answer,
// by default 40 s; Total all three and the waits between, by default 50 s, at
// most 10 minutes. A run asks at most two questions, and its engine gives the
// extract phase 120 s for both.
type Times = attempt.Times

// DefaultMaxTokens is room for a structure of some thousand characters.
const DefaultMaxTokens = 4096

const (
	maxMaxTokens   = 65536
	maxTemperature = 2
)

var (
	modelForm    = regexp.MustCompile(`^[!-~]{1,256}$`)
	variableForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,127}$`)
)

// complete puts the defaults in and reports all that is out of bounds. It
// quotes no URL, since one that is refused may hold a secret.
func (c Config) complete() (Config, base, error) {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("openai: "+format, args...))
		}
	}
	at, err := parseBase(c.BaseURL)
	fault(err == nil, "base URL: %w", err)
	fault(modelForm.MatchString(c.Model), "model: want 1 to 256 visible characters of ASCII, got %d bytes", len(c.Model))
	fault(c.Dialect == Hosted || c.Dialect == Compatible, "dialect: want %q or %q, got %.64q", Hosted, Compatible, c.Dialect)
	fault(c.KeyVariable == "" || variableForm.MatchString(c.KeyVariable), "key variable: want %s, got %d bytes", variableForm, len(c.KeyVariable))
	fault(c.KeyVariable == "" || c.Key == nil, "want KeyVariable or Key, got both")
	if c.Schema == (shape.Provider{}) {
		c.Schema = shape.OpenAI()
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = DefaultMaxTokens
	}
	fault(c.MaxTokens >= 1 && c.MaxTokens <= maxMaxTokens, "max tokens: want 1 to %d, got %d", maxMaxTokens, c.MaxTokens)
	fault(c.Temperature == nil || *c.Temperature >= 0 && *c.Temperature <= maxTemperature, "temperature: want 0 to %d", maxTemperature)
	if c.Times, err = c.Times.Complete(); err != nil {
		fault(false, "%w", err)
	}
	if err := c.Prices.Check(); err != nil {
		fault(false, "%w", err)
	}
	return c, at, errors.Join(faults...)
}

// base is a checked base URL.
type base struct {
	url  string // without a slash at its end
	host string // "host:port", as extract.Reaching has it
}

// parseBase takes https to any host, and http to an address of this machine,
// as numbers or as localhost; with no user, query or fragment.
func parseBase(s string) (base, error) {
	u, err := url.Parse(s)
	if err != nil || len(s) > 1024 || u.Opaque != "" || u.Hostname() == "" {
		return base{}, errors.New(`want "https://host/path", or http to this machine`)
	}
	switch {
	case u.User != nil:
		return base{}, errors.New("want no user and no password in it")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(s, "#"):
		return base{}, errors.New("want no query and no fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return base{}, errors.New("want https, or http to this machine alone")
	}
	port := u.Port()
	if port == "" {
		if port = "443"; u.Scheme == "http" {
			port = "80"
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strings.HasSuffix(u.Host, ":") {
		return base{}, errors.New("want a port from 1 to 65535")
	}
	return base{strings.TrimRight(u.String(), "/"), net.JoinHostPort(strings.ToLower(u.Hostname()), port)}, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback() && addr.Zone() == ""
}

// key finds the key, the zero one where none is configured.
func (c Config) key(ctx context.Context) (Key, error) {
	switch {
	case c.Key != nil:
		k, err := c.Key(ctx)
		if err != nil || k == (Key{}) {
			return Key{}, errors.New("openai: the key cannot be had")
		}
		return k, nil
	case c.KeyVariable != "":
		s, _ := os.LookupEnv(c.KeyVariable)
		k, err := ParseKey(s)
		if err != nil {
			return Key{}, fmt.Errorf("openai: %s: %w", c.KeyVariable, err)
		}
		return k, nil
	default:
		return Key{}, nil
	}
}

// Key is what an endpoint knows its customer by. It never prints. The zero
// value is none.
type Key struct{ secret string }

const maxKey = 4096

// ParseKey takes 1 to 4096 visible characters of ASCII.
func ParseKey(s string) (Key, error) {
	if s == "" || len(s) > maxKey || strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' }) {
		return Key{}, fmt.Errorf("key: want 1 to %d visible characters of ASCII, got %d bytes", maxKey, len(s))
	}
	return Key{s}, nil
}

// Format prints "key", for every verb.
func (Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, "key") }

// MarshalText refuses: a key is written nowhere.
func (Key) MarshalText() ([]byte, error) { return nil, errors.New("openai: a key is not written") }

func (k Key) show(h http.Header) {
	if k.secret != "" {
		h.Set("Authorization", "Bearer "+k.secret)
	}
}
