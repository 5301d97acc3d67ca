package rules

import (
	"strings"
	"unicode/utf8"

	"decant.dev/fence"
)

// region is a stretch of folded text that is one part of one element.
type region struct {
	place      Where // exactly one part; Opening is told by open
	element    int
	start, end int  // in folded text
	open       int  // of Prose: up to here it is Opening
	filled     bool // of Heading: an answer follows
	head       int  // region of the heading above, or -1
}

// hit is the first place where something matched; from and to are positions in folded text.
type hit struct {
	ok       bool
	region   int
	from, to int
}

// piece is a span of an element that was read, for rules that need the text as it was fetched.
type piece struct {
	place      Where
	element    int
	start, end int // in the element's text
	head       int // region of the heading above it, or -1
}

// scan is what one pass over the sources found. It is reused.
type scan struct {
	elements []fence.Element
	folded   folded
	regions  []region
	pieces   []piece
	spans    []Span
	pending  []Span // inline code and links of the open region
	hits     []hit  // by leaf
	tries    []int  // by leaf
	features [featureEnd]bool
	prose    int
	steps    int
	current  int   // open region of prose, or -1
	head     int   // last heading's region, or -1
	wants    Where // parts that some rule looks for words in; others are not folded
	prosed   int   // bytes of prose of this body so far
}

// keepBytes is how much folded text a scan may have held and still be reused, so that one long text does not cost its
// memory ever after.
const keepBytes = 1 << 20

// read folds all sources of a run and looks for the words of all rules.
func (x *Extractor) read(elements []fence.Element) *scan {
	s := &x.scan
	if cap(s.folded.buf) > keepBytes {
		*s = scan{hits: s.hits, tries: s.tries}
	}
	*s = scan{
		elements: elements, folded: folded{buf: s.folded.buf[:0], marks: s.folded.marks[:0]},
		regions: s.regions[:0], pieces: s.pieces[:0], spans: s.spans[:0], pending: s.pending[:0], hits: s.hits, tries: s.tries,
		current: -1, head: -1, wants: x.wants,
	}
	clear(s.hits)
	clear(s.tries)
	for i, e := range elements {
		switch src, ok := x.source(e); {
		case !ok:
		case src.Title:
			s.title(i, e.Text)
		default:
			s.body(i, e.Text, x.commands)
		}
	}
	s.finish()
	x.match(s)
	return s
}

// source is the first declaration that names the element.
func (x *Extractor) source(e fence.Element) (Source, bool) {
	if e.Trust == fence.TrustSelf {
		return Source{}, false
	}
	for _, src := range x.sources {
		if src.Origin == e.Origin && (src.Field == "" || src.Field == e.Field) {
			return src, true
		}
	}
	return Source{}, false
}

func (s *scan) title(element int, text string) {
	s.head = -1
	s.pieces = append(s.pieces, piece{Title, element, 0, len(text), -1})
	s.region(Title, element)
	s.folded.append(text, 0)
	s.close(text, element)
	s.features[AsksTitle] = s.features[AsksTitle] || strings.HasSuffix(strings.TrimRight(text, " \t\r\n"), "?")
}

func (s *scan) body(element int, text string, commands []command) {
	s.head, s.prosed = -1, 0
	s.spans = AppendSpans(s.spans[:0], text)
	for _, span := range s.spans {
		if span.Kind == SpanProse && mentions(text[span.Start:span.End], commands) {
			s.withoutCommands(element, text, span, commands)
			continue
		}
		s.span(element, text, span)
	}
	s.close(text, element)
}

// span adds one span of a body to the folded text.
func (s *scan) span(element int, text string, span Span) {
	s.look(text, span)
	part := text[span.Start:span.End]
	switch span.Kind {
	case SpanProse:
		if s.current < 0 {
			s.region(Prose, element)
		}
		s.pieces = append(s.pieces, piece{Prose, element, span.Start, span.End, s.head})
		at := len(s.folded.buf)
		s.folded.append(part, span.Start)
		if left := openingBytes - s.prosed; left > 0 {
			s.regions[s.current].open = min(at+left, len(s.folded.buf))
		}
		s.prosed += len(part)
		if hasWord(part) {
			s.answer()
		}
	case SpanInline, SpanLink:
		if s.current < 0 {
			s.region(Prose, element)
		}
		s.gap('`')
		s.pending = append(s.pending, span)
		s.answer()
	case SpanMarkup:
		if s.current >= 0 {
			s.gap(' ')
		}
	case SpanHeading:
		s.close(text, element)
		s.block(Heading, element, text, span)
		s.head = len(s.regions) - 1
	case SpanCode:
		s.close(text, element)
		s.answer()
		s.block(Code, element, text, span)
	case SpanQuote:
		s.close(text, element)
		s.answer()
		s.block(Quote, element, text, span)
	default: // comments and boilerplate are not read
		s.close(text, element)
	}
}

// block adds a span that is a region by itself.
func (s *scan) block(place Where, element int, text string, span Span) {
	s.pieces = append(s.pieces, piece{place, element, span.Start, span.End, s.head})
	s.region(place, element)
	if place&s.wants != 0 {
		s.folded.append(text[span.Start:span.End], span.Start)
	}
	s.close(text, element)
}

func (s *scan) answer() {
	if s.head >= 0 {
		s.regions[s.head].filled = true
	}
}

// gap stands for something that was left out of the open region.
func (s *scan) gap(c byte) {
	if n := len(s.folded.buf); n > 0 && (c != ' ' || s.folded.buf[n-1] != ' ') {
		s.folded.buf = append(s.folded.buf, c)
	}
}

func (s *scan) region(place Where, element int) {
	s.current = len(s.regions)
	s.regions = append(s.regions, region{place: place, element: element, start: len(s.folded.buf), head: s.head})
}

// close ends the open region with a line feed, which no word of a rule holds, and adds what is pending as regions.
func (s *scan) close(text string, element int) {
	if s.current < 0 {
		return
	}
	s.regions[s.current].end = len(s.folded.buf)
	s.folded.buf = append(s.folded.buf, '\n')
	s.current = -1
	for _, span := range s.pending {
		place := Inline
		if span.Kind == SpanLink {
			place = Link
		}
		s.pieces = append(s.pieces, piece{place, element, span.Start, span.End, s.head})
		s.regions = append(s.regions, region{place: place, element: element, start: len(s.folded.buf), head: s.head})
		if place&s.wants != 0 {
			s.folded.append(text[span.Start:span.End], span.Start)
		}
		s.regions[len(s.regions)-1].end = len(s.folded.buf)
		s.folded.buf = append(s.folded.buf, '\n')
	}
	s.pending = s.pending[:0]
}

func hasWord(part string) bool {
	for i := 0; i < len(part); i++ {
		if c := part[i]; c >= utf8.RuneSelf || isLetter(c) || isDigit(c) {
			return true
		}
	}
	return false
}

// place leads a hit back to its element: the element's id, the byte offset in its text, and the length there.
func (s *scan) place(h hit) (id string, offset, length int) {
	if !h.ok || h.to <= h.from {
		return "", 0, 0
	}
	e := s.elements[s.regions[h.region].element]
	_, n := utf8.DecodeLastRune(s.folded.buf[h.from:h.to])
	last := s.folded.source(h.to - n)
	_, n = utf8.DecodeRuneInString(e.Text[last:])
	offset = s.folded.source(h.from)
	return e.ID, offset, last + n - offset
}
