package fetch

import (
	"strconv"
	"strings"

	"decant.dev/fence"
	"decant.dev/pipeline"
	"github.com/go-json-experiment/json"
	"github.com/google/go-github/v82/github"
)

// TriageCommand is the word that a comment must begin with to be a voice.
const TriageCommand = "/triage"

// Authors of what the payload names nobody for. Both are imports, and so
// never trusted.
const (
	GitHubGhost   = "github:ghost"   // the account was deleted
	GitHubUnknown = "github:unknown" // labels, milestones, and texts that somebody else edited
)

// githubEvent is issues and issue_comment in one: go-github's types for what
// people write, and the parts that those types lack. It is decoded with exact
// keys, since encoding/json would let "ISSUE" overwrite "issue".
type githubEvent struct {
	Action     string         `json:"action"`
	Issue      *githubIssue   `json:"issue"`
	Comment    *githubComment `json:"comment"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
}

type githubIssue struct {
	github.Issue
	App *struct{} `json:"performed_via_github_app"`
}

type githubComment struct {
	github.IssueComment
	App *struct{} `json:"performed_via_github_app"`
}

// GitHubIssues makes the elements of an issues.opened, issues.moved,
// issues.edited or issue_comment.created payload: the issue's title, body,
// labels and milestone, and then the comment. Of an issue that its author just
// opened it reads title and body alone, which are the author's own words: a
// recipe may count on that. The payload does not tell who set a label
// or a milestone, nor, after an edit by another person than the issue's
// author, whose words the title and the body are: these get an author of
// their own that nobody trusts. Trust is left to [fence.Mark].
//
// The event's message is the body, or the comment. A comment may be the voice
// if the envelope's actor is a person and wrote it, and its first word of its
// own, after any quoted lines, is [TriageCommand]. Any
// other comment asks for nothing and is [pipeline.NoCommand]; one over
// [fence.MaxTriggerBytes] is [pipeline.TriggerTooLarge]. A body that does not
// decode, lacks a needed part, or is about another event, repository or number
// than the envelope is [pipeline.Unreadable].
func GitHubIssues(env pipeline.Envelope, body []byte) (Bundle, error) {
	var e githubEvent
	if err := json.Unmarshal(body, &e); err != nil {
		return Bundle{}, pipeline.Unreadable.Error("body of %d bytes: want an issue event of GitHub's", len(body))
	}
	if err := e.fits(env.Target); err != nil {
		return Bundle{}, err
	}
	var b bundler
	message, err := b.issue(e.Issue, env)
	if err != nil {
		return Bundle{}, err
	}
	if e.Comment == nil {
		return Bundle{Elements: b.elements, Message: message, Created: env.Target.Event == "issues.opened"}, nil
	}
	if message, err = b.comment(e.Comment, env); err != nil {
		return Bundle{}, err
	}
	return Bundle{Elements: b.elements, Message: message, Created: true, Voice: true}, nil
}

// fits reports whether the event is the one that the envelope names.
func (e githubEvent) fits(t pipeline.Target) error {
	event := "issues." + e.Action
	switch {
	case e.Comment != nil:
		event = "issue_comment." + e.Action
	case event == "issues.opened" && t.Event == "issues.moved":
		event = t.Event
	}
	switch event {
	case "issues.opened", "issues.moved", "issues.edited", "issue_comment.created":
	default:
		return pipeline.Unreadable.Error("want issues.opened, issues.edited or issue_comment.created, got another event")
	}
	switch {
	case event != t.Event:
		return pipeline.Unreadable.Error("want a body of the envelope's event %s, got another", t.Event)
	case e.Repository.FullName == "" || e.Repository.FullName != t.Repository:
		return pipeline.Unreadable.Error("want a body about the envelope's repository, got another")
	case e.Issue == nil || e.Issue.Number == nil || int64(*e.Issue.Number) != t.Number:
		return pipeline.Unreadable.Error("want a body about the envelope's issue, got none or another")
	}
	return nil
}

// bundler gathers elements and numbers them.
type bundler struct {
	elements []fence.Element
}

func (b *bundler) add(e fence.Element) string {
	e.ID = "e" + strconv.Itoa(len(b.elements)+1)
	b.elements = append(b.elements, e)
	return e.ID
}

func (b *bundler) field(author fence.Author, name string, text *string) error {
	if text == nil {
		return pipeline.Unreadable.Error("want the text of each %s, got none", name)
	}
	b.add(fence.Element{
		Author: author, Origin: fence.OriginRecordField, Role: fence.RoleUser,
		MediaType: "text/plain", Field: name, Text: *text,
	})
	return nil
}

func (b *bundler) message(author fence.Author, text string) string {
	return b.add(fence.Element{
		Author: author, Origin: fence.OriginMessage, Role: fence.RoleUser,
		MediaType: "text/markdown", Text: text,
	})
}

// issue adds the issue's elements and returns the id of its body's, if any.
func (b *bundler) issue(i *githubIssue, env pipeline.Envelope) (message string, err error) {
	author, err := githubAuthor(i.User, i.App != nil)
	if err != nil {
		return "", err
	}
	unknown := fence.Author{ID: GitHubUnknown, Kind: fence.KindImport}
	if env.Target.Event == "issues.edited" && env.Actor.ID != author.ID {
		author = unknown
	}
	if err := b.field(author, "title", i.Title); err != nil {
		return "", err
	}
	if text := i.GetBody(); text != "" {
		message = b.message(author, text)
	}
	if env.Target.Event == "issues.opened" {
		return message, nil
	}
	for _, l := range i.Labels {
		if l == nil {
			return "", pipeline.Unreadable.Error("want each label an object, got null")
		}
		if err := b.field(unknown, "label", l.Name); err != nil {
			return "", err
		}
	}
	if i.Milestone == nil {
		return message, nil
	}
	return message, b.field(unknown, "milestone", i.Milestone.Title)
}

// comment adds the comment and returns its element's id.
func (b *bundler) comment(c *githubComment, env pipeline.Envelope) (string, error) {
	author, err := githubAuthor(c.User, c.App != nil)
	if err != nil {
		return "", err
	}
	text := c.GetBody()
	switch {
	case author.Kind != fence.KindPerson || env.Actor.Kind != pipeline.Person || author.ID != env.Actor.ID:
		return "", pipeline.NoCommand.Error("want a comment by the person who acts, got one by another")
	case !beginsWithCommand(text):
		return "", pipeline.NoCommand.Error("want a comment that begins with %s", TriageCommand)
	case len(text) > fence.MaxTriggerBytes:
		return "", pipeline.TriggerTooLarge.Error("want a comment of at most %d bytes, got %d", fence.MaxTriggerBytes, len(text))
	}
	return b.message(author, text), nil
}

// beginsWithCommand looks at the comment's own words: a command in a quoted
// line was somebody else's.
func beginsWithCommand(text string) bool {
	own, _ := fence.SplitQuotes(text)
	rest, ok := strings.CutPrefix(strings.TrimLeft(own, " \t\r\n"), TriageCommand)
	return ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// githubAuthor is the author of what an account wrote, or an app for it.
func githubAuthor(u *github.User, viaApp bool) (fence.Author, error) {
	if u == nil {
		return fence.Author{ID: GitHubGhost, Kind: fence.KindImport}, nil
	}
	if u.GetID() <= 0 {
		return fence.Author{}, pipeline.Unreadable.Error("want a user with a positive id, got none")
	}
	kind := fence.KindImport
	switch t := u.GetType(); {
	case t == "Bot", t == "User" && viaApp:
		kind = fence.KindApp
	case t == "User":
		kind = fence.KindPerson
	}
	return fence.Author{ID: "github:" + strconv.FormatInt(u.GetID(), 10), Kind: kind, Name: u.GetLogin()}, nil
}
