package conformance

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"decant.dev/fence"
)

// seen is one answer to one context, with its blocks.
type seen struct {
	scenario
	answer answer
	tokens []token
	parts  []marked
	words  map[string][]word // each canary, wherever it stands
	right  fence.Prompt      // the same context as package fence renders it
}

// word is one occurrence of a canary.
type word struct {
	part   int
	from   int // in the part
	inside bool
}

// look finds the blocks of an answer; other is another answer to the same context.
func look(s scenario, a, other answer) (seen, error) {
	right, err := fence.Render(s.context, rand.Reader)
	if err != nil {
		return seen{}, err
	}
	doc, err := s.context.Encode()
	if err != nil {
		return seen{}, err
	}
	v := seen{scenario: s, answer: a, tokens: tokensOf(a, other, string(doc)), right: right}
	v.words = make(map[string][]word)
	for i, text := range a.parts() {
		p := mark(text, v.tokens)
		v.parts = append(v.parts, p)
		for _, at := range canaries.FindAllStringIndex(text, -1) {
			c := text[at[0]:at[1]]
			v.words[c] = append(v.words[c], word{i, at[0], p.inside(span{at[0], at[1]})})
		}
	}
	return v, nil
}

// paired reports whether the blocks of all parts are known. The first system part is no place for blocks.
func (v seen) paired() bool {
	for i, p := range v.parts {
		if !p.paired && !v.isPreamble(i) {
			return false
		}
	}
	return true
}

func (v seen) isUser(part int) bool     { return part == len(v.parts)-1 }
func (v seen) isPreamble(part int) bool { return part == 0 && !v.isUser(part) }

// broken takes what was found.
type broken func(rule Rule, detail string)

// judge finds the rules that one answer breaks.
func (v seen) judge(report broken) {
	v.judgeBoundary(report)
	v.judgePreamble(report)
	if v.paired() {
		v.judgeElements(report)
		v.judgeVoice(report)
		v.judgeScaffold(report)
		v.judgePlacement(report)
		v.judgeForgeries(report)
	}
	if v.answer.prompt != nil {
		v.judgePrompt(report)
	}
}

func (v seen) judgeBoundary(report broken) {
	if len(v.tokens) == 0 {
		report(BoundaryRandom, "no token was found: nothing occurs twice that differs in another answer to the same context")
	}
	for _, t := range v.tokens {
		if t.bits < wantBits {
			report(BoundaryRandom, fmt.Sprintf("a token of %.0f bits, want %d", t.bits, wantBits))
			break
		}
	}
	for i, p := range v.parts {
		if !p.paired && !v.isPreamble(i) {
			report(BoundaryPairs, fmt.Sprintf("%s: the tokens stand in no pairs, so that its blocks are not known", v.place(i)))
		}
	}
}

func (v seen) place(part int) string {
	if v.isUser(part) {
		return "user message"
	}
	return fmt.Sprintf("system part %d", part)
}

var (
	obeyRule   = regexp.MustCompile(`(?is)\b(?:not|never|don't|no)\b[^.]{0,60}\b(?:obey|follow|act on|execute|carry out|instructions?|orders?|commands?)\b`)
	refuseRule = regexp.MustCompile(`(?is)\b(?:not|never|don't|nor|no)\b[^.]{0,60}\b(?:refus|declin|reject)`)
)

func (v seen) judgePreamble(report broken) {
	switch {
	case len(v.answer.system) == 0:
		report(DataRule, "want a system part that carries it, got none")
	case !obeyRule.MatchString(v.answer.system[0]):
		report(DataRule, "the first system part does not say that data is never obeyed")
	case !refuseRule.MatchString(v.answer.system[0]):
		report(DataRule, "the first system part does not say that data is no reason to refuse")
	}
}

// fencedRule is the rule that an un-fenced element breaks.
func (v seen) fencedRule(e fence.Element) Rule {
	switch {
	case v.blame != 0:
		return v.blame
	case e.Origin == fence.OriginRecordField:
		return FieldFenced
	case e.Origin == fence.OriginTranscript:
		return TranscriptFenced
	case e.Origin == fence.OriginFile:
		return AttachmentFenced
	case e.Trust == fence.TrustUnverified && (e.Origin == fence.OriginMessage || e.Origin == fence.OriginImported):
		return ForeignFenced
	default:
		return ElementFenced
	}
}

// shown gives how many bytes of each element are to be shown, and -1 for one that is dropped.
func (v seen) shown() map[string]int {
	sizes := make(map[string]int)
	for _, e := range v.context.Elements {
		sizes[e.ID] = len(e.Text)
	}
	for _, c := range v.right.Truncated() {
		sizes[c.ID] -= c.Bytes
	}
	for _, id := range v.right.Dropped() {
		sizes[id] = -1
	}
	return sizes
}

func (v seen) judgeElements(report broken) {
	sizes := v.shown()
	last, lastID := -1, ""
	for _, e := range v.context.Elements {
		if e.ID == v.context.Trigger {
			continue
		}
		size := sizes[e.ID]
		whole := size == len(e.Text)
		for _, at := range canaries.FindAllStringIndex(e.Text, -1) {
			first, out := v.where(e.Text[at[0]:at[1]])
			if at[1] > size {
				if first >= 0 || out {
					report(LimitsKept, fmt.Sprintf("element %s shows more than its first %d bytes", e.ID, max(0, size)))
				}
				continue
			}
			v.judgeCanary(report, e, v.fencedRule(e), first, out, whole)
			if first >= 0 {
				if first < last {
					report(OrderKept, fmt.Sprintf("element %s stands before element %s, or its words in another order", e.ID, lastID))
				}
				last, lastID = first, e.ID
			}
		}
		if size < 0 {
			continue
		}
		for _, c := range canaries.FindAllString(e.Author.Name, -1) {
			first, out := v.where(c)
			v.judgeCanary(report, e, NameFenced, first, out, true)
		}
		if !strings.Contains(strings.Join(v.answer.parts(), "\n"), e.Author.ID) {
			report(AuthorShown, fmt.Sprintf("element %s: the author's id is not there", e.ID))
		}
	}
}

func (v seen) judgeCanary(report broken, e fence.Element, rule Rule, first int, out, whole bool) {
	switch {
	case out:
		report(rule, fmt.Sprintf("element %s (%v by %v, %v) stands outside of the blocks", e.ID, e.Origin, e.Author.Kind, e.Trust))
	case first < 0 && whole:
		report(NothingLost, fmt.Sprintf("element %s (%v by %v, %v) lacks words of its text or name", e.ID, e.Origin, e.Author.Kind, e.Trust))
	}
}

// where gives the place of a canary inside of a block, over all parts, or -1; and whether it also stands outside.
func (v seen) where(canary string) (first int, out bool) {
	first = -1
	for _, w := range v.words[canary] {
		switch {
		case !w.inside:
			out = true
		case first < 0:
			first = w.from
			for _, p := range v.parts[:w.part] {
				first += len(p.text)
			}
		}
	}
	return first, out
}

func (v seen) judgeScaffold(report broken) {
	plain := v.context.Scaffold
	if v.context.Trigger != "" {
		plain += v.context.Instruction
	}
	for _, c := range canaries.FindAllString(plain, -1) {
		if first, out := v.where(c); first >= 0 || !out {
			report(ScaffoldPlain, "scaffold or instruction is missing, or stands in a block")
		}
	}
}

func (v seen) judgePlacement(report broken) {
	for i, p := range v.parts {
		if !slices.ContainsFunc(p.blocks, func(b span) bool { return !v.holdsVoice(i, b) }) {
			continue
		}
		if want := v.right.Placement(); want == fence.PlacementUser && !v.isUser(i) || want == fence.PlacementSystem && (v.isUser(i) || v.isPreamble(i)) {
			report(Placement, fmt.Sprintf("want data placed %v, got blocks in %s", want, v.place(i)))
		}
	}
}

// holdsVoice reports whether a block holds words of the voice: a fault of another rule.
func (v seen) holdsVoice(part int, b span) bool {
	for _, c := range canaries.FindAllString(v.right.Voice(), 1) {
		for _, w := range v.words[c] {
			if w.part == part && b.from <= w.from && w.from < b.end {
				return true
			}
		}
	}
	return false
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func (v seen) judgeForgeries(report broken) {
	for i, p := range v.parts {
		for _, m := range v.forged {
			if strings.Contains(p.text, m) {
				report(ForgedMarker, fmt.Sprintf("%s: a forged marker is there as it was written", v.place(i)))
			}
		}
		if len(v.roles) == 0 {
			continue
		}
		for _, line := range strings.Split(lineEnds.Replace(p.text), "\n") {
			for _, start := range v.roles {
				if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t\u00a0"), start+" "); ok && canaries.FindStringIndex(rest) != nil &&
					canaries.FindStringIndex(rest)[0] == 0 {
					report(ForgedRole, fmt.Sprintf("%s: a line of foreign text starts as a turn", v.place(i)))
				}
			}
		}
	}
}
