package learned

import (
	"decant.dev/fence"
)

// Bounds of what is read of one item, in bytes. What is longer is cut, in training as in serving.
const (
	MaxTitle = 1 << 10
	MaxBody  = 4 << 10
)

// content is one item as a model reads it: any bytes.
type content struct {
	Title string
	Body  string
	Group string // what the item belongs to: a repository, a mailbox; empty: none
}

// elementsOf are the elements that a row of columns would come as.
func elementsOf(columns, cells []string) []fence.Element {
	list := make([]fence.Element, len(columns))
	for i := range columns {
		list[i] = fence.Element{Origin: fence.OriginRecordField, Field: columns[i], Text: cells[i]}
	}
	return list
}

// textOf is the one way from elements to a text, for training and for serving. The first column is the title, the others are
// the body, in the columns' order. A column is the first record field of its name; where there is none, "body" is
// the first message. What is our own is not read, nor is what a text quotes: a quoted part comes as an
// element of its own where its author holds trigger, and within the text where not.
func (m *Model) textOf(elements []fence.Element) content {
	var t content
	for i, column := range m.columns {
		switch text := find(elements, column); {
		case i == 0:
			t.Title = clip(text, MaxTitle)
		case text == "":
		case t.Body == "":
			t.Body = own(text)
		default:
			t.Body = clip(t.Body+"\n\n"+own(text), MaxBody)
		}
	}
	if m.group != "" {
		t.Group = find(elements, m.group)
	}
	return t
}

func find(elements []fence.Element, column string) string {
	for _, e := range elements {
		if e.Origin == fence.OriginRecordField && e.Field == column && e.Trust != fence.TrustSelf {
			return e.Text
		}
	}
	if column != "body" {
		return ""
	}
	for _, e := range elements {
		if e.Origin == fence.OriginMessage && e.Trust != fence.TrustSelf {
			return e.Text
		}
	}
	return ""
}

func clip(s string, n int) string { return s[:min(len(s), n)] }
