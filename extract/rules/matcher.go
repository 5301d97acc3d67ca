package rules

// Matcher is a condition on the parts that its rule looks at. The zero Matcher matches nothing and is refused by New.
type Matcher struct {
	op      op
	words   []string
	heads   []string
	expr    string
	feature Feature
	field   string
	value   string
	subs    []Matcher
}

type op uint8

const (
	opWords op = iota + 1
	opSection
	opAnswer
	opPattern
	opHas
	opFound
	opIs
	opNot
	opAll
	opAny
)

// Words matches any of the words or phrases, as whole words, in any case. A star at the end of one stands for any ending:
// "crash*". Blanks and line ends are alike; typographic apostrophes are as plain ones. Scripts that put no space between
// words need no boundary.
func Words(words ...string) Matcher { return Matcher{op: opWords, words: words} }

// Section matches a heading that has any of the words and is followed by an answer: prose, code, a quote or a link, not only
// what a form left there.
func Section(words ...string) Matcher { return Matcher{op: opSection, words: words} }

// Answer matches any of the words under a heading that has one of the words in heads: what a form asked and what was said.
func Answer(heads []string, words ...string) Matcher {
	return Matcher{op: opAnswer, heads: heads, words: words}
}

// Pattern matches a regular expression (RE2), written in lower case, against folded text. With words in near it is tried on
// the 96 bytes before and the 160 after each of these words, at most 16 times a text; without, only on titles and headings.
// So a pattern costs little on a long text.
func Pattern(expr string, near ...string) Matcher {
	return Matcher{op: opPattern, expr: expr, words: near}
}

// Has matches if a body has the feature.
func Has(f Feature) Matcher { return Matcher{op: opHas, feature: f} }

// Found matches if a token or quote field was found.
func Found(field string) Matcher { return Matcher{op: opFound, field: field} }

// Is matches if an earlier choice has the value.
func Is(field, value string) Matcher { return Matcher{op: opIs, field: field, value: value} }

// Not matches if m does not.
func Not(m Matcher) Matcher { return Matcher{op: opNot, subs: []Matcher{m}} }

// All matches if every one of ms does; the place of the match is the first one's that has a place.
func All(ms ...Matcher) Matcher { return Matcher{op: opAll, subs: ms} }

// Any matches if one of ms does.
func Any(ms ...Matcher) Matcher { return Matcher{op: opAny, subs: ms} }
