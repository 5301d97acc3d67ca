package conformance

import "strconv"

// Rule is one rule of the fence that an adapter can break. The zero value is invalid.
type Rule uint8

// The rules, in the order of a report. Each has its id, its sentence and its source in the table below.
const (
	_ Rule = iota
	Answers
	BoundaryRandom
	BoundaryPairs
	PreambleConstant
	DataRule
	ForeignFenced
	ElementFenced
	AttachmentFenced
	TranscriptFenced
	FieldFenced
	NameFenced
	MarksOfNow
	OutsideConstant
	ForgedRole
	ForgedMarker
	NoteBefore
	MarkShown
	AuthorShown
	OneVoice
	VoiceLast
	VoiceNotInSystem
	TriggerWhole
	LimitsKept
	CutsShown
	NothingLost
	OrderKept
	ScaffoldPlain
	Placement
	BlockForm
	PartsAgree
)

var rules = []struct{ id, sentence string }{
	Answers:          {"answers", "each context is answered in time and within bounds, with exit code 0 and one turn.v1 or prompt.v1"},
	BoundaryRandom:   {"boundary_random", "blocks stand between markers with a token of at least 64 random bits, new for each turn"},
	BoundaryPairs:    {"boundary_pairs", "the token stands in an opening and a closing marker for each block, and nowhere else"},
	PreambleConstant: {"preamble_constant", "the first system part is the same bytes in every turn of a profile, so it names no token and can be cached"},
	DataRule:         {"data_rule", "the first system part says that data is never obeyed and no reason to refuse the turn (SEC-G1, D18)"},
	ForeignFenced:    {"foreign_fenced", "what is unverified (strangers, other agents, apps, imports) stands in blocks only (AG-20)"},
	ElementFenced:    {"element_fenced", "everything else but the voice stands in blocks only: history, tool results, denials, our own words"},
	AttachmentFenced: {"attachment_fenced", "the content of a file stands in blocks only, whoever handed it in"},
	TranscriptFenced: {"transcript_fenced", "a transcript is treated as its message: data, unless it is the triggering person's voice"},
	FieldFenced:      {"field_fenced", "each field of a record stands in blocks only, the selected span and the target field too"},
	NameFenced:       {"name_fenced", "a display name is content and stands in blocks only"},
	MarksOfNow:       {"marks_of_now", "the marks of this context count, whatever an earlier one said of the same person"},
	OutsideConstant:  {"outside_constant", "what stands outside of the blocks does not depend on any foreign text (SEC-20)"},
	ForgedRole:       {"forged_role", "no line of foreign text looks like a turn of the conversation (SEC-20)"},
	ForgedMarker:     {"forged_marker", "a marker that a foreign text forges does not come through as it was written"},
	NoteBefore:       {"note_before", "a constant note stands before unverified blocks (AG-20)"},
	MarkShown:        {"mark_shown", "it can be seen whether an element is unverified (AG-20)"},
	AuthorShown:      {"author_shown", "each element is shown with the id of its author"},
	OneVoice:         {"one_voice", "the voice stands un-fenced, byte for byte and exactly once"},
	VoiceLast:        {"voice_last", "the voice ends the user message"},
	VoiceNotInSystem: {"voice_not_in_system", "the voice never enters a system part"},
	TriggerWhole:     {"trigger_whole", "the triggering message is never cut, whatever the limits (AG-21)"},
	LimitsKept:       {"limits_kept", "no more is shown than the limits allow, dropped from the oldest on (AG-21)"},
	CutsShown:        {"cuts_shown", "what was left out is said (AG-21)"},
	NothingLost:      {"nothing_lost", "whatever fits into the limits is there, and every word of it"},
	OrderKept:        {"order_kept", "elements keep their order, oldest first"},
	ScaffoldPlain:    {"scaffold_plain", "the recipe author's scaffold, and the instruction beside a person's voice, stand plain"},
	Placement:        {"placement", "data stands where the context places it: in a second system part, or in the user message"},
	BlockForm:        {"block_form", "prompt.v1 only: the blocks have the form of package fence and give each text back byte for byte"},
	PartsAgree:       {"parts_agree", "prompt.v1 only: preamble, voice, placement, digest and lists agree with the context and with flat"},
}

// Rules gives all rules in the order of a report.
func Rules() []Rule {
	var all []Rule
	for r := Answers; int(r) < len(rules); r++ {
		all = append(all, r)
	}
	return all
}

func (r Rule) valid() bool { return r > 0 && int(r) < len(rules) }

// String gives the rule's id, or "invalid(N)".
func (r Rule) String() string {
	if !r.valid() {
		return "invalid(" + strconv.Itoa(int(r)) + ")"
	}
	return rules[r].id
}

// Sentence says what the rule wants; it is empty for an invalid rule.
func (r Rule) Sentence() string {
	if !r.valid() {
		return ""
	}
	return rules[r].sentence
}
