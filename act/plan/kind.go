package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"decant.dev/extract/shape"
)

// Kind names one kind of action, as "sink.verb".
type Kind string

// The kinds of action.
const (
	KindGitHubLabel     Kind = "github.label"
	KindGitHubComment   Kind = "github.comment"
	KindGitHubClose     Kind = "github.close"
	KindGitHubAssign    Kind = "github.assign"
	KindGitHubMilestone Kind = "github.milestone"
	KindGitHubIssue     Kind = "github.issue"
	KindTableRow        Kind = "table.row"
	KindQueueSend       Kind = "queue.send"
	KindWebhookPost     Kind = "webhook.post"
)

// Trait is what the audit must know of a kind beside its parameters.
type Trait struct {
	// Speaks is true where people other than the operator read the result:
	// such a kind may not carry a text in an automatic action.
	Speaks bool
	// Audience is who can read what the kind writes.
	Audience Audience
	// New makes the zero value of the kind's parameters.
	New func() Action
}

var traits = map[Kind]Trait{
	KindGitHubLabel:     {Speaks: true, Audience: ChannelReaders, New: func() Action { return GitHubLabel{} }},
	KindGitHubComment:   {Speaks: true, Audience: ChannelReaders, New: func() Action { return GitHubComment{} }},
	KindGitHubClose:     {Speaks: true, Audience: ChannelReaders, New: func() Action { return GitHubClose{} }},
	KindGitHubAssign:    {Speaks: true, Audience: ChannelReaders, New: func() Action { return GitHubAssign{} }},
	KindGitHubMilestone: {Speaks: true, Audience: ChannelReaders, New: func() Action { return GitHubMilestone{} }},
	KindGitHubIssue:     {Speaks: true, Audience: Anyone, New: func() Action { return GitHubIssue{} }},
	KindTableRow:        {Speaks: false, Audience: Operators, New: func() Action { return TableRow{} }},
	KindQueueSend:       {Speaks: false, Audience: Operators, New: func() Action { return QueueSend{} }},
	KindWebhookPost:     {Speaks: true, Audience: Anyone, New: func() Action { return WebhookPost{} }},
}

// actionTypes are the types of this package whose values are actions. A type
// of another package could bear a kind and name other parameters than its.
var actionTypes = func() map[reflect.Type]bool {
	types := make(map[reflect.Type]bool, len(traits))
	for _, t := range traits {
		types[reflect.TypeOf(t.New())] = true
	}
	return types
}()

// AllKinds lists every kind, sorted.
func AllKinds() []Kind {
	kinds := make([]Kind, 0, len(traits))
	for k := range traits {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// Known reports whether k is a kind of this package.
func (k Kind) Known() bool { _, ok := traits[k]; return ok }

// ParseKinds reads kinds with commas between, each once. Nothing is none.
func ParseKinds(s string) ([]Kind, error) {
	var kinds []Kind
	for word := range strings.SplitSeq(s, ",") {
		k := Kind(word)
		if s == "" {
			break
		}
		if !k.Known() || slices.Contains(kinds, k) {
			return nil, fmt.Errorf("kind %.32q: want kinds of %v, each once", word, AllKinds())
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// Trait returns what is declared of a kind; an unknown kind speaks to anyone.
func (k Kind) Trait() Trait {
	if t, ok := traits[k]; ok {
		return t
	}
	return Trait{Speaks: true, Audience: Anyone}
}

// Action is one write with typed parameters. Its exported fields are the
// parameters: tagged `address:"name"` where they say where the write goes, or
// `content:"name"` where they say what is written.
type Action interface{ Kind() Kind }

// GitHubLabel adds one label to the issue that the event named.
type GitHubLabel struct {
	Issue Ref    `address:"issue"`
	Label string `address:"label"`
}

// Kind returns "github.label".
func (GitHubLabel) Kind() Kind { return KindGitHubLabel }

// GitHubComment writes one comment, from a template, on the issue that the
// event named.
type GitHubComment struct {
	Issue Ref      `address:"issue"`
	Body  Template `content:"body"`
}

// Kind returns "github.comment".
func (GitHubComment) Kind() Kind { return KindGitHubComment }

// GitHubClose closes the issue that the event named, for one of GitHub's
// state reasons: "completed" or "not_planned".
type GitHubClose struct {
	Issue  Ref    `address:"issue"`
	Reason string `content:"reason"`
}

// Kind returns "github.close".
func (GitHubClose) Kind() Kind { return KindGitHubClose }

// GitHubAssign assigns one person, of LoginForm, to the issue that the event
// named.
type GitHubAssign struct {
	Issue Ref    `address:"issue"`
	Login string `address:"login"`
}

// Kind returns "github.assign".
func (GitHubAssign) Kind() Kind { return KindGitHubAssign }

// GitHubMilestone puts the issue that the event named into the repository's
// milestone of a number, 1 to 2^31-1.
type GitHubMilestone struct {
	Issue  Ref `address:"issue"`
	Number int `address:"number"`
}

// Kind returns "github.milestone".
func (GitHubMilestone) Kind() Kind { return KindGitHubMilestone }

// GitHubIssue opens an issue, from templates, in the repository of
// RepositoryForm that the recipe's author names: a place of its own, whoever
// may read the event's channel.
type GitHubIssue struct {
	Repository string   `address:"repository"`
	Title      Template `content:"title"`
	Body       Template `content:"body"`
}

// Kind returns "github.issue".
func (GitHubIssue) Kind() Kind { return KindGitHubIssue }

// TableRow inserts or replaces the row Key of the table Table. Names of
// tables and columns match ^[a-z][a-z0-9_]{0,62}$. The sink keeps the run's
// source and label beside the columns.
type TableRow struct {
	Table   string   `address:"table"`
	Key     Ref      `address:"key"`
	Columns []Column `content:"columns"`
}

// Kind returns "table.row".
func (TableRow) Kind() Kind { return KindTableRow }

// QueueSend puts one message of named values into the queue Queue, of
// NameForm. The sink keeps the run's source and label beside the columns.
type QueueSend struct {
	Queue   string   `address:"queue"`
	Columns []Column `content:"columns"`
}

// Kind returns "queue.send".
func (QueueSend) Kind() Kind { return KindQueueSend }

// WebhookPost posts one message of named values to the destination that
// whoever operates decant configured under the name Destination, of NameForm.
type WebhookPost struct {
	Destination string   `address:"destination"`
	Columns     []Column `content:"columns"`
}

// Kind returns "webhook.post".
func (WebhookPost) Kind() Kind { return KindWebhookPost }

// Column is one named value of a row or a message.
type Column struct {
	Name  string
	Value Value
}

// Text is a column of constant text.
func Text(name, constant string) Column { return Column{name, constantString(constant)} }

// Int is a column holding a whole number.
func Int(name string, n int) Column { return Column{name, constantInt(int64(n))} }

// Bool is a column holding true or false.
func Bool(name string, b bool) Column { return Column{name, constantBool(b)} }

// Token is a column holding a token, or null where the field is absent.
func Token(name string, t *shape.Token) Column {
	if t == nil {
		return Column{name, null()}
	}
	return Column{name, handle(t.Handle())}
}

// Carried is a column holding a text, or null where the field is absent.
func Carried(name string, t *shape.Text) Column {
	if t == nil {
		return Column{name, null()}
	}
	return Column{name, handle(t.Handle())}
}

// Quote is a column holding a quote, or null where the field is absent.
func Quote(name string, q *shape.Quote) Column {
	if q == nil {
		return Column{name, null()}
	}
	return Column{name, handle(q.Handle())}
}

// Joined is a column holding what a template says.
func Joined(name string, t Template) Column { return Column{name, t.v} }
