package rules

import "strings"

// SpanKind is what a stretch of Markdown is to a reader. The zero value is invalid.
type SpanKind uint8

// The kinds of span.
const (
	SpanProse       SpanKind = iota + 1 // what the author wrote, list items and table rows too
	SpanHeading                         // one heading: a # line, a line all in bold, a short line that ends in a colon
	SpanCode                            // a fenced or indented block, its fences included
	SpanInline                          // `code` within a line, its backticks included
	SpanQuote                           // lines that start with >
	SpanComment                         // an HTML comment
	SpanMarkup                          // an HTML tag, a rule, the underline of a heading
	SpanLink                            // an address: https://… or the (…) of a Markdown link
	SpanBoilerplate                     // what a form left: a check box, "_No response_"
)

var spanNames = [...]string{
	SpanProse: "prose", SpanHeading: "heading", SpanCode: "code", SpanInline: "inline", SpanQuote: "quote",
	SpanComment: "comment", SpanMarkup: "markup", SpanLink: "link", SpanBoilerplate: "boilerplate",
}

// String is the kind's name, or "invalid".
func (k SpanKind) String() string {
	if k == 0 || int(k) >= len(spanNames) {
		return "invalid"
	}
	return spanNames[k]
}

// Span is the half-open byte range [Start, End) of a text.
type Span struct {
	Kind       SpanKind
	Start, End int
}

// AppendSpans cuts a Markdown text into spans, in one pass, and appends them to dst. Together they cover the text; none is
// empty and none overlaps another. Any bytes are a text: what is no Markdown is prose.
//
// It reads Markdown as people use it in reports, which is not all of CommonMark: blocks inside list items are read as if
// they stood outside, a heading by underline stays prose, a lazy continuation of a quote is prose. A comment that is never
// closed reaches to the end, as on GitHub.
func AppendSpans(dst []Span, text string) []Span {
	s := segmenter{text: text, spans: dst, base: len(dst), prevBlank: true}
	for s.at < len(text) {
		end := len(text)
		if n := strings.IndexByte(text[s.at:], '\n'); n >= 0 {
			end = s.at + n + 1
		}
		s.line(end)
	}
	return s.spans
}

type segmenter struct {
	text      string
	spans     []Span
	base      int // spans before it are the caller's
	at        int // everything before it is covered
	fence     byte
	fenceLen  int // 0 outside a fenced block
	comment   bool
	prevBlank bool
	indented  bool // the line before was indented code
	list      bool // inside a list, where indentation is no code
}

// emit covers the text up to end. Neighbours of a kind are one span, except headings.
func (s *segmenter) emit(kind SpanKind, end int) {
	if end <= s.at {
		return
	}
	if n := len(s.spans); n > s.base && s.spans[n-1].Kind == kind && kind != SpanHeading {
		s.spans[n-1].End = end
	} else {
		s.spans = append(s.spans, Span{kind, s.at, end})
	}
	s.at = end
}

// line covers one line, its LF included.
func (s *segmenter) line(end int) {
	if s.comment {
		s.closeComment(end)
		if s.at == end {
			return
		}
	}
	line := s.text[s.at:end]
	for line != "" && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if s.fenceLen > 0 {
		body, _ := trimIndent(line)
		if mark, n, rest := fenceOf(body); mark == s.fence && n >= s.fenceLen && strings.TrimSpace(rest) == "" {
			s.fenceLen = 0
		}
		s.emit(SpanCode, end)
		return
	}
	body, indent := trimIndent(line)
	if body == "" || body[0] < ' ' && strings.TrimSpace(body) == "" {
		s.blank(end)
		return
	}
	if indent >= 4 && !s.list && (s.prevBlank || s.indented) {
		s.prevBlank, s.indented = false, true
		s.emit(SpanCode, end)
		return
	}
	wasBlank := s.prevBlank
	s.prevBlank, s.indented = false, false
	if kind, whole := s.block(body, indent, wasBlank); whole {
		s.emit(kind, end)
		return
	}
	s.inline(end)
}

// blank lines belong to the span before them, so that they part no block.
func (s *segmenter) blank(end int) {
	s.prevBlank = true
	if n := len(s.spans); n > s.base {
		s.spans[n-1].End, s.at = end, end
		return
	}
	s.emit(SpanProse, end)
}

// block recognises lines that are of one kind as a whole.
func (s *segmenter) block(body string, indent int, wasBlank bool) (SpanKind, bool) {
	if mark, n, rest := fenceOf(body); n >= 3 && (mark != '`' || strings.IndexByte(rest, '`') < 0) {
		s.fence, s.fenceLen = mark, n
		return SpanCode, true
	}
	switch item, isItem := listItem(body); {
	case isItem:
		s.list = true
		if box, isBox := checkBox(item); isBox || filler(box) {
			return SpanBoilerplate, true
		}
		return 0, false
	case indent == 0 && wasBlank:
		s.list = false
	}
	switch {
	case body[0] == '>':
		return SpanQuote, true
	case isHeading(body):
		return SpanHeading, true
	case isRule(body):
		return SpanMarkup, true
	case filler(body):
		return SpanBoilerplate, true
	}
	return 0, false
}

// special marks the bytes where inline has to look closer.
var special = [256]bool{'`': true, '<': true, ':': true, ']': true}

// inline cuts a line of prose. Every search that fails is remembered, so that a line costs one pass however it is made.
func (s *segmenter) inline(end int) {
	text := s.text[:end]
	var noRun uint64 // lengths of backtick runs that have no partner in the rest of the line
	tagEnd := -1     // next > in the line
	parenEnd := -1   // next ) in the line
	for i := s.at; i < end; {
		if !special[text[i]] {
			i++
			continue
		}
		next := i + 1
		switch text[i] {
		case '`':
			n := run(text, i)
			next = i + n
			if n < 64 && noRun&(1<<n) == 0 {
				if stop := closingRun(text, next, n); stop > 0 {
					s.emit(SpanProse, i)
					s.emit(SpanInline, stop)
					next = stop
				} else {
					noRun |= 1 << n
				}
			}
		case '<':
			if strings.HasPrefix(text[i:], "<!--") {
				s.emit(SpanProse, i)
				s.comment = true
				s.closeComment(end)
				if s.comment {
					return
				}
				next = s.at
				break
			}
			if tagEnd < i && tagEnd < end {
				tagEnd = indexFrom(text, i, '>')
			}
			if tagEnd < end && i+1 < end && opensTag(text[i+1]) && tagEnd-i < 1024 {
				s.emit(SpanProse, i)
				s.emit(SpanMarkup, tagEnd+1)
				next = tagEnd + 1
			}
		case ':':
			if start := schemeStart(text, max(s.at, i-12), i); start >= 0 {
				stop := i + 3
				for stop < end && !endsLink(text[stop]) {
					stop++
				}
				s.emit(SpanProse, start)
				s.emit(SpanLink, stop)
				next = stop
			}
		case ']':
			if i+1 >= end || text[i+1] != '(' {
				break
			}
			if parenEnd < i && parenEnd < end {
				parenEnd = indexFrom(text, i, ')')
			}
			if parenEnd < end {
				s.emit(SpanProse, i+1)
				s.emit(SpanLink, parenEnd+1)
				next = parenEnd + 1
			}
		}
		i = next
	}
	s.emit(SpanProse, end)
}

// closeComment covers a comment up to its end or the line's.
func (s *segmenter) closeComment(end int) {
	from := s.at
	if strings.HasPrefix(s.text[from:end], "<!--") {
		from += len("<!--")
	}
	if n := strings.Index(s.text[from:end], "-->"); n >= 0 {
		s.comment = false
		s.emit(SpanComment, from+n+len("-->"))
		return
	}
	s.emit(SpanComment, end)
}
