package rules

import (
	"maps"
	"regexp/syntax"
	"slices"
)

func (c *compiler) token(t Token) {
	i := c.field(t.Field, fieldToken)
	if i < 0 {
		return
	}
	f := &c.x.fields[i]
	out := tokenRules{field: i}
	if !f.optional {
		c.fault("field %s: rules can only find a token that is optional", t.Field)
	}
	tree, err := syntax.Parse(f.expr, syntax.Perl)
	if err != nil {
		c.fault("field %s: %w", t.Field, err)
		return
	}
	out.need = alphabet(tree, &out.known)
	out.known['v'], out.known['V'] = true, true // a version's v, which spell adds or takes off
	for _, r := range t.Rules {
		c.id(r.ID)
		c.parts(r.ID, r.Where, allParts&^Opening)
		if r.Confidence < 0 || r.Confidence > 100 {
			c.fault("rule %s: confidence %d: want 0 to 100", r.ID, r.Confidence)
		}
		if slices.Contains(r.Layouts, "") {
			c.fault("rule %s: an empty layout", r.ID)
		}
		if (len(r.Layouts) > 0) != (r.Format != "") {
			c.fault("rule %s: want layouts and a format together", r.ID)
		}
		out.where |= r.Where
		out.rules = append(out.rules, tokenRule{r, c.nearby(r.ID, r.Near), c.nearby(r.ID, r.Unlike)})
	}
	c.x.tokens = append(c.x.tokens, out)
	c.decided[i] = true
}

func (c *compiler) nearby(id string, words []string) []nearby {
	var list []nearby
	for _, w := range words {
		word, prefix := starred(w)
		if word == "" {
			c.fault("rule %s: an empty word", id)
			continue
		}
		list = append(list, nearby{[]byte(word), prefix})
	}
	return list
}

func (c *compiler) quote(q Quotation) {
	i := c.field(q.Field, fieldQuote)
	if i < 0 {
		return
	}
	if !c.x.fields[i].optional {
		c.fault("field %s: rules can only find a quote that is optional", q.Field)
	}
	for _, r := range q.Rules {
		c.id(r.ID)
		c.parts(r.ID, r.Where, Title|Heading|Prose)
		if r.Min < 1 || r.Min > c.x.fields[i].hi {
			c.fault("rule %s: at least %d characters: want 1 to the field's %d", r.ID, r.Min, c.x.fields[i].hi)
		}
	}
	c.x.quotes = append(c.x.quotes, quoteRules{i, slices.Clone(q.Rules)})
	c.decided[i] = true
}

// command gathers the fields by key and by label. A label of two fields needs its key.
func (c *compiler) command(cmd Command) {
	if len(cmd.Name) < 2 || cmd.Name[0] != '/' || !isRuleID(cmd.Name[1:]) {
		c.fault("command %q: want a slash and a name", cmd.Name)
	}
	out := command{cmd.Name, map[string]int{}, map[string]int{}}
	twice := map[string]bool{}
	for i, f := range c.x.fields {
		if f.kind != fieldChoice && f.kind != fieldSet {
			continue
		}
		out.keys[f.name] = i
		for _, l := range f.labels {
			if _, ok := out.bare[l]; ok {
				twice[l] = true
			}
			out.bare[l] = i
		}
	}
	for l := range twice {
		delete(out.bare, l)
	}
	for _, key := range slices.Sorted(maps.Keys(cmd.Keys)) {
		i, ok := out.keys[cmd.Keys[key]]
		if !ok {
			c.fault("command %s: key %s: want a choice or a set", cmd.Name, key)
			continue
		}
		out.keys[key] = i
	}
	c.x.commands = append(c.x.commands, out)
}
