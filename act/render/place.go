// Package render writes foreign text for the place where an action puts it,
// so that the text stays text there.
//
// Texts, quotes and tokens are words of strangers. Each place has one
// renderer, and a sink uses the one of its place: For says which. A renderer
// takes any bytes, deletes nothing, and answers with one line that the place's
// own parser reads as text alone. What no format can make harmless by its own
// means is shown as an escape, ⟦U+202E⟧ for a rune and ⟦0xFF⟧ for an invalid
// byte, and a ⟦ in the text as ⟦U+27E6⟧; a reader decodes the place's format
// and then calls Undo, and has the text. All of it is pure.
//
// Not promised: that a text is true or decent, and what a program does that
// reads the written bytes by other rules than those of the place, such as a
// bot that looks for a word anywhere in a comment's source.
package render

import "decant.dev/act/plan"

// Place is where a parameter of an action is written. The zero Place is
// invalid.
type Place uint8

// The places.
const (
	// Verbatim takes a value apart from any markup: a bound parameter of a
	// statement, a member of a request that the client encodes. What reads
	// the value later renders it for a place of its own.
	Verbatim   Place = iota + 1
	InMarkdown       // GitHub's Markdown: a comment
	InCSV            // one cell
	InJSON           // one string
	InTerminal       // part of one line
	InHTML           // text, or an attribute's value in quotes
	InPlain          // a line of text without markup: a message, a chat
)

// Places lists every place.
func Places() []Place {
	return []Place{Verbatim, InMarkdown, InCSV, InJSON, InTerminal, InHTML, InPlain}
}

// String returns the place's name, "invalid" for the zero value.
func (p Place) String() string {
	switch p {
	case Verbatim:
		return "verbatim"
	case InMarkdown:
		return "markdown"
	case InCSV:
		return "csv"
	case InJSON:
		return "json"
	case InTerminal:
		return "terminal"
	case InHTML:
		return "html"
	case InPlain:
		return "plain"
	default:
		return "invalid"
	}
}

// Text renders one foreign text. It reports false for an invalid place.
func (p Place) Text(s string) (string, bool) {
	switch p {
	case Verbatim:
		return s, true
	case InMarkdown:
		return Markdown(s), true
	case InCSV:
		return CSV(s), true
	case InJSON:
		return JSON(s), true
	case InTerminal:
		return Terminal(s), true
	case InHTML:
		return HTML(s), true
	case InPlain:
		return Plain(s), true
	default:
		return "", false
	}
}

// Pieces renders a value whose constants are the recipe author's own and
// stand as they are, and whose foreign pieces are rendered. It reports false
// where a constant would change how the place reads what stands beside it,
// and for places where a constant cannot stand beside a rendered text, a CSV
// cell and a JSON string.
func (p Place) Pieces(pieces []plan.Piece) (string, bool) {
	switch p {
	case InMarkdown:
		s, err := Template(pieces)
		return s, err == nil
	case Verbatim, InTerminal, InHTML, InPlain:
	default:
		if len(pieces) != 1 || !pieces[0].Foreign {
			return "", false
		}
	}
	var out string
	for _, piece := range pieces {
		s, ok := piece.Text, true
		if piece.Foreign {
			s, ok = p.Text(s)
		}
		if !ok {
			return "", false
		}
		out += s
	}
	return out, true
}

// For returns the place of a parameter of a kind of action. It reports false
// for a kind or a parameter that has none: nothing may be written there.
//
// An address, and a reason for closing, hold constants and the run's target
// only, and go into the members of a request. A row's columns, by any name,
// are stored as they are, with the run's source and label beside them; those
// of a message are members of its JSON, which its sink encodes.
func For(k plan.Kind, param string) (Place, bool) {
	switch k {
	case plan.KindGitHubComment:
		switch param {
		case "body":
			return InMarkdown, true
		case "issue":
			return Verbatim, true
		}
	case plan.KindGitHubIssue:
		switch param {
		case "title", "body":
			return InMarkdown, true // GitHub reads code spans in a title too
		case "repository":
			return Verbatim, true
		}
	case plan.KindGitHubLabel:
		if param == "issue" || param == "label" {
			return Verbatim, true
		}
	case plan.KindGitHubClose:
		if param == "issue" || param == "reason" {
			return Verbatim, true
		}
	case plan.KindGitHubAssign:
		if param == "issue" || param == "login" {
			return Verbatim, true
		}
	case plan.KindGitHubMilestone:
		if param == "issue" || param == "number" {
			return Verbatim, true
		}
	case plan.KindTableRow, plan.KindQueueSend, plan.KindWebhookPost:
		if plan.IsName(param) {
			return Verbatim, true
		}
	}
	return 0, false
}
