package rules

import "decant.dev/fence"

// Where says which parts of the sources a rule looks at; parts are joined with |. The zero value is invalid.
type Where uint16

// The parts. Quoted replies, comments, tags and what a form left behind are in Quote or nowhere, never in Prose.
const (
	Title   Where = 1 << iota // a source declared as title, whole
	Heading                   // headings of a body
	Opening                   // the first 400 bytes of a body's prose
	Prose                     // a body's prose, the opening included
	Code                      // code blocks
	Inline                    // `code` within a line
	Quote                     // quoted replies
	Link                      // addresses

	Text = Title | Heading | Prose // what a person wrote in sentences
)

const (
	allParts     = Title | Heading | Opening | Prose | Code | Inline | Quote | Link
	openingBytes = 400
)

// Set is the rules of one recipe. What is taken from a record is decided first, then matches, tokens and quotes, then what the
// trigger commands, then choices, then subsets, each in the order in which they stand here.
type Set struct {
	Sources  []Source
	Takes    []Take
	Matches  []Match
	Choices  []Choice
	Subsets  []Subset
	Tokens   []Token
	Quotes   []Quotation
	Commands []Command
}

// Source names the elements that rules read: all that have this origin and, if it is given, this field. Elements that no
// source names are not read, nor is anything of trust self.
type Source struct {
	Origin fence.Origin
	Field  string
	Title  bool // one line that names the matter; otherwise a body in Markdown
}

// Take decides a field by a record's field as it is: the elements of origin record_field with the name From, oldest first. It
// is exact, and reads nothing between the lines. A token, text or quote is the first whole text that fits; a list of tokens
// is each that fits, once; a choice is the label of the first text that is listed, or that is a label itself where none are:
// of an enum, a whole number of its range, true or false. A choice that is not taken is left to a Choice of the same field.
type Take struct {
	ID, Field, From string
	// Sep parts what a text lists. Of a text that is too long the longest beginning that ends before a Sep is taken;
	// without, none of it.
	Sep    string
	Labels map[string]string // of a choice: texts in lower case, each with its label; nil where texts are labels
}

// Match decides a choice by what a configuration lists. Each element of origin record_field with the name From names one
// thing on its first line, and then, as ranges of Semantic Versioning 2.0.0 (">=1.2.0 <1.4.1 || >=2.0.0"), which versions
// of it are meant. Names are compared byte for byte. The first 1,024 elements are looked at: an intake that may make more says
// so in another way.
type Match struct {
	ID, Field, From string
	Listed          []Listed
	Hit             string // a listed name without a version, or with one that is meant
	Unsure          string // a listed name, with a version or ranges that nobody can compare
	Miss            string // anything else
}

// Listed is one thing of a configuration. An empty Version stands for each.
type Listed struct{ Name, Version string }

// Rule is evidence for one value of a field. It counts once, however often it matches.
type Rule struct {
	id     string
	value  string
	weight int
	where  Where
	match  Matcher
}

// Weigh makes a rule. Its id is unique in its set: lower-case words joined by dots. The value is a label, a decimal integer,
// or true or false. The weight is in tenths of a bit, -200 to 200: 10 makes the value twice as likely against the others.
func Weigh(id, value string, weight int, where Where, match Matcher) Rule {
	return Rule{id: id, value: value, weight: weight, where: where, match: match}
}

// Choice decides an enum, an integer range or a boolean: the value with the greatest sum of weights, if that reaches the
// threshold and is positive, otherwise the default. Equal sums give the default if it is among them, otherwise the
// value that comes first in the shape.
type Choice struct {
	Field     string
	Default   string // empty: the field is left out, which must be optional
	Threshold int
	Rules     []Rule
}

// Subset decides a set of distinct labels: each whose own sum of weights is positive and reaches the threshold; if they are
// more than the shape allows, those with the greatest sums.
type Subset struct {
	Field     string
	When      Matcher // if given, the set is empty unless it matches
	Threshold int
	Rules     []Rule
}

// Token decides a token by the pattern that the shape gives it: the first match of the first rule that has one. A match is
// bounded by characters that the pattern does not know, and by no part of a word.
type Token struct {
	Field string
	Rules []TokenRule
}

// TokenRule is one way to recognise a token, best first.
type TokenRule struct {
	ID         string
	Where      Where
	Confidence int      // 0 to 100, the recipe author's estimate
	Near       []string // if given, one of these words stands before the match: within 48 bytes of its line or in its heading
	Unlike     []string // none of these words stands there
	Parts      int      // if given, the match has at least this many parts joined by dots
	Semver     bool     // the match is a version by Semantic Versioning 2.0.0, where a missing patch is taken for .0

	// Layouts are forms of a date as of package time. If given, what is looked for is a date in one of them, and the
	// token is that date as Format writes it.
	Layouts []string
	Format  string
}

// Sentence is one way to find a quote: the first sentence of one of the parts that has at least Min characters and fits the shape. It is
// an exact substring of one line of one element.
type Sentence struct {
	ID    string
	Where Where // Title, Heading or Prose
	Min   int
}

// Quotation decides a quote field by the first of its rules that finds a sentence.
type Quotation struct {
	Field string
	Rules []Sentence
}

// Command lets the one person who holds trigger decide choices by hand: a line "NAME value key:value …" in the triggering
// element, outside code and quotes. A value alone must be a label of exactly one field. What is no value of the
// shape is ignored, and so is every such line in any other element.
type Command struct {
	Name string            // with its slash: /triage
	Keys map[string]string // other names of fields: area for areas
}
