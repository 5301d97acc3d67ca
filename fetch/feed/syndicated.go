package feed

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/mmcdole/gofeed"
)

// ItemSchema is the schema field of a feed's item.
const ItemSchema = "feed_item.v1"

// Item is one item of a feed, whatever the feed's format: its strings are as
// the feed has them, and HTML where they are HTML there.
type Item struct {
	Schema     string   `json:"schema"`
	ID         string   `json:"id,omitzero"` // guid or id; otherwise the first link
	Title      string   `json:"title,omitzero"`
	Summary    string   `json:"summary,omitzero"`
	Content    string   `json:"content,omitzero"`
	Published  string   `json:"published,omitzero"`
	Updated    string   `json:"updated,omitzero"`
	Authors    []string `json:"authors,omitzero"` // names, and addresses in <>
	Categories []string `json:"categories,omitzero"`
	Links      []string `json:"links,omitzero"`
	Enclosures []string `json:"enclosures,omitzero"` // addresses of files
}

func decimal(n int) string { return strconv.Itoa(n) }

// syndicated reads a feed.
func syndicated(body []byte) ([]entry, error) {
	if nesting(body) > maxDepth {
		return nil, malformed(body, "a feed that is not nested deeper than 1000")
	}
	if gofeed.DetectFeedType(bytes.NewReader(body)) == gofeed.FeedTypeJSON {
		body = text(body)
		if !shallow(body) {
			return nil, malformed(body, "a feed in JSON, not nested deeper than 1000")
		}
	}
	f, err := gofeed.NewParser().Parse(bytes.NewReader(body))
	if err != nil {
		return nil, malformed(body, "RSS, Atom or JSON Feed")
	}
	entries := make([]entry, 0, len(f.Items))
	for _, i := range f.Items {
		if i == nil {
			i = &gofeed.Item{}
		}
		item := itemOf(i)
		raw, err := json.Marshal(item)
		if err != nil {
			return nil, malformed(body, "text in UTF-8")
		}
		entries = append(entries, entry{id: item.ID, raw: raw})
	}
	return entries, nil
}

func itemOf(i *gofeed.Item) Item {
	clean := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	item := Item{
		Schema: ItemSchema, ID: clean(i.GUID), Title: clean(i.Title), Summary: clean(i.Description), Content: clean(i.Content),
		Published: clean(i.Published), Updated: clean(i.Updated),
	}
	all := func(in []string) (out []string) {
		for _, s := range in {
			if s != "" {
				out = append(out, clean(s))
			}
		}
		return out
	}
	item.Links, item.Categories = all(i.Links), all(i.Categories)
	if item.ID == "" && len(item.Links) > 0 {
		item.ID = item.Links[0]
	}
	for _, p := range i.Authors {
		if p == nil {
			continue
		}
		name := clean(p.Name)
		if p.Email != "" {
			name = strings.TrimSpace(name + " <" + clean(p.Email) + ">")
		}
		if name != "" {
			item.Authors = append(item.Authors, name)
		}
	}
	for _, e := range i.Enclosures {
		if e != nil && e.URL != "" {
			item.Enclosures = append(item.Enclosures, clean(e.URL))
		}
	}
	return item
}

// nesting is how deep the elements of an XML document nest at most, reckoned
// too high where it leaves some open: the parser recurses.
func nesting(doc []byte) (most int) {
	depth := 0
	for {
		at := bytes.IndexByte(doc, '<')
		if at < 0 || at+1 == len(doc) {
			return most
		}
		doc = doc[at+1:]
		skip := ""
		switch {
		case bytes.HasPrefix(doc, []byte("![CDATA[")):
			skip = "]]>"
		case bytes.HasPrefix(doc, []byte("!--")):
			skip = "-->"
		case doc[0] == '/':
			depth = max(0, depth-1)
		case doc[0] == '?' || doc[0] == '!':
		default:
			end := bytes.IndexByte(doc, '>')
			if end < 1 || doc[end-1] != '/' {
				depth++
			}
			most = max(most, depth)
		}
		if skip != "" {
			end := bytes.Index(doc, []byte(skip))
			if end < 0 {
				return most
			}
			doc = doc[end:]
		}
	}
}
