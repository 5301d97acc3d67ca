// Package web fetches documents over HTTP from a network that is hostile: from
// declared hosts, over https, within bounds of size and time that hold
// whatever a server answers.
//
// The client that an engine gives fetch dials declared hosts alone, and judges
// each address as it connects, on every hop. This package holds what stands
// above the connection: redirects, sizes on the wire and decoded, times,
// conditional requests, waits that a server asks for, encodings and charsets.
//
// Not promised: that a document says what its publisher meant. One that ends
// early is known for it by its Content-Length, its chunks or its gzip trailer,
// and not otherwise.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"decant.dev/pipeline"
)

// Limits bound one Get. A zero field has the default that stands beside it.
type Limits struct {
	Wire      int64         // bytes of a body as they arrive: 5 MiB
	Decoded   int64         // bytes of a body after gzip and as UTF-8: 5 MiB
	Redirects int           // hops beyond the first: 3, and a negative number is none
	Head      time.Duration // from a request to the end of its headers: 15 s
	Idle      time.Duration // between two reads of a body: 15 s
	Whole     time.Duration // all of a Get, with its waits and redirects: 60 s
	Gap       time.Duration // between two requests of a client: 250 ms
}

const (
	maxURL       = 2 << 10        // bytes of an address
	maxValidator = 1 << 10        // bytes of a validator
	minWait      = time.Second    // that is asked for, at least
	maxWait      = 24 * time.Hour // and at most
	defaultWait  = time.Minute    // where a server asks to wait and does not say how long
	userAgent    = "decant (+https://decant.dev)"
)

func (l Limits) complete() Limits {
	l.Wire, l.Decoded = positive(l.Wire, 5<<20), positive(l.Decoded, 5<<20)
	l.Head, l.Idle, l.Whole = positive(l.Head, 15*time.Second), positive(l.Idle, 15*time.Second), positive(l.Whole, time.Minute)
	l.Gap = positive(l.Gap, 250*time.Millisecond)
	if l.Redirects == 0 {
		l.Redirects = 3
	}
	return l
}

func positive[T ~int64](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// Validators are what a server gave to ask with later. One that is longer than
// 1 KiB or not of printable ASCII is left out.
type Validators struct {
	ETag         string `json:"etag,omitzero"`
	LastModified string `json:"last_modified,omitzero"`
}

// Page is one document.
type Page struct {
	Fresh bool // false where nothing has changed since Validators: Body is empty
	// Body is decoded. That of a text type is UTF-8, whatever it was, and an XML
	// declaration in it says so.
	Body       []byte
	Replaced   int        // how many characters of Body stand for bytes that were none in its charset
	MediaType  string     // type/subtype in lower case; empty where the server said none
	Validators Validators // to ask with next; what a 304 leaves out stays as it was
	URL        *url.URL   // where it was found, after redirects
	Next       *url.URL   // the Link of relation next, or nil; Get checks it as any other
}

// BusyError is a server's wish to be asked later. It wraps a pipeline.Fault of
// SourceBusy.
type BusyError struct {
	After time.Duration // 1 s to 24 h
	fault error
}

// Error says how long the server wants to be left alone.
func (e *BusyError) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *BusyError) Unwrap() error { return e.fault }

// Client fetches one document at a time. It keeps no cookies, sends no
// credentials and no Referer. It is safe for concurrent use; requests wait for
// each other.
type Client struct {
	http   http.Client
	hosts  []string
	limits Limits

	mu   sync.Mutex
	last time.Time // when the last request was made
}

// New makes a client that reaches hosts, each "host:port", through h's
// transport, which must be one that judges addresses.
func New(h *http.Client, hosts []string, l Limits) (*Client, error) {
	if h == nil || h.Transport == nil {
		return nil, errors.New("web: want a client with a transport of its own")
	}
	c := &Client{hosts: slices.Clone(hosts), limits: l.complete()}
	c.http.Transport = h.Transport
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Get fetches a document, or learns that it is as it was when v was given.
// Its errors are faults of these codes, none of which repeats what a server
// sent: SourceUnreachable where there is no connection, no answer in time or a
// status of 500 and above; SourceRefused for an address that is not declared,
// not public or not https, for more redirects than allowed and for a status of
// 400 and above; SourceBusy, as a BusyError; SourceTooLarge; and
// SourceMalformed for a length, an encoding or a charset that is not what it
// says it is, and for a status that makes no sense.
func (c *Client) Get(ctx context.Context, at string, v Validators) (Page, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, c.limits.Whole)
	defer cancel()
	u, err := c.parse(at)
	for hop := 0; err == nil; hop++ {
		var p Page
		var to string
		if p, to, err = c.ask(ctx, u, v.sound()); err != nil || to == "" {
			return p, err
		}
		if hop >= c.limits.Redirects {
			return Page{}, pipeline.SourceRefused.Error("want at most %d redirects", max(c.limits.Redirects, 0))
		}
		u, err = c.follow(u, to)
	}
	return Page{}, err
}

// parse reads an address and checks it.
func (c *Client) parse(at string) (*url.URL, error) {
	if len(at) > maxURL {
		return nil, pipeline.SourceRefused.Error("address of %d bytes: want at most %d", len(at), maxURL)
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, pipeline.SourceRefused.Error("address of %d bytes: want a URL", len(at))
	}
	return u, c.check(u)
}

// follow reads where a redirect leads.
func (c *Client) follow(from *url.URL, to string) (*url.URL, error) {
	if len(to) > maxURL {
		return nil, pipeline.SourceRefused.Error("redirect to an address of %d bytes: want at most %d", len(to), maxURL)
	}
	u, err := from.Parse(to)
	if err != nil {
		return nil, pipeline.SourceRefused.Error("redirect to an address of %d bytes: want a URL", len(to))
	}
	return u, c.check(u)
}

// check holds an address to https, a declared host and no credentials. What it
// connects to is the transport's to judge.
func (c *Client) check(u *url.URL) error {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	switch {
	case u.Scheme != "https" || u.Opaque != "":
		return pipeline.SourceRefused.Error("want an address of https")
	case u.User != nil:
		return pipeline.SourceRefused.Error("want an address without credentials")
	case !slices.Contains(c.hosts, net.JoinHostPort(strings.ToLower(u.Hostname()), port)):
		return pipeline.SourceRefused.Error("want a declared host and port")
	}
	return nil
}

// ask makes one request. It answers a page, or where a redirect leads.
func (c *Client) ask(ctx context.Context, u *url.URL, v Validators) (p Page, to string, err error) {
	if err := c.wait(ctx); err != nil {
		return Page{}, "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, "", pipeline.SourceRefused.Error("want an address that can be asked for")
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept-Encoding", "gzip") // set by hand, so that the size on the wire is seen
	if v.ETag != "" {
		r.Header.Set("If-None-Match", v.ETag)
	}
	if v.LastModified != "" {
		r.Header.Set("If-Modified-Since", v.LastModified)
	}
	limit := time.AfterFunc(c.limits.Head, cancel)
	a, err := c.http.Do(r)
	limit.Stop()
	if err != nil {
		return Page{}, "", refusedOr(err)
	}
	defer a.Body.Close()
	switch status := a.StatusCode; {
	case status == http.StatusOK:
		p, err = c.read(a, cancel)
		return p, "", err
	case status == http.StatusNotModified && v != Validators{}:
		return Page{Validators: validatorsOf(a.Header).or(v), URL: u}, "", nil
	case slices.Contains(redirects, status):
		if to = a.Header.Get("Location"); to == "" {
			return Page{}, "", pipeline.SourceMalformed.Error("status %d without a Location", status)
		}
		return Page{}, to, nil
	default:
		return Page{}, "", failed(status, a.Header)
	}
}

var redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}

// wait keeps requests apart.
func (c *Client) wait(ctx context.Context) error {
	if gap := c.limits.Gap - time.Since(c.last); !c.last.IsZero() && gap > 0 {
		select {
		case <-time.After(gap):
		case <-ctx.Done():
			return pipeline.SourceUnreachable.Error("no time was left to ask")
		}
	}
	c.last = time.Now()
	return nil
}

// refusedOr tells an address that the transport refused from a network that
// does not answer. The error itself may hold an address that a server named.
func refusedOr(err error) error {
	var judged interface{ Refused() bool }
	if errors.As(err, &judged) && judged.Refused() {
		return pipeline.SourceRefused.Error("want a declared host at an address of the public internet")
	}
	return pipeline.SourceUnreachable.Error("no answer: no connection, no good certificate, or not in time")
}

// failed is the error of a status that is no success.
func failed(status int, h http.Header) error {
	after, said := retryAfter(h.Get("Retry-After"), time.Now())
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && said:
		return &BusyError{after, pipeline.SourceBusy.Error("status %d: ask again in %s", status, after)}
	case status >= 500:
		return pipeline.SourceUnreachable.Error("status %d", status)
	case status >= 400:
		return pipeline.SourceRefused.Error("status %d", status)
	default:
		return pipeline.SourceMalformed.Error("status %d: want 200", status)
	}
}

// retryAfter reads a Retry-After of either form (RFC 9110, section 10.2.3), and
// reports whether there was one.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	wait := defaultWait
	at, err := http.ParseTime(value)
	seconds, notSeconds := strconv.ParseUint(value, 10, 64)
	switch {
	case notSeconds == nil:
		wait = time.Duration(min(seconds, uint64(maxWait/time.Second))) * time.Second
	case errors.Is(notSeconds, strconv.ErrRange):
		wait = maxWait
	case err == nil:
		wait = at.Sub(now)
	default:
		return defaultWait, false
	}
	return min(max(wait, minWait), maxWait), true
}

// read reads a body within its limits of time and size.
func (c *Client) read(a *http.Response, cancel context.CancelFunc) (Page, error) {
	if a.ContentLength > c.limits.Wire {
		return Page{}, pipeline.SourceTooLarge.Error("body of %d bytes: want at most %d", a.ContentLength, c.limits.Wire)
	}
	idle := time.AfterFunc(c.limits.Idle, cancel)
	defer idle.Stop()
	wire := &wireReader{from: a.Body, left: c.limits.Wire + 1, read: func() { idle.Reset(c.limits.Idle) }}
	body, err := decode(wire, a.Header.Values("Content-Encoding"), c.limits.Decoded)
	switch {
	case wire.left <= 0:
		return Page{}, pipeline.SourceTooLarge.Error("more than %d bytes on the wire", c.limits.Wire)
	case a.Request.Context().Err() != nil:
		return Page{}, pipeline.SourceUnreachable.Error("a body that did not come in time")
	case err != nil:
		return Page{}, err
	}
	kind, parameters, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		kind = ""
	}
	p := Page{Fresh: true, MediaType: kind, Validators: validatorsOf(a.Header), URL: a.Request.URL, Next: next(a.Request.URL, a.Header.Values("Link"))}
	if p.Body, p.Replaced, err = toUTF8(body, kind, parameters["charset"]); err != nil {
		return Page{}, err
	}
	if int64(len(p.Body)) > c.limits.Decoded {
		return Page{}, pipeline.SourceTooLarge.Error("more than %d bytes decoded", c.limits.Decoded)
	}
	return p, nil
}

// wireReader counts what arrives, and tells of each read.
type wireReader struct {
	from io.Reader
	left int64
	read func()
	err  error // how the body ended, if not at its end
}

func (r *wireReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.read()
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// validatorsOf reads the validators of an answer.
func validatorsOf(h http.Header) Validators {
	return Validators{h.Get("ETag"), h.Get("Last-Modified")}.sound()
}

// sound leaves out what may not be sent.
func (v Validators) sound() Validators {
	for _, s := range []*string{&v.ETag, &v.LastModified} {
		if len(*s) > maxValidator || strings.ContainsFunc(*s, func(r rune) bool { return r < ' ' || r > '~' }) {
			*s = ""
		}
	}
	return v
}

// or fills in what a 304 leaves out, which must send what would have changed
// (RFC 9110, section 15.4.5).
func (v Validators) or(before Validators) Validators {
	if v.ETag == "" {
		v.ETag = before.ETag
	}
	if v.LastModified == "" {
		v.LastModified = before.LastModified
	}
	return v
}

// String names the sizes only: a validator is the server's text.
func (v Validators) String() string {
	return fmt.Sprintf("validators of %d and %d bytes", len(v.ETag), len(v.LastModified))
}
