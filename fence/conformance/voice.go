package conformance

import (
	"fmt"
	"strings"
	"unicode"
)

// judgeVoice: the voice is once in the user message, at its end, outside of blocks, and nowhere else.
func (v seen) judgeVoice(report broken) {
	voice := v.right.Voice()
	fenced := false
	for _, c := range canaries.FindAllString(voice, -1) {
		for _, w := range v.words[c] {
			switch {
			case w.inside:
				fenced = true
				report(OneVoice, fmt.Sprintf("%s: words of the voice stand in a block", v.place(w.part)))
			case !v.isUser(w.part):
				report(VoiceNotInSystem, fmt.Sprintf("%s: words of the voice stand there", v.place(w.part)))
			}
		}
	}
	inUser := 0
	for i, p := range v.parts {
		whole := 0
		for _, at := range p.find(voice) {
			if p.touches(at) {
				continue
			}
			whole++
			if v.isUser(i) && strings.ContainsFunc(p.text[at.end:], isSpoken) {
				report(VoiceLast, "something follows the voice")
			}
		}
		if v.isUser(i) {
			inUser = whole
		}
	}
	switch limits := v.context.Limits; {
	case inUser == 1:
	case inUser > 1:
		report(OneVoice, fmt.Sprintf("the voice stands %d times in the user message", inUser))
	case !fenced && v.context.Trigger != "" && len(voice) > min(limits.MessageMaxBytes, limits.ContextMaxBytes):
		report(TriggerWhole, fmt.Sprintf("a triggering message of %d bytes is not there whole", len(voice)))
	default:
		report(OneVoice, "the voice is not in the user message un-fenced and byte for byte")
	}
}

// isSpoken reports whether a rune could be a word; a closing quotation mark is none.
func isSpoken(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
