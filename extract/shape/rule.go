package shape

// Rule is why a document is not a value of a shape: a closed list. The zero Rule is invalid.
type Rule uint8

// The rules, by what is wrong.
const (
	RuleSyntax       Rule = iota + 1 // not JSON: RFC 8259
	RuleLength                       // more bytes than a candidate may have
	RuleTrailing                     // bytes after the value
	RuleUTF8                         // bytes that are no UTF-8
	RuleSurrogate                    // an escaped surrogate without its other half
	RuleType                         // another JSON type than the field's
	RuleNull                         // null, which is no value of any field
	RuleUnknownKey                   // a key that is no field
	RuleKeyCase                      // a key that is a field but for the case of its letters
	RuleDuplicateKey                 // a key twice
	RuleMissing                      // no value for a required field
	RuleLabel                        // a string that is no label
	RuleNumber                       // a number that is no plain integer: a fraction, an exponent, -0, more than 16 digits
	RuleRange                        // an integer below minimum or above maximum
	RulePattern                      // a string that the pattern or its lengths do not admit
	RuleAlphabet                     // a character that no text may hold
	RuleTextLength                   // fewer characters than minLength or more than maxLength
	RuleItems                        // fewer items than minItems or more than maxItems
	RuleDuplicate                    // a choice twice in a set
	RuleCanonical                    // another spelling than the canonical one: spaces, escapes, order of keys or of a set
)

var ruleNames = [...]struct{ name, want string }{
	RuleSyntax:       {"syntax", "want JSON as in RFC 8259"},
	RuleLength:       {"length", "want fewer bytes"},
	RuleTrailing:     {"trailing", "want nothing after the value"},
	RuleUTF8:         {"utf8", "want valid UTF-8"},
	RuleSurrogate:    {"surrogate", "want surrogates in pairs"},
	RuleType:         {"type", "want the JSON type of the field"},
	RuleNull:         {"null", "want a value, or no key"},
	RuleUnknownKey:   {"unknown_key", "want only the fields of the shape"},
	RuleKeyCase:      {"key_case", "want the exact case of the field"},
	RuleDuplicateKey: {"duplicate_key", "want each key once"},
	RuleMissing:      {"missing", "want a value for a required field"},
	RuleLabel:        {"label", "want one of the labels"},
	RuleNumber:       {"number", "want a plain integer of at most 16 digits"},
	RuleRange:        {"range", "want an integer from minimum to maximum"},
	RulePattern:      {"pattern", "want a string of the pattern"},
	RuleAlphabet:     {"alphabet", "want characters of the alphabet of texts"},
	RuleTextLength:   {"text_length", "want a number of characters from minLength to maxLength"},
	RuleItems:        {"items", "want a number of items from minItems to maxItems"},
	RuleDuplicate:    {"duplicate", "want each choice once"},
	RuleCanonical:    {"canonical", "want the canonical spelling"},
}

// String is the name that traces and corrections use, or "invalid".
func (r Rule) String() string {
	if r == 0 || int(r) >= len(ruleNames) {
		return "invalid"
	}
	return ruleNames[r].name
}

// Want says what the rule asks for, in a constant.
func (r Rule) Want() string {
	if r == 0 || int(r) >= len(ruleNames) {
		return "want a rule of the list"
	}
	return ruleNames[r].want
}

// Rules is every rule.
func Rules() []Rule {
	var list []Rule
	for r := RuleSyntax; r <= RuleCanonical; r++ {
		list = append(list, r)
	}
	return list
}

// DecodeError is why a document was refused. It holds the schema path and the rule, both from closed lists known before
// the document came, and nothing of the document.
type DecodeError struct {
	Path string // schema path: items[].id, or (root)
	Rule Rule
}

// Error is one line without foreign text.
func (e *DecodeError) Error() string {
	return "structure refused at " + e.Path + ": " + e.Rule.String() + ": " + e.Rule.Want()
}
