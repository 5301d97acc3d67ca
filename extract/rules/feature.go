package rules

import "strings"

// Feature is a property of the bodies as wholes. The zero value is invalid.
type Feature uint8

// The features.
const (
	CodeBlock    Feature = iota + 1 // a fenced or indented block
	StackTrace                      // lines as run times print them when a program dies
	NumberedList                    // two numbered steps or more, with words in them
	Image                           // a picture
	Asks                            // a sentence of the prose ends in a question mark
	AsksTitle                       // the title ends in a question mark
	Brief                           // fewer than 200 bytes of prose, and no code block
	Lengthy                         // more than 3,000 bytes of prose
	Checklist                       // check boxes
	featureEnd
)

// look gathers the features of one span.
func (s *scan) look(text string, span Span) {
	part := text[span.Start:span.End]
	switch span.Kind {
	case SpanBoilerplate:
		if strings.Contains(part, "[ ]") || strings.Contains(part, "[x]") || strings.Contains(part, "[X]") {
			s.features[Checklist] = true
		}
		return
	case SpanMarkup:
		if strings.HasPrefix(part, "<img") {
			s.features[Image] = true
		}
		return
	case SpanCode:
		s.features[CodeBlock] = true
	case SpanProse:
		s.prose += len(part)
		if !s.features[Image] && strings.IndexByte(part, '!') >= 0 && strings.Contains(part, "![") {
			s.features[Image] = true
		}
		if !s.features[Asks] {
			s.features[Asks] = asks(part)
		}
	default:
		return
	}
	for part != "" {
		line := part
		if n := strings.IndexByte(part, '\n'); n >= 0 {
			line, part = part[:n], part[n+1:]
		} else {
			part = ""
		}
		if line, _ = trimIndent(line); line == "" {
			continue
		}
		if span.Kind == SpanProse && isDigit(line[0]) && isStep(line) {
			s.steps++
		}
		if !s.features[StackTrace] && isFrame(line) {
			s.features[StackTrace] = true
		}
	}
}

// finish turns counts into features.
func (s *scan) finish() {
	s.features[NumberedList] = s.steps >= 2
	s.features[Brief] = s.prose < 200 && !s.features[CodeBlock]
	s.features[Lengthy] = s.prose > 3000
}

// asks reports a question mark that ends a word; those inside of addresses and globs are none.
func asks(part string) bool {
	for from := 0; ; {
		n := strings.IndexByte(part[from:], '?')
		if n < 0 {
			const last = 0x9F // byte of both
			return strings.IndexByte(part, last) >= 0 && (strings.Contains(part, "？") || strings.Contains(part, "؟"))
		}
		at := from + n
		from = at + 1
		if at > 0 && (isLetter(part[at-1]) || part[at-1] == ')') && (from == len(part) || part[from] <= ' ' || part[from] == '?') {
			return true
		}
	}
}

func isStep(line string) bool {
	item, ok := listItem(line)
	return ok && strings.IndexFunc(item, func(r rune) bool { return isWord(r) && r > '9' }) >= 0
}

// isFrame recognises a line of a stack trace as Go, Java, JavaScript, .NET, Python, Rust, Ruby, gdb and the sanitizers
// print it.
func isFrame(line string) bool {
	switch line[0] {
	case 'a':
		return strings.HasPrefix(line, "at ") && strings.ContainsAny(line, "(:") && len(line) < 512
	case 'F':
		return strings.HasPrefix(line, "File \"")
	case 'T':
		return strings.HasPrefix(line, "Traceback (most recent call last)")
	case 'C':
		return strings.HasPrefix(line, "Caused by: ")
	case 'E':
		return strings.HasPrefix(line, "Exception in thread ")
	case 'g':
		return strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(strings.TrimRight(line, "\r"), "]:")
	case 'p':
		return strings.HasPrefix(line, "panic: ")
	case 't':
		return strings.HasPrefix(line, "thread '") && strings.Contains(line, "panicked at")
	case '#':
		return len(line) > 3 && isDigit(line[1]) && (strings.Contains(line, " 0x") || strings.Contains(line, " in "))
	default:
		return false
	}
}
