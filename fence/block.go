package fence

import (
	"slices"
	"strconv"
	"strings"
)

// Attributes are what a block's header says of its text: our own words only.
type Attributes struct {
	Origin    Origin
	Role      Role
	Trust     Trust
	Author    Author // kind and id; the name is content and has a block of its own
	Truncated int    // bytes of the text that are not shown
}

// AppendBlock appends block number n around text to dst and gives the extended slice:
//
//	《DATA 3 token=3f0c…》 origin=message role=user trust=unverified author=person:7c21
//	┃ first line
//	┃     indented second line
//	《/DATA 3 token=3f0c…》
//
// Every line, the last one too, ends in LF. The text may be any bytes; [Unfence] gives them back. AppendBlock panics on a
// zero boundary: such a block could be closed by anyone.
func AppendBlock(dst []byte, n int, b Boundary, a Attributes, text string) []byte {
	mustHave(b)
	const header = 256
	// One allocation for text that needs few escapes.
	dst = slices.Grow(dst, len(text)+len(text)/16+len(lineMark)*(1+strings.Count(text, "\n"))+header)
	dst = appendMarker(dst, "《DATA ", n, b)
	dst = append(dst, ' ')
	dst = appendAttributes(dst, a)
	f := formOf(text)
	if f == formCRLF {
		dst = append(dst, " eol=crlf"...)
	}
	dst = append(dst, '\n')
	dst = append(dst, lineMark...)
	dst = appendEscaped(dst, text, f)
	dst = append(dst, '\n')
	dst = appendMarker(dst, "《/DATA ", n, b)
	return append(dst, '\n')
}

// AppendLine appends text as a block of one line, with LF and CR escaped and no LF at its end:
//
//	《DATA 4 token=…》text《/DATA 4 token=…》
//
// It panics on a zero boundary.
func AppendLine(dst []byte, n int, b Boundary, text string) []byte {
	mustHave(b)
	const markers = 128
	dst = slices.Grow(dst, len(text)+len(text)/16+markers)
	dst = appendMarker(dst, "《DATA ", n, b)
	dst = appendEscaped(dst, text, formLine)
	return appendMarker(dst, "《/DATA ", n, b)
}

func mustHave(b Boundary) {
	if b.IsZero() {
		panic("fence: a block needs a boundary, got the zero value")
	}
}

func appendMarker(dst []byte, open string, n int, b Boundary) []byte {
	dst = append(dst, open...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, " token="...)
	dst = append(dst, b.Hex()...)
	return append(dst, "》"...)
}

func appendAttributes(dst []byte, a Attributes) []byte {
	dst = append(dst, "origin="...)
	dst = append(dst, a.Origin.String()...)
	dst = append(dst, " role="...)
	dst = append(dst, a.Role.String()...)
	dst = append(dst, " trust="...)
	dst = append(dst, a.Trust.String()...)
	dst = append(dst, " author="...)
	dst = append(dst, a.Author.Kind.String()...)
	dst = append(dst, ':')
	dst = append(dst, a.Author.ID...)
	if a.Truncated > 0 {
		dst = append(dst, " truncated="...)
		dst = strconv.AppendInt(dst, int64(a.Truncated), 10)
	}
	return dst
}
