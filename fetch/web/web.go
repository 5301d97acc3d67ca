// Package web fetches over HTTP.
package web

import (
	"context"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"decant.dev/pipeline"
)

type Validators struct {
	ETag         string `json:"etag,omitzero"`
	LastModified string `json:"last_modified,omitzero"`
}
type Page struct {
	Fresh      bool
	Body       []byte
	MediaType  string
	Validators Validators
	Next       *url.URL
}
type Limits struct {
	Wire, Decoded     int64
	Redirects         int
	Head, Idle, Whole time.Duration
}
type Paging struct{}
type Client struct {
	h     *http.Client
	hosts []string
	l     Limits
}

func New(h *http.Client, hosts []string, l Limits) (*Client, error) {
	if l.Decoded == 0 {
		l.Decoded = 5 << 20
	}
	return &Client{h, hosts, l}, nil
}

func (c *Client) Get(ctx context.Context, at string, v Validators) (Page, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil || r.URL.Scheme != "https" || !slices.Contains(c.hosts, r.URL.Host) && !slices.Contains(c.hosts, r.URL.Host+":443") {
		return Page{}, pipeline.SourceRefused.Error("want https to a declared host")
	}
	if v.ETag != "" {
		r.Header.Set("If-None-Match", v.ETag)
	}
	if v.LastModified != "" {
		r.Header.Set("If-Modified-Since", v.LastModified)
	}
	a, err := c.h.Do(r)
	if err != nil {
		return Page{}, pipeline.SourceUnreachable.Error("no answer")
	}
	defer a.Body.Close()
	p := Page{Fresh: a.StatusCode != http.StatusNotModified, Validators: Validators{a.Header.Get("ETag"), a.Header.Get("Last-Modified")}}
	if !p.Fresh {
		return p, nil
	}
	if a.StatusCode != http.StatusOK {
		return Page{}, pipeline.SourceRefused.Error("status %d", a.StatusCode)
	}
	p.MediaType, _, _ = mime.ParseMediaType(a.Header.Get("Content-Type"))
	p.Body, err = io.ReadAll(io.LimitReader(a.Body, c.l.Decoded+1))
	if err != nil || int64(len(p.Body)) > c.l.Decoded {
		return Page{}, pipeline.SourceTooLarge.Error("more than %d bytes", c.l.Decoded)
	}
	return p, nil
}

func (c *Client) Pages(ctx context.Context, at string, _ Paging) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) { yield(c.Get(ctx, at, Validators{})) }
}
