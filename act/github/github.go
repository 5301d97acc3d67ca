// Package github is the sink of issues on GitHub: it labels, comments, closes,
// assigns and puts into a milestone the one issue that the event named, and
// opens issues in a repository that the recipe names.
//
// GitHub takes no idempotency key, so each kind is found again by what it
// leaves. A comment and an issue bear a marker that only this sink can make. The others
// leave a state and an event: while the state stands the job was performed,
// and where neither the state nor an event of ours is there it never was.
// Where an event of ours is there and the state is not, a person has undone
// what this job or an earlier run of the recipe did, and nobody can say which:
// the sink answers Unsure rather than do it again.
//
// Not promised: that GitHub shows a write to who asks right after it. Act asks
// no sooner than act.Lease after the job was sent.
package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v82/github"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/act/internal/wire"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// Bounds of one call.
const (
	DefaultLimit  = 15 * time.Second
	maxSendAnswer = 2 << 20  // an issue with its whole body, written in escapes, is below 1 MiB
	maxFindAnswer = 16 << 20 // a page of comments, each of 65,536 characters written in escapes, is below 12 MiB
	commentsPage  = 30
	eventsPage    = 100
	// MaxPages is how many pages of comments or events Find reads, newest
	// first. Behind them nothing is known.
	MaxPages = 30
	// MaxComment is how many characters GitHub takes in a comment, our marker
	// included.
	MaxComment = 65_536
)

// The waits where GitHub names none: a minute at least after a secondary limit
// (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
const defaultWait = time.Minute

// Config is what the sink needs. Nothing in it is printed that must not be.
type Config struct {
	// Client is the way to GitHub; nil is one that asks no proxy. A transport
	// that is no *http.Transport cannot tell whether a request began, so that
	// its errors leave a job unknown.
	Client *http.Client
	// Base is the address of the API; empty is https://api.github.com/.
	Base string
	// Token gives a token that may write issues, and nothing else, in the
	// recipe's repositories. It is asked before each request.
	Token func(context.Context) (credential.Secret, error)
	// Identity lists the numeric user ids that the tokens act as. The first is
	// of today, and others are of credentials that were in use before.
	Identity []int64
	// Marker lists keys of at least 32 bytes, which comments are marked with.
	// The first marks; each finds.
	Marker []credential.Secret
	// Limit bounds one Send or Find; zero is DefaultLimit.
	Limit time.Duration
	// Clock is time.Now.
	Clock func() time.Time
	// Loopback takes http to a loopback address as Base, for tests.
	Loopback bool
}

// Sink performs the kinds of Kinds. It is safe for concurrent use.
type Sink struct {
	Config
	client *gh.Client
}

var _ act.Sink = (*Sink)(nil)

// Kinds lists the kinds that the sink performs.
func Kinds() []plan.Kind {
	return []plan.Kind{plan.KindGitHubAssign, plan.KindGitHubClose, plan.KindGitHubComment, plan.KindGitHubIssue, plan.KindGitHubLabel, plan.KindGitHubMilestone}
}

// New checks a configuration and makes its sink.
func New(c Config) (*Sink, error) {
	if c.Base == "" {
		c.Base = "https://api.github.com/"
	}
	base, err := wire.Origin(strings.TrimSuffix(c.Base, "/")+"/", c.Loopback)
	switch {
	case err != nil:
		return nil, fmt.Errorf("github: base: %w", err)
	case c.Token == nil:
		return nil, errors.New("github: want a source of tokens")
	case c.Clock == nil:
		return nil, errors.New("github: want a clock")
	case len(c.Identity) == 0 || len(c.Marker) == 0:
		return nil, errors.New("github: want at least one identity and one key for markers")
	case c.Limit < 0 || c.Limit > act.MaxSinkTime:
		return nil, fmt.Errorf("github: limit %s: want at most %s", c.Limit, act.MaxSinkTime)
	}
	for _, id := range c.Identity {
		if id < 1 {
			return nil, fmt.Errorf("github: identity %d: want the id of a user", id)
		}
	}
	for _, m := range c.Marker {
		if len(m.Reveal()) < 32 {
			return nil, fmt.Errorf("github: key for markers of %d bytes: want at least 32", len(m.Reveal()))
		}
	}
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	client := gh.NewClient(wire.NewClient(c.Client, base))
	client.BaseURL = base
	client.UserAgent = "decant"
	// The library would hold calls back by limits that it saw under another
	// token, and by a clock of its own. GitHub's answer to each is heeded.
	client.DisableRateLimitCheck = true
	return &Sink{Config: c, client: client}, nil
}

// Limit is how long one Send or Find takes at most.
func (s *Sink) Limit() time.Duration { return s.Config.Limit }

// Format prints that there is a sink, and nothing of its configuration.
func (s *Sink) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "github sink") }

// place is the issue that a job is about.
type place struct {
	owner, name string
	number      int
}

// placeOf reads a job's issue: from the verified target, never from a
// parameter. What opens an issue names the repository in its address, which is
// a constant of the recipe's list.
func placeOf(j act.Job) (place, bool) {
	if repository, _ := j.Params["repository"].(string); j.Kind == plan.KindGitHubIssue {
		owner, name, _ := strings.Cut(repository, "/")
		return place{owner: owner, name: name}, pipeline.IsRepository(repository)
	}
	owner, name, _ := strings.Cut(j.Target.Repository, "/")
	issue, _ := j.Params["issue"].(string)
	if !pipeline.IsRepository(j.Target.Repository) || j.Target.Number < 1 || j.Target.Number > 1<<31-1 || issue != j.Target.String() {
		return place{}, false
	}
	return place{owner, name, int(j.Target.Number)}, true
}

// deed is how one kind is sent and found.
type deed interface {
	// send makes the one request, and says what it left; an empty word is that
	// the answer does not show it.
	send(ctx context.Context, s *Sink, at place) (word, remote string, err error)
	// find asks what became of it.
	find(ctx context.Context, s *Sink, at place) (act.Answer, error)
}

// deedOf reads a job's parameters.
func deedOf(j act.Job) (deed, bool) {
	text := func(name string) string { v, _ := j.Params[name].(string); return v }
	switch j.Kind {
	case plan.KindGitHubLabel:
		return label(text("label")), text("label") != ""
	case plan.KindGitHubAssign:
		return assign(text("login")), text("login") != ""
	case plan.KindGitHubClose:
		reason := text("reason")
		return closing(reason), reason == "completed" || reason == "not_planned"
	case plan.KindGitHubMilestone:
		n, _ := j.Params["number"].(int64)
		return milestone(n), n > 0 && n <= 1<<31-1
	case plan.KindGitHubIssue:
		o := opening{text("title"), text("body"), j.Key}
		return o, o.valid()
	case plan.KindGitHubComment:
		return comment{text("body"), j.Key}, strings.TrimSpace(text("body")) != "" && len(j.Key) == 32
	default:
		return nil, false
	}
}

// Send makes the one request of a job.
func (s *Sink) Send(ctx context.Context, j act.Job) act.Answer {
	at, d, refused := s.read(j)
	if refused.Verdict != act.Unsure {
		return refused
	}
	ctx, call, done, a := s.begin(ctx, maxSendAnswer)
	defer done()
	if a.Verdict != act.Unsure {
		return a
	}
	word, remote, err := d.send(ctx, s, at)
	switch {
	case errors.Is(err, errNotAssignable):
		return act.Answer{Verdict: act.Rejected, Word: "not_assignable"}
	case err != nil:
		return s.judge(err, call.Begun())
	case word == "":
		return act.Answer{} // 2xx and nothing that shows it
	default:
		return act.Answer{Verdict: act.Performed, Word: word, Remote: remote}
	}
}

// Find asks what became of a job that was sent.
func (s *Sink) Find(ctx context.Context, j act.Job) act.Answer {
	at, d, refused := s.read(j)
	if refused.Verdict != act.Unsure {
		return refused
	}
	ctx, _, done, a := s.begin(ctx, maxFindAnswer)
	defer done()
	if a.Verdict != act.Unsure {
		return act.Answer{} // a token that is lacking says nothing of the job
	}
	a, err := d.find(ctx, s, at)
	if err != nil {
		return act.Answer{} // also where the issue is gone: the job may have come before
	}
	return a
}

// read reads a job, and refuses what no request could perform. Such a job was
// never sent.
func (s *Sink) read(j act.Job) (place, deed, act.Answer) {
	at, ok := placeOf(j)
	if !ok {
		return at, nil, act.Answer{Verdict: act.Rejected, Word: "no_issue"}
	}
	d, ok := deedOf(j)
	if c, is := d.(comment); is && ok && len([]rune(s.marked(c))) > MaxComment {
		return at, nil, act.Answer{Verdict: act.Rejected, Word: "too_long"}
	}
	if o, is := d.(opening); is && ok && (len([]rune(s.marked(comment{o.body, o.key}))) > MaxComment || len([]rune(o.title)) > maxTitle) {
		return at, nil, act.Answer{Verdict: act.Rejected, Word: "too_long"}
	}
	if !ok {
		return at, nil, act.Answer{Verdict: act.Rejected, Word: "bad_parameters"}
	}
	return at, d, act.Answer{}
}

type tokenKey struct{}

// begin makes the context of one call within the limit, and gets its token.
func (s *Sink) begin(ctx context.Context, max int64) (context.Context, *wire.Call, func(), act.Answer) {
	ctx, cancel := context.WithTimeout(ctx, s.Config.Limit)
	token, err := s.Token(ctx)
	if err != nil || token.Empty() {
		return ctx, nil, cancel, act.Answer{Verdict: act.NotPerformed, Word: "no_token", After: defaultWait}
	}
	ctx, call := wire.Begin(context.WithValue(ctx, tokenKey{}, token), max)
	return ctx, call, cancel, act.Answer{}
}

// do makes a request below an issue, and reads its whole answer into v.
func (s *Sink) do(ctx context.Context, method, path string, body, v any) (*gh.Response, error) {
	r, err := s.client.NewRequest(method, path, body)
	if err != nil {
		return nil, err
	}
	token, _ := ctx.Value(tokenKey{}).(credential.Secret)
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	var b bytes.Buffer
	a, err := s.client.Do(ctx, r, &b)
	if err == nil {
		err = json.Unmarshal(b.Bytes(), v) // of an empty answer too, which the library lets pass
	}
	return a, err
}

func (p place) path(below string) string {
	return fmt.Sprintf("repos/%s/%s/issues/%d%s", p.owner, p.name, p.number, below)
}
