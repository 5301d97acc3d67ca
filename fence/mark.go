package fence

import (
	"context"
	"strconv"
)

// Authorizer answers who may give orders. It is asked anew for each context, so that a change shows in the next read.
type Authorizer interface {
	// HoldsTrigger reports whether the person, by the id of [Author.ID], holds trigger on the channel now. An error, also
	// of a context that is done, counts as no.
	HoldsTrigger(ctx context.Context, person, channel string) (bool, error)
}

// Turn is what the builder of a context knows of the event, from the envelope and the recipe.
type Turn struct {
	Channel   string   // what grants are about: a repository, a mailbox, a feed
	Actor     Author   // who caused the event, as the ingress verified it
	Message   string   // id of the element that the event is about; empty if there is none
	Created   bool     // the event is the creation of that message, not an edit, a label or a transfer
	WantVoice bool     // the recipe's intake says that a person's message is the voice
	Self      []string // author ids of this agent and of every identity that one of our sinks uses
}

// Mark sets the trust of each element as of now; whatever mark the elements came with is ignored. It gives the marked
// elements (a copy, oldest first as before) and the id of the one that is the voice, or "" where the instruction is.
//
//   - unverified: whatever was fetched or handed in (files, tool results, feed items, imports), whoever supplied it; agents,
//     apps, imports; persons without trigger; all persons that the Authorizer gave no answer for.
//   - self: an author of Turn.Self. Nothing of it ever triggers.
//   - system: an author of KindSystem.
//   - trigger: the message of the event, if the event is its creation, its author is the actor and a person, and that
//     person holds trigger.
//   - authorized: everything else of a person who holds trigger.
//   - A transcript carries the mark of its message (unverified if there is none). Where the message has no words of its
//     own and one transcript, the transcript is the voice.
//
// Quoted parts of a message by a person who holds trigger ([SplitQuotes]) become unverified elements of their own, before
// it, with the ids <id>/q1, <id>/q2 and so on (so give ids of at most 120 bytes); the returned text of the message is then
// shorter. The Authorizer is asked at most once a person; Mark does not wait for it when ctx is done, so give ctx a deadline.
func Mark(ctx context.Context, a Authorizer, t Turn, elements []Element) (marked []Element, trigger string) {
	m := marker{ctx: ctx, auth: a, turn: t, self: make(map[string]bool), holds: make(map[string]bool)}
	for _, id := range t.Self {
		m.self[id] = true
	}
	marks := make(map[string]Trust, len(elements))
	for _, e := range elements {
		if e.Origin != OriginTranscript {
			marks[e.ID] = m.mark(e)
		}
	}
	for _, e := range elements {
		if e.Trust = marks[e.ID]; e.Origin == OriginTranscript {
			if e.Trust = marks[e.Parent]; e.Trust == 0 {
				e.Trust = TrustUnverified
			}
		}
		if e.Trust == TrustTrigger || e.Trust == TrustAuthorized {
			var quotes []string
			e.Text, quotes = splitSpoken(e)
			for i, q := range quotes {
				marked = append(marked, quoteOf(e, i+1, q))
			}
		}
		marked = append(marked, e)
	}
	if t.WantVoice {
		trigger = voiceOf(marked, t.Message)
	}
	return marked, trigger
}

type marker struct {
	ctx   context.Context
	auth  Authorizer
	turn  Turn
	self  map[string]bool
	holds map[string]bool // by person, asked once
}

func (m *marker) mark(e Element) Trust {
	switch {
	case e.Origin.fetched():
		return TrustUnverified
	case m.self[e.Author.ID]:
		return TrustSelf
	}
	switch e.Author.Kind {
	case KindSystem:
		return TrustSystem
	case KindPerson:
		if !m.holdsTrigger(e.Author.ID) {
			return TrustUnverified
		}
		if m.isTrigger(e) {
			return TrustTrigger
		}
		return TrustAuthorized
	case KindAgent, KindApp, KindImport:
		return TrustUnverified
	default:
		return TrustUnverified
	}
}

// isTrigger reports whether e, by a person who holds trigger, started the run.
func (m *marker) isTrigger(e Element) bool {
	t := m.turn
	return t.Created && t.Message != "" && e.ID == t.Message && canSpeak(e.Origin) &&
		t.Actor.Kind == KindPerson && t.Actor.ID == e.Author.ID && !m.self[t.Actor.ID]
}

func (m *marker) holdsTrigger(person string) bool {
	if held, asked := m.holds[person]; asked {
		return held
	}
	held := m.ask(person)
	m.holds[person] = held
	return held
}

// ask asks the Authorizer. No answer, an error, a panic, or an answer that comes when ctx is done all count as no.
func (m *marker) ask(person string) bool {
	if m.auth == nil || m.ctx.Err() != nil {
		return false
	}
	answer := make(chan bool, 1)
	go func() {
		held := false
		defer func() {
			if recover() != nil {
				held = false
			}
			answer <- held
		}()
		yes, err := m.auth.HoldsTrigger(m.ctx, person, m.turn.Channel)
		held = yes && err == nil
	}()
	select {
	case held := <-answer:
		return held && m.ctx.Err() == nil
	case <-m.ctx.Done():
		return false
	}
}

// voiceOf gives the element of trust trigger that speaks: the message, or its one transcript if the message is silent.
func voiceOf(elements []Element, message string) string {
	silent, transcript, transcripts := false, "", 0
	for _, e := range elements {
		switch {
		case e.Trust != TrustTrigger:
		case e.ID == message && !isBlank(e.Text):
			return e.ID
		case e.ID == message:
			silent = true
		case e.Origin == OriginTranscript && e.Parent == message && !isBlank(e.Text):
			transcript = e.ID
			transcripts++
		}
	}
	if silent && transcripts == 1 {
		return transcript
	}
	return ""
}

// splitSpoken takes the quotes out of what its author wrote; records and headers are taken as they are.
func splitSpoken(e Element) (own string, quotes []string) {
	switch e.Origin {
	case OriginMessage, OriginMailBody, OriginHistory:
		return SplitQuotes(e.Text)
	case OriginRecordField, OriginFile, OriginTranscript, OriginToolResult, OriginDenial, OriginClarification,
		OriginFeedItem, OriginMailHeader, OriginImported:
		return e.Text, nil
	default:
		return e.Text, nil
	}
}

// quoteOf makes the element of a quoted part: what it says was not said by the author of the message.
func quoteOf(e Element, n int, text string) Element {
	return Element{
		ID:        e.ID + "/q" + strconv.Itoa(n),
		Author:    Author{ID: "quoted", Kind: KindImport},
		Origin:    OriginImported,
		Role:      RoleOther,
		Trust:     TrustUnverified,
		MediaType: e.MediaType,
		Parent:    e.ID,
		Text:      text,
	}
}
