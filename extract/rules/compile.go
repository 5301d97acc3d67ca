package rules

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"decant.dev/fence"
)

// compiler turns a set into an extractor and gathers every fault on the way.
type compiler struct {
	x       *Extractor
	ids     map[string]bool
	decided map[int]bool // by field, in the order of deciding
	faults  []error
}

func (c *compiler) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

func (c *compiler) set(set Set) {
	if len(set.Sources) == 0 {
		c.fault("no sources: want the origin of an element at least")
	}
	for _, src := range set.Sources {
		if _, err := src.Origin.MarshalText(); err != nil {
			c.fault("source: %w", err)
		}
		if src.Field != "" && src.Origin != fence.OriginRecordField {
			c.fault("source %s: a field is of origin record_field only", src.Origin)
		}
	}
	c.x.sources = slices.Clone(set.Sources)
	for _, t := range set.Takes {
		c.take(t)
	}
	for _, m := range set.Matches {
		c.match(m)
	}
	for _, t := range set.Tokens {
		c.token(t)
	}
	for _, q := range set.Quotes {
		c.quote(q)
	}
	for _, ch := range set.Choices {
		if i := c.field(ch.Field, fieldChoice); i >= 0 {
			c.x.choices = append(c.x.choices, c.choice(i, ch.Default, ch.Threshold, ch.Rules))
			c.decided[i] = true
		}
	}
	for _, sub := range set.Subsets {
		c.subset(sub)
	}
	for _, cmd := range set.Commands {
		c.command(cmd)
	}
	for i, f := range c.x.fields {
		if !c.decided[i] && !f.optional {
			c.fault("field %s: no rule decides it", f.name)
		}
	}
}

// field is the index of a field of the kind that is not yet decided, or -1.
func (c *compiler) field(name string, kind fieldKind) int {
	i := slices.IndexFunc(c.x.fields, func(f field) bool { return f.name == name })
	switch {
	case i < 0:
		c.fault("field %q: the shape has none of this name", name)
		return -1
	case c.x.fields[i].kind != kind:
		c.fault("field %s: it is of another kind", name)
		return -1
	case c.decided[i]:
		c.fault("field %s: decided twice", name)
		return -1
	}
	return i
}

// id checks the id of a rule.
func (c *compiler) id(id string) {
	switch {
	case !isRuleID(id):
		c.fault("rule %q: want an id of 1 to 64 of a-z 0-9 . _ -", id)
	case c.ids[id]:
		c.fault("rule %s: this id stands twice or is reserved", id)
	}
	c.ids[id] = true
}

func isRuleID(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || isDigit(c) || strings.IndexByte("._-", c) >= 0) {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= 64
}

func (c *compiler) parts(id string, where, allowed Where) {
	if where == 0 || where&^allowed != 0 {
		c.fault("rule %s: want parts of a text that this kind of rule can look at", id)
	}
}

func (c *compiler) choice(i int, fallback string, threshold int, rules []Rule) choice {
	f := &c.x.fields[i]
	out := choice{field: i, fallback: -1, threshold: threshold}
	switch {
	case fallback != "":
		if out.fallback = slices.Index(f.labels, fallback); out.fallback < 0 {
			c.fault("field %s: default %q is no value of it", f.name, fallback)
		}
	case f.kind == fieldChoice && !f.optional:
		c.fault("field %s: no default", f.name)
	}
	for _, r := range rules {
		c.id(r.id)
		label := slices.Index(f.labels, r.value)
		if label < 0 {
			c.fault("rule %s: %q is no value of field %s", r.id, r.value, f.name)
			label = 0
		}
		if r.weight == 0 || r.weight < -200 || r.weight > 200 {
			c.fault("rule %s: weight %d: want -200 to 200 and not 0", r.id, r.weight)
		}
		if r.where&^allParts != 0 {
			c.fault("rule %s: unknown part of a text", r.id)
		}
		out.rules = append(out.rules, weighed{r.id, label, r.weight, c.matcher(r.id, r.where, r.match)})
	}
	return out
}

func (c *compiler) subset(sub Subset) {
	i := c.field(sub.Field, fieldSet)
	if i < 0 {
		return
	}
	if c.x.fields[i].lo > 0 {
		c.fault("field %s: rules can leave a set empty: want no minItems", sub.Field)
	}
	ch := c.choice(i, "", sub.Threshold, sub.Rules)
	if sub.When.op != 0 {
		when := c.matcher(sub.Field, Text, sub.When)
		ch.when = &when
	}
	c.x.subsets = append(c.x.subsets, ch)
	c.decided[i] = true
}

// matcher compiles a condition and registers its words.
func (c *compiler) matcher(id string, where Where, m Matcher) node {
	n := node{op: m.op, leaf: -1, feature: m.feature}
	switch m.op {
	case opWords, opSection, opAnswer, opPattern:
		if where == 0 {
			c.fault("rule %s: no part of a text to look at", id)
		}
		n.leaf = len(c.x.leaves)
		l := leaf{where: where, heads: c.nearby(id, m.heads)}
		if m.op == opSection {
			l.section, l.where = true, Heading
		}
		if m.op == opAnswer && len(l.heads) == 0 {
			c.fault("rule %s: no words of a heading", id)
		}
		if m.op == opPattern {
			l.re = c.pattern(id, m.expr)
			l.alone = len(m.words) == 0
			if l.alone && where&^(Title|Heading) != 0 {
				c.fault("rule %s: a pattern on more than titles and headings wants words that it is near", id)
			}
		} else if len(m.words) == 0 {
			c.fault("rule %s: no words", id)
		}
		c.x.leaves = append(c.x.leaves, l)
		for _, w := range m.words {
			word, prefix := starred(w)
			if !c.x.learn(word, use{n.leaf, prefix}) {
				c.fault("rule %s: an empty word", id)
			}
		}
	case opHas:
		if m.feature == 0 || m.feature >= featureEnd {
			c.fault("rule %s: unknown feature", id)
			n.feature = 0
		}
	case opFound, opIs:
		n.field = slices.IndexFunc(c.x.fields, func(f field) bool { return f.name == m.field })
		if n.field < 0 || !c.decided[n.field] {
			c.fault("rule %s: field %q: want one that is decided before", id, m.field)
			break
		}
		f := &c.x.fields[n.field]
		if carried := f.kind == fieldToken || f.kind == fieldQuote || f.kind == fieldText; carried != (m.op == opFound) {
			c.fault("rule %s: field %s: want Found of a token or quote, Is of a choice", id, m.field)
		}
		if n.value = slices.Index(f.labels, m.value); m.op == opIs && n.value < 0 {
			c.fault("rule %s: %q is no value of field %s", id, m.value, m.field)
		}
	case opNot, opAll, opAny:
		if len(m.subs) == 0 {
			c.fault("rule %s: a condition of nothing", id)
		}
		for _, sub := range m.subs {
			n.subs = append(n.subs, c.matcher(id, where, sub))
		}
	default:
		c.fault("rule %s: no matcher", id)
	}
	return n
}

// starred folds a word and takes its star off.
func starred(w string) (word string, prefix bool) {
	word, prefix = strings.CutSuffix(foldString(w), "*")
	return word, prefix
}

func (c *compiler) pattern(id, expr string) *regexp.Regexp {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		c.fault("rule %s: %w", id, err)
		return nil
	}
	if hasUpper(tree) {
		c.fault("rule %s: the pattern looks for upper case, but text is folded to lower", id)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		c.fault("rule %s: %w", id, err)
	}
	if re != nil && re.MatchString("") {
		c.fault("rule %s: the pattern matches the empty text", id)
	}
	return re
}

func hasUpper(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		return slices.ContainsFunc(re.Rune, func(r rune) bool { return 'A' <= r && r <= 'Z' && re.Flags&syntax.FoldCase == 0 })
	}
	return slices.ContainsFunc(re.Sub, hasUpper)
}
