package feed

import (
	"context"
	"iter"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/fetch"
	"decant.dev/fetch/web"
	"decant.dev/internal/pointer"
	"decant.dev/pipeline"
)

// Config is one source.
type Config struct {
	URL    string   // https, of a host of Hosts
	Hosts  []string // "host:port", as the intake's
	Format Format
	// Pointer is where the list stands in a document of format JSON; IDPointer is
	// where an item's id stands in it, by default /id. A CSV's id is of the column
	// that IDPointer names: /id is the column "id".
	Pointer, IDPointer jsontext.Pointer
	// Record is where the record of an entry stands, with {id} in the place of
	// its id, for a source whose list only names its items, as an index does. It
	// is asked for where the entry is new or was edited. Empty is a list that
	// holds the items.
	Record string
	// Paging is how the source parts its list; the zero value is one document.
	Paging web.Paging
	Limits web.Limits // of package web, with its defaults
}

// Lister lists what is new or edited of a source. A source is asked with the
// validators that it gave last, of an answer whose items are durable; one that
// says that nothing has changed costs one request. A list in pages is asked for
// in full. Its errors are those of
// package web, and those of Items.
func Lister(c Config) fetch.Lister {
	return func(ctx context.Context, asked fetch.Asked) (fetch.Listed, error) {
		client, err := web.New(asked.Client, c.Hosts, c.Limits)
		if err != nil {
			return fetch.Listed{}, err
		}
		before, _ := decodeCursor(asked.Cursor) // of another version, or lost: anew
		l := listing{source: c.URL, document: c.document(), before: before}
		if c.Record != "" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, recordsFor)
			defer cancel()
			l.record = func(e entry) ([]byte, error) { return c.record(ctx, client, e) }
		}
		v := before.validators
		if c.Paging != (web.Paging{}) {
			v = validators{} // a later page may change alone
		}
		return l.read(c.pages(ctx, client, v))
	}
}

func (c Config) document() document {
	if c.IDPointer == "" {
		c.IDPointer = "/id"
	}
	return document{c.Format, c.Pointer, c.IDPointer}
}

// recordsFor bounds how long one tick asks for records. What is left is asked
// for at the next.
const recordsFor = 30 * time.Second

// idForm is the ids that an address is made of: none that is a step in a path.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// record asks for the record of an entry, in canonical form.
func (c Config) record(ctx context.Context, client *web.Client, e entry) ([]byte, error) {
	if !idForm.MatchString(e.id) {
		return nil, pipeline.SourceMalformed.Error("id of %d bytes: want one that may stand in an address", len(e.id))
	}
	p, err := client.Get(ctx, strings.ReplaceAll(c.Record, "{id}", url.PathEscape(e.id)), web.Validators{})
	if err != nil {
		return nil, err
	}
	doc := text(p.Body)
	if !shallow(doc) {
		return nil, malformed(doc, "a record in JSON")
	}
	one, _ := pointer.Find(doc, "", lenient)
	return document{}.entry(one).raw, nil
}

// pages asks for a source's pages.
func (c Config) pages(ctx context.Context, client *web.Client, v validators) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		for p, err := range client.Pages(ctx, c.URL, web.Validators(v), c.Paging) {
			if !yield(page{fresh: p.Fresh, body: p.Body, validators: validators(p.Validators)}, err) || err != nil {
				return
			}
		}
	}
}
