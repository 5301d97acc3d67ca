package rules

import (
	"slices"
	"strings"

	"decant.dev/extract"
	"decant.dev/fence"
)

// command is a compiled Command.
type command struct {
	name string
	keys map[string]int // field by key
	bare map[string]int // field by label, where the label is one field's only
}

// argument is one value that a command gave.
type argument struct {
	field, label   int
	offset, length int
}

// obey lets the commands of the trigger's message decide choices and sets before the rules do. Any other element's are not looked at.
func (x *Extractor) obey(rc fence.RunContext, done []verdict) {
	if len(x.commands) == 0 || rc.Trigger == "" {
		return
	}
	for _, e := range rc.Elements {
		if e.ID != rc.Trigger || e.Trust != fence.TrustTrigger {
			continue
		}
		given := make([][]argument, len(x.fields))
		for _, a := range x.arguments(e.Text) {
			given[a.field] = append(given[a.field], a)
		}
		for i, args := range given {
			if len(args) > 0 {
				x.override(i, args, e.ID, &done[i])
			}
		}
		return
	}
}

// override gives a choice the last value, a set all of them up to its bound.
func (x *Extractor) override(i int, args []argument, element string, v *verdict) {
	f := &x.fields[i]
	step := func(a argument) extract.Step {
		return extract.Step{Field: f.name, Rule: RuleCommand, Confidence: 100, Element: element, Offset: a.offset, Length: a.length}
	}
	if f.kind == fieldChoice {
		a := args[len(args)-1]
		*v = verdict{raw: f.appendLabel(nil, a.label), label: a.label, steps: []extract.Step{step(a)}}
		return
	}
	var in []argument
	for _, a := range args {
		if len(in) < f.hi && !slices.ContainsFunc(in, func(b argument) bool { return b.label == a.label }) {
			in = append(in, a)
		}
	}
	if len(in) < f.lo {
		return
	}
	slices.SortFunc(in, func(a, b argument) int { return a.label - b.label })
	var labels []int
	v.steps = nil
	for _, a := range in {
		labels = append(labels, a.label)
		v.steps = append(v.steps, step(a))
	}
	v.raw = f.appendSet(nil, labels)
}

// arguments are the values in the command lines of a text, in their order.
func (x *Extractor) arguments(text string) []argument {
	var list []argument
	for _, span := range AppendSpans(nil, text) {
		if span.Kind != SpanProse {
			continue
		}
		for at := span.Start; at < span.End; {
			end := lineEnd(text, at, span.End)
			if at == 0 || text[at-1] == '\n' {
				if c, from := commandOf(x.commands, text[at:end]); c != nil {
					list = x.line(list, c, text[at+from:end], at+from)
				}
			}
			at = end
		}
	}
	return list
}

// line appends the arguments of one command line, whose first byte is at base.
func (x *Extractor) line(list []argument, c *command, line string, base int) []argument {
	for at := 0; at < len(line); {
		if line[at] <= ' ' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] > ' ' {
			end++
		}
		word := line[at:end]
		key, value, keyed := word, "", false
		if n := strings.IndexAny(word, ":="); n > 0 {
			key, value, keyed = word[:n], word[n+1:], true
		}
		f, known := c.keys[key]
		if !keyed {
			f, known = c.bare[word]
			value = word
		}
		if known {
			if l := slices.Index(x.fields[f].labels, value); l >= 0 {
				list = append(list, argument{f, l, base + at, end - at})
			}
		}
		at = end
	}
	return list
}

// commandOf recognises a command line; from is the length of its name.
func commandOf(commands []command, line string) (c *command, from int) {
	body := strings.TrimLeft(line, " ")
	for i := range commands {
		rest, ok := strings.CutPrefix(body, commands[i].name)
		if ok && (rest == "" || rest[0] <= ' ') {
			return &commands[i], len(line) - len(rest)
		}
	}
	return nil, 0
}

// mentions is a quick look whether there can be a command line.
func mentions(part string, commands []command) bool {
	return slices.ContainsFunc(commands, func(c command) bool { return strings.Contains(part, c.name) })
}

// withoutCommands adds a span of prose without its command lines, which are evidence of nothing.
func (s *scan) withoutCommands(element int, text string, span Span, commands []command) {
	from := span.Start
	for at := span.Start; at < span.End; {
		end := lineEnd(text, at, span.End)
		if (text[at] == '/' || text[at] == ' ') && (at == 0 || text[at-1] == '\n') {
			if c, _ := commandOf(commands, text[at:end]); c != nil {
				if from < at {
					s.span(element, text, Span{SpanProse, from, at})
				}
				s.close(text, element)
				from = end
			}
		}
		at = end
	}
	if from < span.End {
		s.span(element, text, Span{SpanProse, from, span.End})
	}
}

// lineEnd is the end of the line that starts at, its LF included, or limit.
func lineEnd(text string, at, limit int) int {
	if n := strings.IndexByte(text[at:limit], '\n'); n >= 0 {
		return at + n + 1
	}
	return limit
}
