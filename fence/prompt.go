package fence

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

// Cut names an element that is shown in part, and how many bytes of its text are left out.
type Cut struct {
	ID    string
	Bytes int
}

// Prompt is one rendered turn: prompt.v1. Only Render makes one, so each has exactly one voice. The zero value has none
// and cannot be encoded.
type Prompt struct {
	context   RunContext
	boundary  Boundary
	placement Placement
	data      string
	voice     string
	included  []string
	truncated []Cut
	dropped   []string
}

// ErrNoPrompt says that a Prompt was not made by Render.
var ErrNoPrompt = errors.New("no prompt: want one that Render made")

// Render makes the prompt of a context: it validates it, draws the boundary from random (crypto/rand.Reader outside
// tests) when all content is known, and fences every element but the voice. The texts may hold any bytes. Errors are
// those of [RunContext.Validate] and [NewBoundary].
func Render(c RunContext, random io.Reader) (Prompt, error) {
	if err := c.Validate(); err != nil {
		return Prompt{}, err
	}
	b, err := NewBoundary(random, c.contents()...)
	if err != nil {
		return Prompt{}, err
	}
	return render(c, b), nil
}

// contents gives every string of c that a prompt can show.
func (c RunContext) contents() []string {
	all := make([]string, 0, 2+3*len(c.Elements))
	all = append(all, c.Instruction, c.Scaffold)
	for _, e := range c.Elements {
		all = append(all, e.Text, e.Author.Name, e.Author.ID)
	}
	return all
}

// render is Render with a valid context and a boundary that does not occur in it; it depends on nothing else.
func render(c RunContext, b Boundary) Prompt {
	c.Elements = append([]Element(nil), c.Elements...)
	p := Prompt{context: c, boundary: b, placement: c.placement(), voice: c.Instruction}
	skip := -1
	for i, e := range c.Elements {
		if c.Trigger != "" && e.ID == c.Trigger {
			skip, p.voice = i, e.Text
		}
	}
	parts := fit(c.Elements, c.Limits, skip)
	p.data = p.build(parts)
	visible := make(map[int]int, len(parts))
	for _, s := range parts {
		visible[s.index] = s.text
	}
	for i, e := range c.Elements {
		size, ok := visible[i]
		switch {
		case i == skip:
			p.included = append(p.included, e.ID)
		case !ok:
			p.dropped = append(p.dropped, e.ID)
		default:
			p.included = append(p.included, e.ID)
			if out := len(e.Text) - size + e.TruncatedBytes; out > 0 {
				p.truncated = append(p.truncated, Cut{e.ID, out})
			}
		}
	}
	return p
}

// build writes the data: the recipe author's plain text, then the elements.
func (p Prompt) build(parts []shown) string {
	c := p.context
	var size, dropped int
	for _, s := range parts {
		size += s.text + s.text/8 + s.name + 1024
	}
	dst := make([]byte, 0, size+len(c.Instruction)+len(c.Scaffold)+1024)
	if c.Trigger != "" {
		dst = appendParagraph(dst, c.Instruction)
	}
	dst = appendParagraph(dst, c.Scaffold)
	for _, e := range c.Elements {
		if e.ID != c.Trigger || c.Trigger == "" {
			dropped++
		}
	}
	if dropped -= len(parts); dropped > 0 {
		dst = append(dst, "Note: this context has a limit; left out from the oldest on: "...)
		dst = strconv.AppendInt(dst, int64(dropped), 10)
		dst = append(dst, " of its elements.\n"...)
	}
	n := 0
	for _, s := range parts {
		dst, n = p.appendElement(dst, n, c.Elements[s.index], s)
	}
	return string(dst)
}

// appendElement writes one element after block number n, and gives the number of its last block. Which lines it writes
// depends on the element's kind alone, never on its text or name.
func (p Prompt) appendElement(dst []byte, n int, e Element, s shown) ([]byte, int) {
	if e.Trust == TrustUnverified {
		dst = append(append(dst, noteUnverified...), '\n')
	}
	if e.Origin.fetched() {
		dst = append(append(dst, noteFile...), '\n')
	}
	a := Attributes{e.Origin, e.Role, e.Trust, e.Author, len(e.Text) - s.text + e.TruncatedBytes}
	if e.Origin == OriginRecordField {
		dst = append(appendAttributes(append(dst, nextLabel...), a), '\n')
	}
	if e.Author.Kind != KindSystem || e.Author.Name != "" {
		n++
		dst = appendNameLabel(dst, len(e.Author.Name)-s.name)
		dst = append(AppendLine(dst, n, p.boundary, e.Author.Name[:s.name]), '\n')
	}
	n++
	if e.Origin == OriginRecordField {
		dst = append(append(dst, e.Field...), ": "...)
		return append(AppendLine(dst, n, p.boundary, e.Text[:s.text]), '\n'), n
	}
	return AppendBlock(dst, n, p.boundary, a, e.Text[:s.text]), n
}

// appendNameLabel introduces a display name of which cut bytes are left out.
func appendNameLabel(dst []byte, cut int) []byte {
	dst = append(dst, "author name"...)
	if cut > 0 {
		dst = strconv.AppendInt(append(dst, " truncated="...), int64(cut), 10)
	}
	return append(dst, ": "...)
}

func appendParagraph(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	dst = append(dst, text...)
	if !strings.HasSuffix(text, "\n") {
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// Preamble gives the constant of the context's profile. It carries the data rule and names no boundary.
func (p Prompt) Preamble() string { return p.context.Profile.Preamble() }

// Data gives the recipe author's scaffold and the elements as blocks, oldest first.
func (p Prompt) Data() string { return p.data }

// Voice gives the one un-fenced text of the turn, byte for byte.
func (p Prompt) Voice() string { return p.voice }

// Placement gives the place of the data; the voice is in the user message in both.
func (p Prompt) Placement() Placement { return p.placement }

// Boundary gives the token of the turn, for [Boundary.EchoedIn].
func (p Prompt) Boundary() Boundary { return p.boundary }

// Context gives what the prompt was made of, with the texts whole.
func (p Prompt) Context() RunContext {
	c := p.context
	c.Elements = append([]Element(nil), c.Elements...)
	return c
}

// Included gives the ids of the elements that the prompt shows, wholly or in part, in order.
func (p Prompt) Included() []string { return append([]string{}, p.included...) }

// Truncated gives the elements that are shown in part.
func (p Prompt) Truncated() []Cut { return append([]Cut{}, p.truncated...) }

// Dropped gives the ids of the elements that are left out, in order.
func (p Prompt) Dropped() []string { return append([]string{}, p.dropped...) }

// System gives the system parts in order. The first is the preamble; the voice is in none.
func (p Prompt) System() []string {
	if p.placement == PlacementSystem && p.data != "" {
		return []string{p.Preamble(), p.data}
	}
	return []string{p.Preamble()}
}

// User gives the user message. It ends with the voice.
func (p Prompt) User() string {
	user := p.context.Profile.voiceLabel(p.context.Trigger != "") + "\n" + p.voice
	if p.placement == PlacementUser && p.data != "" {
		return p.data + "\n" + user
	}
	return user
}
