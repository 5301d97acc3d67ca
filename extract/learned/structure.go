package learned

import (
	"strings"

	"decant.dev/extract/rules"
)

// forms is what an item is made of, apart from its words.
type forms struct {
	flags uint32
	prose int // bytes
	title int // bytes
}

// The flags of forms.
const (
	flagAsksTitle = iota
	flagTagged
	flagColon
	flagAsks
	flagCode
	flagMoreCode
	flagInline
	flagLink
	flagMoreLinks
	flagPicture
	flagComment
	flagBoilerplate
	flagMoreBoilerplate
	flagChecklist
	flagTrace
	flagSteps
	flagNoHeading
	flagCount
)

func (f *forms) set(flag int, ok bool) {
	if ok {
		f.flags |= 1 << flag
	}
}

func (r *reader) forms(title, body string) forms {
	var f forms
	var n [rules.SpanBoilerplate + 1]int
	for _, s := range r.spans {
		n[s.Kind]++
		part := body[s.Start:s.End]
		switch s.Kind {
		case rules.SpanProse:
			f.prose += len(part)
			f.set(flagAsks, strings.IndexByte(part, '?') >= 0)
			f.set(flagPicture, strings.Contains(part, "!["))
		case rules.SpanMarkup:
			f.set(flagPicture, strings.HasPrefix(part, "<img"))
		case rules.SpanBoilerplate:
			f.set(flagChecklist, strings.Contains(part, "[ ]") || strings.Contains(part, "[x]"))
		case rules.SpanCode:
			f.set(flagTrace, strings.Contains(part, "Traceback") || strings.Contains(part, "    at ") || strings.Contains(part, "Error:"))
		default:
		}
	}
	title = strings.TrimSpace(title)
	f.title = len(title)
	f.set(flagAsksTitle, strings.HasSuffix(title, "?"))
	f.set(flagTagged, strings.HasPrefix(title, "["))
	f.set(flagColon, strings.IndexByte(title, ':') >= 0)
	f.set(flagCode, n[rules.SpanCode] > 0)
	f.set(flagMoreCode, n[rules.SpanCode] > 2)
	f.set(flagInline, n[rules.SpanInline] > 0)
	f.set(flagLink, n[rules.SpanLink] > 0)
	f.set(flagMoreLinks, n[rules.SpanLink] > 3)
	f.set(flagComment, n[rules.SpanComment] > 0)
	f.set(flagBoilerplate, n[rules.SpanBoilerplate] > 0)
	f.set(flagMoreBoilerplate, n[rules.SpanBoilerplate] > 5)
	f.set(flagSteps, strings.Contains(body, "1.") && strings.Contains(body, "2."))
	f.set(flagNoHeading, n[rules.SpanHeading] == 0)
	return f
}

// The lengths, in bytes, at which a title and prose count as longer.
var (
	titleSteps = [...]int{20, 40, 60, 80}
	proseSteps = [...]int{50, 150, 300, 600, 1200, 2500}
)

func (r *reader) structure(f *forms) {
	id := uint64(1)
	add := func(ok bool) {
		if ok {
			r.add(id << 40)
		}
		id++
	}
	for flag := range flagCount {
		add(f.flags&(1<<flag) != 0)
	}
	for _, n := range titleSteps {
		add(f.title > n)
	}
	for _, n := range proseSteps {
		add(f.prose > n)
	}
	if n := len(r.title); n > 0 {
		const first, last = 0x85ebca6b, 0xc2b2ae35
		r.add(r.title[0].hash ^ first)
		r.add(r.title[n-1].hash ^ last)
	}
}
