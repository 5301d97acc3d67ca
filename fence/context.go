package fence

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a run's context.
const (
	MaxTriggerBytes  = 256 << 10 // of the triggering message, which is never truncated
	MaxScaffoldBytes = 64 << 10  // of the instruction and of the scaffold, each
	MaxElements      = 4096
	MaxContextBytes  = 32 << 20 // of run_context.v1 as JSON
	MaxLimit         = 16 << 20 // of either limit

	maxInteger = 1<<53 - 1 // RFC 8785 numbers are doubles
)

// Kinds of a refused context.
var (
	ErrContext         = errors.New("invalid run context")
	ErrTriggerTooLarge = errors.New("triggering message too large")
)

// Limits bound what a prompt shows. Both count bytes of the text as fetched, before marks and escapes, and are exact:
// an element or a sum of just that many bytes is shown whole. The triggering message is outside both.
type Limits struct {
	MessageMaxBytes int // context_message_max_bytes: of one element; 1 to MaxLimit
	ContextMaxBytes int // context_max_bytes: of all elements together; 1 to MaxLimit
}

// RunContext is run_context.v1: everything that a prompt is made of. It carries the texts whole; Render applies the limits.
type RunContext struct {
	Run         string // 1 to 128 of A-Z a-z 0-9 . _ : -
	Recipe      string // 1 to 64 of A-Z a-z 0-9 _ -
	Profile     Profile
	Placement   Placement // zero: the profile's default
	Trigger     string    // id of the element that is the voice, of trust trigger; empty: Instruction is the voice
	Instruction string    // by the recipe's author; scaffold where a trigger speaks
	Scaffold    string    // plain text by the recipe's author: field names, what to fill
	Limits      Limits
	Elements    []Element // oldest first
}

func contextError(path, rule string) error { return fmt.Errorf("%w: %s: %s", ErrContext, path, rule) }

// Validate reports the first rule of run_context.v1 that c breaks, as a path and a rule, without any value. The kinds are
// [ErrContext], [ErrElement] and [ErrTriggerTooLarge].
func (c RunContext) Validate() error {
	switch {
	case !isRun(c.Run):
		return contextError("run", "want 1 to 128 of A-Z a-z 0-9 . _ : -")
	case !isRecipe(c.Recipe):
		return contextError("recipe", "want 1 to 64 of A-Z a-z 0-9 _ -")
	case !valid(profileNames, c.Profile):
		return contextError("profile", "want a known profile")
	case c.Placement != 0 && !valid(placementNames, c.Placement):
		return contextError("placement", "want a known placement")
	case c.Limits.MessageMaxBytes < 1 || c.Limits.MessageMaxBytes > MaxLimit:
		return contextError("limits.context_message_max_bytes", "want 1 to 16777216")
	case c.Limits.ContextMaxBytes < 1 || c.Limits.ContextMaxBytes > MaxLimit:
		return contextError("limits.context_max_bytes", "want 1 to 16777216")
	case len(c.Instruction) > MaxScaffoldBytes || !utf8.ValidString(c.Instruction):
		return contextError("instruction", "want UTF-8 of at most 65536 bytes")
	case len(c.Scaffold) > MaxScaffoldBytes || !utf8.ValidString(c.Scaffold):
		return contextError("scaffold", "want UTF-8 of at most 65536 bytes")
	case len(c.Elements) > MaxElements:
		return contextError("elements", "want at most 4096")
	}
	index := make(map[string]int, len(c.Elements))
	for i, e := range c.Elements {
		path := fmt.Sprintf("elements[%d]", i)
		if err := e.check(path); err != nil {
			return err
		}
		if _, twice := index[e.ID]; twice {
			return contextError(path+".id", "want each id once")
		}
		index[e.ID] = i
	}
	if err := c.checkParents(index); err != nil {
		return err
	}
	return c.checkVoice(index)
}

// checkParents: a parent is an element of the context, and a transcript carries its message's mark.
func (c RunContext) checkParents(index map[string]int) error {
	for i, e := range c.Elements {
		if e.Parent == "" {
			continue
		}
		path := fmt.Sprintf("elements[%d]", i)
		p, ok := index[e.Parent]
		switch {
		case !ok || p == i:
			return contextError(path+".parent", "want the id of another element")
		case e.Origin == OriginTranscript && c.Elements[p].Origin == OriginTranscript:
			return contextError(path+".parent", "want a message, not a transcript")
		case e.Origin == OriginTranscript && e.Trust != c.Elements[p].Trust:
			return contextError(path+".trust", "want the trust of the transcript's message")
		}
	}
	return nil
}

// checkVoice: exactly one voice, that can be shown byte for byte, and at most one message of trust trigger; the
// transcripts of that message carry the same mark and count as one with it.
func (c RunContext) checkVoice(index map[string]int) error {
	message := ""
	for i, e := range c.Elements {
		if e.Trust != TrustTrigger || e.Origin == OriginTranscript {
			continue
		}
		if message != "" {
			return contextError(fmt.Sprintf("elements[%d].trust", i), "want at most one message of trust trigger")
		}
		message = e.ID
	}
	if c.Trigger == "" {
		if isBlank(c.Instruction) {
			return contextError("instruction", "want a voice: an instruction, or a trigger")
		}
		return nil
	}
	i, ok := index[c.Trigger]
	if !ok || c.Elements[i].Trust != TrustTrigger {
		return contextError("trigger", "want the id of an element of trust trigger")
	}
	voice := c.Elements[i].Text
	switch {
	case len(voice) > MaxTriggerBytes:
		return fmt.Errorf("%w: elements[%d].text: want at most %d bytes, got %d", ErrTriggerTooLarge, i, MaxTriggerBytes, len(voice))
	case !utf8.ValidString(voice):
		return contextError(fmt.Sprintf("elements[%d].text", i), "want a voice in UTF-8")
	case isBlank(voice):
		return contextError(fmt.Sprintf("elements[%d].text", i), "want a voice that is not empty")
	}
	return nil
}

// isBlank reports whether nothing in s can be seen.
func isBlank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !isSkipped(r) }) < 0
}

// placement gives the placement in force.
func (c RunContext) placement() Placement {
	switch {
	case c.Placement != 0:
		return c.Placement
	case c.Profile == ProfileAdapter:
		return PlacementSystem
	default:
		return PlacementUser
	}
}
