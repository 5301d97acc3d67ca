package events

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"decant.dev/pipeline"
	"github.com/go-json-experiment/json/jsontext"
)

// Delivery is what the ingress derives from a verified body: all that an
// envelope needs of it, each part within the envelope's bounds. It prints
// without the body's content.
type Delivery struct {
	Source  string // "github"
	Event   string // the event with its action, as "issues.opened"
	Body    []byte // the bytes as received
	Actor   pipeline.Actor
	Channel string // "github:owner/name"
	Target  pipeline.Target
}

// Format prints the bounded parts, and the body's size and digest.
func (d Delivery) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%s %s on %s by %s: %s", d.Source, d.Event, d.Target, d.Actor.ID, digest(d.Body))
}

// GitHubDelivery reads a payload of GitHub's. The event is the value of
// X-GitHub-Event ("issues"), or that with the action that the body must then
// have ("issues.opened"). The header is not signed, so the kind is derived
// from the body, and the event must agree with it.
//
// Handled are issues.opened, issues.edited and issue_comment.created, on
// issues. GitHub also says "opened" of an issue that somebody else transferred
// in: where the author is not the sender, the event is issues.moved. Every other answer is an error, by precedence: a body over
// MaxBodyBytes is [pipeline.BodyTooLarge]; one that is not exactly one strict
// JSON object within MaxDepth and MaxKeys is [pipeline.MalformedBody]; one of another
// kind than the event names, or in which a needed part is missing, null or
// out of bounds, is [pipeline.BodyMisfit]; a ping is [pipeline.Ping]; any
// other event, action or name, known to GitHub or not, is
// [pipeline.UnhandledEvent].
//
// Payloads: https://docs.github.com/en/webhooks/webhook-events-and-payloads
func GitHubDelivery(event string, body []byte) (Delivery, error) {
	if len(body) > MaxBodyBytes {
		return Delivery{}, bodyTooLarge()
	}
	var p payload
	if err := readObject(body, p.member); err != nil {
		if bytes.HasPrefix(body, []byte("payload=")) {
			err = fmt.Errorf("want application/json as the webhook's content type, got a form")
		}
		return Delivery{}, pipeline.MalformedBody.Error("body of %d bytes: %v", len(body), err)
	}
	name, action, typed := strings.Cut(event, ".")
	switch kind := p.kind(); {
	case kind != name && (ours(kind) && documented(name) || ours(name)):
		return Delivery{}, pipeline.BodyMisfit.Error("want a body of the kind that the event names, got another")
	case name == "ping":
		return Delivery{}, pipeline.Ping.Error("the webhook's connection works")
	case name != "issues" && name != "issue_comment":
		return Delivery{}, pipeline.UnhandledEvent.Error("want issues or issue_comment, got another event")
	case p.action == "" || typed && action != p.action:
		return Delivery{}, pipeline.BodyMisfit.Error("want an action, the one that the event names, got none or another")
	}
	return p.delivery(name+"."+p.action, body)
}

// delivery answers for a body of kind issues or issue_comment.
func (p *payload) delivery(event string, body []byte) (Delivery, error) {
	written := p.issue
	creates := true // the event is the creation of what was written
	switch event {
	case "issues.opened":
	case "issues.edited":
		creates = false
	case "issue_comment.created":
		written = p.comment
	default:
		return Delivery{}, pipeline.UnhandledEvent.Error("want issues.opened, issues.edited or issue_comment.created, got another action")
	}
	var missing string
	switch {
	case !p.issue.object || !written.object:
		missing = "the issue or comment"
	case p.issue.number == 0:
		missing = "issue.number"
	case creates && written.author.id == 0:
		missing = "the author's user.id"
	case p.repository == "":
		missing = "repository.full_name"
	case p.sender.id == 0 || p.sender.kind == "":
		missing = "sender.id or sender.type"
	case p.issue.pull:
		return Delivery{}, pipeline.UnhandledEvent.Error("want an issue, got a pull request")
	default:
		if event == "issues.opened" && written.author.id != p.sender.id {
			event = "issues.moved"
		}
		return Delivery{
			Source: GitHub, Event: event, Body: body,
			Actor: pipeline.Actor{
				ID:   GitHub + ":" + strconv.FormatInt(p.sender.id, 10),
				Kind: p.sender.actorKind(written.viaApp),
			},
			Channel: GitHub + ":" + p.repository,
			Target:  pipeline.Target{Event: event, Repository: p.repository, Number: p.issue.number},
		}, nil
	}
	return Delivery{}, pipeline.BodyMisfit.Error("want %s, got none or one out of bounds", missing)
}

// payload is what is picked from a body while it is read. Each field stays
// zero where the body has nothing, null, or a value of another kind.
type payload struct {
	has        struct{ issue, comment, zen, hook bool } // the key is there
	action     string
	issue      post
	comment    post
	sender     account
	repository string
}

// post is an issue or a comment.
type post struct {
	object bool
	number int64
	author account
	viaApp bool // an app wrote it, as itself or for a person
	pull   bool // the issue is a pull request
}

// account is a user object.
type account struct {
	id   int64
	kind string // GitHub's type: User, Bot, Organization, Mannequin
}

// actorKind is a person only for a user's own hand; what is neither a user
// nor a bot brought in text of others.
func (a account) actorKind(viaApp bool) pipeline.ActorKind {
	switch {
	case a.kind == "Bot", a.kind == "User" && viaApp:
		return pipeline.App
	case a.kind == "User":
		return pipeline.Person
	default:
		return pipeline.Import
	}
}

// kind derives the event's name from the keys of the body: "issues",
// "issue_comment", "ping", or "" for anything else.
func (p *payload) kind() string {
	switch {
	case p.has.issue && p.has.comment:
		return "issue_comment"
	case p.has.issue:
		return "issues"
	case p.has.zen && p.has.hook:
		return "ping"
	default:
		return ""
	}
}

func (p *payload) member(d *jsontext.Decoder, name []byte) error {
	switch string(name) {
	case "action":
		action, ok, err := readString(d, MaxBodyBytes)
		if ok {
			p.action = string(action)
		}
		return err
	case "issue":
		p.has.issue = true
		return p.issue.read(d)
	case "comment":
		p.has.comment = true
		return p.comment.read(d)
	case "sender":
		return p.sender.read(d)
	case "repository":
		return eachMember(d, p.repositoryMember)
	case "zen":
		p.has.zen = true
	case "hook":
		p.has.hook = true
	}
	return d.SkipValue()
}

func (p *payload) repositoryMember(d *jsontext.Decoder, name []byte) error {
	if string(name) != "full_name" {
		return d.SkipValue()
	}
	full, ok, err := readString(d, 140)
	if ok && pipeline.IsRepository(string(full)) {
		p.repository = string(full)
	}
	return err
}

func (t *post) read(d *jsontext.Decoder) error {
	t.object = d.PeekKind() == '{'
	return eachMember(d, t.member)
}

func (t *post) member(d *jsontext.Decoder, name []byte) (err error) {
	switch string(name) {
	case "number":
		t.number, err = readID(d, math.MaxInt32)
	case "user":
		err = t.author.read(d)
	case "performed_via_github_app":
		t.viaApp, err = readPresent(d)
	case "pull_request":
		t.pull, err = readPresent(d)
	default:
		err = d.SkipValue()
	}
	return err
}

func (a *account) read(d *jsontext.Decoder) error { return eachMember(d, a.member) }

func (a *account) member(d *jsontext.Decoder, name []byte) (err error) {
	switch string(name) {
	case "id":
		a.id, err = readID(d, math.MaxInt64)
	case "type":
		var kind []byte
		var ok bool
		if kind, ok, err = readString(d, 32); ok {
			a.kind = string(kind)
		}
	default:
		err = d.SkipValue()
	}
	return err
}
