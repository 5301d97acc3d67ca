package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"decant.dev/fence"
)

// turn is an answer before it is spelled.
type turn struct {
	Schema string   `json:"schema"`
	System []string `json:"system"`
	User   string   `json:"user"`
}

// mutant changes the right answer to a context; token is the boundary in it.
type mutant func(c fence.RunContext, p fence.Prompt, t *turn)

// adapter answers rightly, but for what m changes.
func adapter(m mutant) Func {
	return func(_ context.Context, doc []byte) ([]byte, error) {
		c, err := fence.DecodeRunContext(doc)
		if err != nil {
			return nil, err
		}
		p, err := fence.Render(c, rand.Reader)
		if err != nil {
			return nil, err
		}
		t := turn{SchemaTurn, p.System(), p.User()}
		m(c, p, &t)
		return json.Marshal(t)
	}
}

// each changes every part.
func (t *turn) each(f func(string) string) {
	for i := range t.System {
		t.System[i] = f(t.System[i])
	}
	t.User = f(t.User)
}

// data changes the data, wherever it stands.
func (t *turn) data(p fence.Prompt, f func(string) string) {
	if p.Data() != "" {
		t.each(func(s string) string { return strings.Replace(s, p.Data(), f(p.Data()), 1) })
	}
}

// rerender answers another context, with the boundary that it draws.
func rerender(t *turn, c fence.RunContext) {
	p, err := fence.Render(c, rand.Reader)
	if err != nil {
		panic(err)
	}
	t.System, t.User = p.System(), p.User()
}

var (
	lineBlock  = regexp.MustCompile(`([a-z_ 0-9=]+): (《DATA [0-9]+ token=[0-9a-f]{32}》([^\n]*?)《/DATA [0-9]+ token=[0-9a-f]{32}》)`)
	wholeBlock = regexp.MustCompile(`《DATA [0-9]+ token=[0-9a-f]{32}》 ([^\n]*)\n((?:┃ [^\n]*\n)+)《/DATA [0-9]+ token=[0-9a-f]{32}》\n`)
)

// unfence puts the texts of some blocks, and the words of their headers, in their place.
func unfence(data string, line func(label string) bool, whole func(attributes string) bool) string {
	raw := func(block string) string {
		text, err := fence.Unfence(block)
		if err != nil {
			panic(err)
		}
		return text
	}
	data = lineBlock.ReplaceAllStringFunc(data, func(s string) string {
		m := lineBlock.FindStringSubmatch(s)
		if !line(m[1]) {
			return s
		}
		return m[1] + ": " + raw(m[2])
	})
	return wholeBlock.ReplaceAllStringFunc(data, func(s string) string {
		m := wholeBlock.FindStringSubmatch(s)
		if !whole(m[1]) {
			return s
		}
		return m[1] + "\n" + raw(s) + "\n"
	})
}

func never(string) bool  { return false }
func always(string) bool { return true }

func having(words ...string) func(string) bool {
	return func(s string) bool {
		for _, w := range words {
			if !strings.Contains(s, w) {
				return false
			}
		}
		return true
	}
}

// unfencing leaves some blocks out.
func unfencing(line, whole func(string) bool) mutant {
	return func(_ fence.RunContext, p fence.Prompt, t *turn) {
		t.data(p, func(s string) string { return unfence(s, line, whole) })
	}
}

// block fences a text as package fence does.
func block(p fence.Prompt, n int, text string) string {
	e := fence.Attributes{Origin: fence.OriginMessage, Role: fence.RoleUser, Trust: fence.TrustTrigger, Author: fence.Author{ID: "u", Kind: fence.KindPerson}}
	return string(fence.AppendBlock(nil, n, p.Boundary(), e, text))
}

// retoken puts another token in place of the boundary.
func retoken(p fence.Prompt, t *turn, token string) {
	t.each(func(s string) string { return strings.ReplaceAll(s, p.Boundary().Hex(), token) })
}

// remembering un-fences what was written by whoever once was a voice.
func remembering() mutant {
	voices := map[string]bool{}
	return func(c fence.RunContext, p fence.Prompt, t *turn) {
		for _, e := range c.Elements {
			if e.ID == c.Trigger {
				voices[e.Author.ID] = true
			}
		}
		t.data(p, func(s string) string {
			return unfence(s, never, func(attributes string) bool {
				_, id, _ := strings.Cut(attributes, "author=person:")
				return voices[id] && !strings.Contains(attributes, "origin=file") && !strings.Contains(attributes, "trust=trigger")
			})
		})
	}
}

// counting draws its tokens from a counter: each is new, and none is random.
func counting() mutant {
	n := 0
	return func(_ fence.RunContext, p fence.Prompt, t *turn) {
		n++
		retoken(p, t, fmt.Sprintf("%032d", n))
	}
}
