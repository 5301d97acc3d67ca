package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/act/github"
	"decant.dev/act/plan"
	"decant.dev/act/queue"
	"decant.dev/act/webhook"
)

// Sinks is what the kinds need that are performed outside of act's own tables.
// A kind that has nothing here is staged, also by a live engine. Only the act
// child is given it; it reaches the hosts that are named here, and no other.
type Sinks struct {
	GitHub       GitHubSink
	Queues       string                 // directory of queues, each a file of JSON lines; empty: none
	Destinations map[string]Destination // of webhooks, by the name that recipes have for them
}

// GitHubSink is how issues are written on GitHub. Without a Token none is.
type GitHubSink struct {
	API      string // address of the API; empty is https://api.github.com/
	Token    credential.Secret
	Identity []int64             // user ids that the token acts as, that of today first; they start no run
	Marker   []credential.Secret // keys of at least 32 bytes that comments are marked with, that of today first
}

// Destination is where one webhook goes.
type Destination struct {
	URL        string              // https, or http to an address of this machine
	Secrets    []credential.Secret // whsec_…, one, or two while they are rotated
	Idempotent bool                // the receiver performs each webhook-id once
}

// sinksConfig is Sinks as the act child is told of it, over its input and not
// its environment, which outlives the need.
type sinksConfig struct {
	GitHub       *githubConfig                `json:"github,omitzero"`
	Queues       string                       `json:"queues,omitzero"`
	Destinations map[string]destinationConfig `json:"destinations,omitzero"`
}

type githubConfig struct {
	API      string   `json:"api"`
	Token    string   `json:"token"`
	Identity []int64  `json:"identity"`
	Marker   []string `json:"marker"`
}

type destinationConfig struct {
	URL        string   `json:"url"`
	Secrets    []string `json:"secrets"`
	Idempotent bool     `json:"idempotent,omitzero"`
}

// githubAPI is where GitHub's API is.
const githubAPI = "https://api.github.com/"

// config turns Sinks into what the child is told.
func (s Sinks) config() sinksConfig {
	var c sinksConfig
	if g := s.GitHub; !g.Token.Empty() {
		c.GitHub = &githubConfig{API: g.API, Token: g.Token.Reveal(), Identity: g.Identity, Marker: reveal(g.Marker)}
		if c.GitHub.API == "" {
			c.GitHub.API = githubAPI
		}
	}
	c.Queues = s.Queues
	for name, d := range s.Destinations {
		if c.Destinations == nil {
			c.Destinations = map[string]destinationConfig{}
		}
		c.Destinations[name] = destinationConfig{URL: d.URL, Secrets: reveal(d.Secrets), Idempotent: d.Idempotent}
	}
	return c
}

func reveal(secrets []credential.Secret) []string {
	out := make([]string, len(secrets))
	for i, s := range secrets {
		out[i] = s.Reveal()
	}
	return out
}

// own lists the identities that the sinks write with.
func (s Sinks) own() []string {
	var ids []string
	if !s.GitHub.Token.Empty() {
		for _, id := range s.GitHub.Identity {
			ids = append(ids, "github:"+strconv.FormatInt(id, 10))
		}
	}
	return ids
}

// hosts lists the "host:port" that the sinks reach.
func (c sinksConfig) hosts() ([]string, error) {
	var at []string
	if c.GitHub != nil {
		at = append(at, c.GitHub.API)
	}
	for _, d := range c.Destinations {
		at = append(at, d.URL)
	}
	var hosts []string
	for _, a := range at {
		u, err := url.Parse(a)
		if err != nil || u.Hostname() == "" {
			return nil, errors.New("sinks: want each address a URL with a host")
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
		}
		if h := net.JoinHostPort(strings.ToLower(u.Hostname()), port); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	slices.Sort(hosts)
	return hosts, nil
}

// open makes the sinks. No error holds a secret.
func (c sinksConfig) open(client *http.Client) (map[plan.Kind]act.Sink, error) {
	sinks := map[plan.Kind]act.Sink{}
	if g := c.GitHub; g != nil {
		token := credential.New(g.Token)
		s, err := github.New(github.Config{
			Client: client, Base: g.API, Identity: g.Identity, Marker: secretsOf(g.Marker), Clock: time.Now, Loopback: true,
			Token: func(context.Context) (credential.Secret, error) { return token, nil },
		})
		if err != nil {
			return nil, err
		}
		for _, kind := range github.Kinds() {
			sinks[kind] = s
		}
	}
	if c.Queues != "" {
		s, err := queue.Open(c.Queues)
		if err != nil {
			return nil, err
		}
		sinks[plan.KindQueueSend] = s
	}
	if len(c.Destinations) > 0 {
		to := map[string]webhook.Destination{}
		for name, d := range c.Destinations {
			to[name] = webhook.Destination{URL: d.URL, Secrets: secretsOf(d.Secrets), Idempotent: d.Idempotent}
		}
		s, err := webhook.New(webhook.Config{Destinations: to, Client: client, Clock: time.Now, Loopback: true})
		if err != nil {
			return nil, err
		}
		sinks[plan.KindWebhookPost] = s
	}
	return sinks, nil
}

func secretsOf(secrets []string) []credential.Secret {
	out := make([]credential.Secret, len(secrets))
	for i, s := range secrets {
		out[i] = credential.New(s)
	}
	return out
}

// wait is how act waits before it sends once more.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepareSinks checks the sinks of a live engine before a child is started, and
// answers what the act child is told and where it may go.
func (e *Engine) prepareSinks() (c sinksConfig, hosts []string, err error) {
	if !e.config.Live {
		return c, nil, nil
	}
	c = e.config.Sinks.config()
	if c.Queues != "" {
		if c.Queues, err = filepath.Abs(c.Queues); err == nil {
			c.Queues, err = filepath.EvalSymlinks(c.Queues)
		}
		if err != nil {
			return c, nil, fmt.Errorf("directory of queues: %w", err)
		}
	}
	if hosts, err = c.hosts(); err != nil {
		return c, nil, err
	}
	sinks, err := c.open(nil)
	if s, ok := sinks[plan.KindQueueSend].(*queue.Sink); ok {
		err = errors.Join(err, s.Close())
	}
	return c, hosts, err
}
