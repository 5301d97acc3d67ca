package web

import (
	"context"
	"crypto/sha256"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/pipeline"
)

// maxCursor bounds a cursor that a server gives, in bytes.
const maxCursor = 512

// Paging is how a source parts its list. The zero value is one document.
type Paging struct {
	Most int // pages, 1 to MaxPages; zero is MaxPages where there is paging
	// Link follows the Link headers of relation next, on the same host.
	Link bool
	// Parameter is the query parameter that says which page: the value that
	// stands at Cursor in the page before, or, where Cursor is empty, the page's
	// number from First on, until the list at Items is empty.
	Parameter string
	Cursor    jsontext.Pointer
	First     int
	Items     jsontext.Pointer
}

// MaxPages is the most pages of one list.
const MaxPages = 1000

// Pages fetches a list page by page, the first of them with v: so v must be
// the zero value for a list whose later pages may change alone. It ends with
// the last page, or after an error, which is one of Get's: SourceTooLarge
// where there are more pages than Most, and SourceMalformed where a list makes
// no progress, since a page came twice. A list that moves while it is read may
// show an item twice or not at all; a caller who keeps ids sees the former,
// and reads the latter the next time.
func (c *Client) Pages(ctx context.Context, at string, v Validators, p Paging) iter.Seq2[Page, error] {
	most := p.Most
	if most < 1 || most > MaxPages {
		most = MaxPages
	}
	return func(yield func(Page, error) bool) {
		here, err := c.parse(at)
		if err == nil && p.Parameter != "" && p.Cursor == "" {
			here = with(here, p.Parameter, strconv.Itoa(p.First))
		}
		seen := map[[sha256.Size]byte]bool{}
		for n := 1; err == nil; n++ {
			if n > most {
				err = pipeline.SourceTooLarge.Error("more than %d pages", most)
				break
			}
			var page Page
			if page, err = c.Get(ctx, here.String(), v); err != nil {
				break
			}
			v = Validators{}
			sum := sha256.Sum256(page.Body)
			last := !page.Fresh
			var to *url.URL
			if !last {
				to, err = p.next(here, page, n)
				last = to == nil
			}
			if err == nil && seen[sum] && !(last && p.Parameter != "" && p.Cursor == "") {
				err = pipeline.SourceMalformed.Error("page %d came before: the list makes no progress", n)
			}
			if err != nil {
				break
			}
			seen[sum] = true
			if !yield(page, nil) || last {
				return
			}
			here = to
		}
		yield(Page{}, err)
	}
}

// next is where the page after the nth stands, or nil after the last.
func (p Paging) next(here *url.URL, page Page, n int) (*url.URL, error) {
	switch {
	case p.Link:
		if page.Next != nil && page.Next.Host != page.URL.Host {
			return nil, pipeline.SourceRefused.Error("a next page on another host")
		}
		return page.Next, nil
	case p.Parameter == "":
		return nil, nil
	}
	var document any
	if json.Unmarshal(page.Body, &document) != nil {
		return nil, pipeline.SourceMalformed.Error("page %d: want JSON", n)
	}
	if p.Cursor == "" {
		if list, _ := find(document, p.Items).([]any); len(list) == 0 {
			return nil, nil
		}
		return with(here, p.Parameter, strconv.Itoa(p.First+n)), nil
	}
	cursor := ""
	switch x := find(document, p.Cursor).(type) {
	case nil:
	case string:
		cursor = x
	case float64:
		cursor = strconv.FormatFloat(x, 'f', -1, 64)
	default:
		return nil, pipeline.SourceMalformed.Error("page %d: want a string or a number as its cursor", n)
	}
	switch {
	case cursor == "":
		return nil, nil
	case len(cursor) > maxCursor:
		return nil, pipeline.SourceMalformed.Error("page %d: a cursor of %d bytes: want at most %d", n, len(cursor), maxCursor)
	}
	return with(here, p.Parameter, cursor), nil
}

// with is an address with a query parameter set.
func with(at *url.URL, parameter, value string) *url.URL {
	u := *at
	q := u.Query()
	q.Set(parameter, value)
	u.RawQuery = q.Encode()
	return &u
}

// find is the value that a pointer names, or nil.
func find(v any, p jsontext.Pointer) any {
	for token := range p.Tokens() {
		switch x := v.(type) {
		case map[string]any:
			v = x[token]
		case []any:
			i, err := strconv.ParseUint(token, 10, 31)
			if err != nil || i >= uint64(len(x)) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// next is the target of the first link of relation next (RFC 8288, section 3),
// or nil. What is not of the form of a link ends the reading.
func next(base *url.URL, headers []string) *url.URL {
	for _, rest := range headers {
		for rest != "" {
			rest = strings.TrimLeft(rest, " \t,")
			if rest == "" || rest[0] != '<' {
				break
			}
			target, after, ok := strings.Cut(rest[1:], ">")
			if !ok || len(target) > maxURL {
				break
			}
			var isNext bool
			isNext, rest = parameters(after)
			if isNext {
				if u, err := base.Parse(target); err == nil {
					return u
				}
				return nil
			}
		}
	}
	return nil
}

// parameters reads a link's parameters up to the comma that ends it, and says
// whether its relation is next. Only the first rel counts.
func parameters(s string) (isNext bool, rest string) {
	first := true
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] != ';' {
			return isNext, s
		}
		s = strings.TrimLeft(s[1:], " \t")
		end := strings.IndexAny(s, "=;, \t")
		if end < 0 {
			return isNext, ""
		}
		name := strings.ToLower(s[:end])
		s = strings.TrimLeft(s[end:], " \t")
		if s == "" || s[0] != '=' {
			continue
		}
		var value string
		value, s = parameter(strings.TrimLeft(s[1:], " \t"))
		if name == "rel" && first {
			first = false
			for _, relation := range strings.Fields(strings.ToLower(value)) {
				isNext = isNext || relation == "next"
			}
		}
	}
}

// parameter reads a value, quoted or not.
func parameter(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ";, \t")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i == len(s) {
				return b.String(), ""
			}
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}
