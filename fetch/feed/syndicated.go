package feed

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	Plain      string   `json:"plain,omitzero"` // the content where it is no HTML
	Published  string   `json:"published,omitzero"`
	Updated    string   `json:"updated,omitzero"`
	Authors    []string `json:"authors,omitzero"` // names, and addresses in <>
	Categories []string `json:"categories,omitzero"`
	Links      []string `json:"links,omitzero"`
	Enclosures []string `json:"enclosures,omitzero"` // addresses of files
}

// syndicated reads a feed. JSON Feed is read here, item by item: the library
// reads all or nothing, and panics on an item that is null.
func syndicated(body []byte) ([]entry, error) {
	if nesting(body) > maxDepth {
		return nil, malformed(body, "a feed that is not nested deeper than 1000")
	}
	if gofeed.DetectFeedType(bytes.NewReader(body)) == gofeed.FeedTypeJSON {
		return jsonFeed(text(body))
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

// jsonItem is what is read of an item of JSON Feed
// (https://www.jsonfeed.org/version/1.1/).
type jsonItem struct {
	URL         string       `json:"url"`
	ExternalURL string       `json:"external_url"`
	Title       string       `json:"title"`
	HTML        string       `json:"content_html"`
	Text        string       `json:"content_text"`
	Summary     string       `json:"summary"`
	Published   string       `json:"date_published"`
	Modified    string       `json:"date_modified"`
	Author      jsonAuthor   `json:"author"` // version 1
	Authors     []jsonAuthor `json:"authors"`
	Tags        []string     `json:"tags"`
	Attachments []struct {
		URL string `json:"url"`
	} `json:"attachments"`
}

type jsonAuthor struct {
	Name string `json:"name"`
}

// jsonFeed reads a JSON Feed. An item that is not of its form is listed as it
// is.
func jsonFeed(doc []byte) ([]entry, error) {
	entries, err := document{id: "/id"}.list(doc, "/items")
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		var j jsonItem
		if jsontext.Value(e.raw).Kind() != '{' || json.Unmarshal(e.raw, &j) != nil {
			continue
		}
		item := Item{
			Schema: ItemSchema, ID: e.id, Title: j.Title, Summary: j.Summary, Content: j.HTML, Published: j.Published, Updated: j.Modified,
			Categories: filled(j.Tags), Links: filled([]string{j.URL, j.ExternalURL}),
		}
		if item.Content == "" {
			item.Plain = j.Text
		}
		if item.ID == "" && len(item.Links) > 0 {
			item.ID = item.Links[0]
		}
		for _, a := range append([]jsonAuthor{j.Author}, j.Authors...) {
			item.Authors = append(item.Authors, filled([]string{a.Name})...)
		}
		for _, a := range j.Attachments {
			item.Enclosures = append(item.Enclosures, filled([]string{a.URL})...)
		}
		raw, err := json.Marshal(item)
		if err != nil {
			continue
		}
		entries[i] = entry{id: item.ID, raw: raw}
	}
	return entries, nil
}

// filled are the texts that are not empty, in UTF-8.
func filled(in []string) (out []string) {
	for _, s := range in {
		if s != "" {
			out = append(out, clean(s))
		}
	}
	return out
}

func clean(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func itemOf(i *gofeed.Item) Item {
	item := Item{
		Schema: ItemSchema, ID: clean(i.GUID), Title: clean(i.Title), Summary: clean(i.Description), Content: clean(i.Content),
		Published: clean(i.Published), Updated: clean(i.Updated),
	}
	item.Links, item.Categories = filled(i.Links), filled(i.Categories)
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
