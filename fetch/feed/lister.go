package feed

import (
	"context"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/fetch"
	"decant.dev/fetch/web"
)

// Config is one source.
type Config struct {
	URL    string   // https, of a host of Hosts
	Hosts  []string // "host:port", as the intake's
	Format Format
	// Pointer is where the list stands in a document of format JSON; ID is where
	// an item's id stands in it, by default /id. A CSV's id is of the column that
	// ID names: /id is the column "id".
	Pointer, ID jsontext.Pointer
	// Paging is how the source parts its list; the zero value is one document.
	Paging web.Paging
	Limits web.Limits // of package web, with its defaults
}

// Lister lists what is new or edited of a source. A source is asked with the
// validators that it gave last, of an answer whose items are durable; one that
// says that nothing has changed costs one request. Its errors are those of
// package web, and those of Items.
func Lister(c Config) fetch.Lister {
	if c.ID == "" {
		c.ID = "/id"
	}
	return func(ctx context.Context, asked fetch.Asked) (fetch.Listed, error) {
		client, err := web.New(asked.Client, c.Hosts, c.Limits)
		if err != nil {
			return fetch.Listed{}, err
		}
		before, _ := decodeCursor(asked.Cursor) // of another version, or lost: anew
		l := listing{source: c.URL, document: document{c.Format, c.Pointer, c.ID}, before: before}
		return l.read(c.pages(ctx, client, before.validators))
	}
}

// pages asks for a source's pages.
func (c Config) pages(ctx context.Context, client *web.Client, v validators) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		p, err := client.Get(ctx, c.URL, web.Validators(v))
		yield(page{fresh: p.Fresh, body: p.Body, validators: validators(p.Validators)}, err)
	}
}
