package feed

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/fetch/htmltext"
	"decant.dev/pipeline"
)

// Author is who wrote an item: nobody that its source vouches for. The names
// that an item gives its authors are texts of it.
const Author = "feed:import"

// FieldHidden is the field that tells how many characters of an item a reader
// would not see. They are left out.
const FieldHidden = "hidden_characters"

// maxEach bounds how many elements each list of an item becomes. How many are
// beyond it stands in a field of the list's name with "_left_out".
const maxEach = 64

// builder makes elements in their order. All are an import's, unverified.
type builder struct{ elements []fence.Element }

func (b *builder) add(origin fence.Origin, field, text string) {
	b.elements = append(b.elements, fence.Element{
		ID:     "e" + strconv.Itoa(len(b.elements)+1),
		Author: fence.Author{ID: Author, Kind: fence.KindImport},
		Origin: origin, Role: fence.RoleUser, Trust: fence.TrustUnverified, MediaType: "text/plain", Field: field, Text: text,
	})
}

// field adds a field that is not empty.
func (b *builder) field(name, text string) {
	if text != "" {
		b.add(fence.OriginRecordField, name, text)
	}
}

// fields adds each text of a list.
func (b *builder) fields(name string, texts []string) {
	for _, text := range texts[:min(len(texts), maxEach)] {
		b.field(name, text)
	}
	if left := len(texts) - maxEach; left > 0 {
		b.field(name+"_left_out", strconv.Itoa(left))
	}
}

// readable is the text of what may be HTML, and how much of it is hidden.
func readable(s string) (string, int) {
	if !strings.ContainsAny(s, "<&") {
		return s, 0
	}
	return htmltext.Text([]byte(s))
}

// ItemElements makes the elements of an item of a feed, the fields first and
// what it says last: link, enclosure, category, author, published, updated,
// summary, hidden_characters, title as record fields, and its content as a
// feed_item. HTML becomes the text that a reader would see. What is no item of
// [ItemSchema], or says nothing, is [pipeline.Unreadable].
func ItemElements(_ pipeline.Envelope, raw []byte) (fetch.Bundle, error) {
	var i Item
	if err := json.Unmarshal(raw, &i, json.RejectUnknownMembers(true)); err != nil || i.Schema != ItemSchema {
		return fetch.Bundle{}, pipeline.Unreadable.Error("item of %d bytes: want %s", len(raw), ItemSchema)
	}
	title, a := readable(i.Title)
	summary, b := readable(i.Summary)
	content, c := readable(i.Content)
	if i.Plain != "" {
		content = i.Plain
	}
	if content == "" {
		summary, content = "", summary
	}
	var e builder
	e.fields("link", i.Links)
	e.fields("enclosure", i.Enclosures)
	e.fields("category", i.Categories)
	e.fields("author", i.Authors)
	e.field("published", i.Published)
	e.field("updated", i.Updated)
	e.field("summary", summary)
	if hidden := a + b + c; hidden > 0 {
		e.field(FieldHidden, strconv.Itoa(hidden))
	}
	e.field("title", title)
	if content != "" {
		e.add(fence.OriginFeedItem, "", content)
	}
	if len(e.elements) == 0 {
		return fetch.Bundle{}, pipeline.Unreadable.Error("item of %d bytes: want one that says something", len(raw))
	}
	return fetch.Bundle{Elements: e.elements}, nil
}
