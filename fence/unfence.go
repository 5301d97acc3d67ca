package fence

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrBlock is the kind of every error about text that is no block.
var ErrBlock = errors.New("malformed block")

// Block is one piece of marked data, read back.
type Block struct {
	N          int    // its number
	Label      string // what stands before it on its line, for a block of one line; empty otherwise
	Attributes string // the words after the header's marker; empty for a block of one line
	Text       string // byte for byte as it was fenced
}

// Unfence gives back the text of one block as AppendBlock or AppendLine wrote it: for every byte string x the text of a
// block around x is x. Anything else is an [ErrBlock], which never repeats what came.
func Unfence(block string) (string, error) {
	rest, ok := strings.CutPrefix(block, "《DATA ")
	if !ok {
		return "", blockError("want a header at its start")
	}
	_, rest, ok = strings.Cut(rest, " token=")
	if !ok || len(rest) < boundaryDigits {
		return "", blockError("want a token in the header")
	}
	b, err := ParseBoundary(rest[:boundaryDigits])
	if err != nil {
		return "", blockError("want 32 lower-case hex digits as token")
	}
	blocks, outside, err := Split(block, b)
	if err != nil {
		return "", err
	}
	if len(blocks) != 1 || outside != "" {
		return "", blockError("want one block and nothing else")
	}
	return blocks[0].Text, nil
}

func blockError(rule string) error { return fmt.Errorf("%w: %s", ErrBlock, rule) }

// Split reads data that was written under b: its blocks in order, and what stands outside of them (each block gone, from
// its header's first byte to the end of its footer's line, or of its footer where it has one line).
func Split(data string, b Boundary) (blocks []Block, outside string, err error) {
	if b.IsZero() {
		return nil, "", blockError("want the boundary of the data")
	}
	var out strings.Builder
	tail := " token=" + b.Hex() + "》"
	for {
		at := strings.Index(data, tail)
		if at < 0 {
			break
		}
		start := strings.LastIndex(data[:at], "《DATA ")
		if start < 0 {
			return nil, "", blockError("want a header before the token")
		}
		n, err := number(data[start+len("《DATA ") : at])
		if err != nil {
			return nil, "", err
		}
		footer := "《/DATA " + strconv.Itoa(n) + tail
		body, rest, ok := strings.Cut(data[at+len(tail):], footer)
		if !ok {
			return nil, "", blockError("want a footer of the same number and token")
		}
		blk := Block{N: n}
		if strings.HasPrefix(body, " ") && strings.Contains(body, "\n") {
			if start > 0 && data[start-1] != '\n' {
				return nil, "", blockError("want the header at the start of a line")
			}
			if rest, ok = strings.CutPrefix(rest, "\n"); !ok {
				return nil, "", blockError("want a line end after the footer")
			}
			blk.Attributes, blk.Text, err = readLines(body)
		} else {
			blk.Label = data[strings.LastIndexByte(data[:start], '\n')+1 : start]
			blk.Text, err = unescape(body)
		}
		if err != nil {
			return nil, "", err
		}
		blocks = append(blocks, blk)
		out.WriteString(data[:start])
		data = rest
	}
	if strings.Contains(data, b.Hex()) {
		return nil, "", blockError("want the token in headers and footers only")
	}
	out.WriteString(data)
	return blocks, out.String(), nil
}

func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || strconv.Itoa(n) != s {
		return 0, blockError("want a number in the header")
	}
	return n, nil
}

// readLines reads what stands between the marker of a header and a footer: attributes, then marked lines.
func readLines(body string) (attributes, text string, err error) {
	head, content, _ := strings.Cut(body[1:], "\n")
	content, ok := strings.CutSuffix(content, "\n")
	if !ok || !strings.HasPrefix(content, lineMark) {
		return "", "", blockError("want a mark at the start of each line")
	}
	attributes, crlf := strings.CutSuffix(head, " eol=crlf")
	eol := "\n"
	if crlf {
		eol = "\r\n"
	}
	lines := strings.Split(content, "\n")
	for i, line := range lines {
		if lines[i], ok = strings.CutPrefix(line, lineMark); !ok {
			return "", "", blockError("want a mark at the start of each line")
		}
	}
	text, err = unescape(strings.Join(lines, eol))
	return attributes, text, err
}

// unescape undoes appendRune and appendByte; a ⟦ that starts no escape is an error.
func unescape(s string) (string, error) {
	at := strings.IndexRune(s, escapeOpen)
	if at < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for at >= 0 {
		out = append(out, s[:at]...)
		s = s[at+len("⟦"):]
		code, rest, ok := strings.Cut(s, "⟧")
		if !ok || len(code) > len("U+10FFFF") {
			return "", blockError("want an escape after its bracket")
		}
		var err error
		if out, err = appendUnescaped(out, code); err != nil {
			return "", err
		}
		s = rest
		at = strings.IndexRune(s, escapeOpen)
	}
	return string(append(out, s...)), nil
}

func appendUnescaped(out []byte, code string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(code, "0x"); ok && len(digits) == 2 && isHexUpper(digits) {
		v, err := strconv.ParseUint(digits, 16, 8)
		if err == nil && v >= utf8.RuneSelf {
			return append(out, byte(v)), nil
		}
	}
	if digits, ok := strings.CutPrefix(code, "U+"); ok && isHexUpper(digits) {
		v, err := strconv.ParseUint(digits, 16, 32)
		r := rune(v)
		if err == nil && utf8.ValidRune(r) && string(appendRune(nil, r)) == "⟦"+code+"⟧" {
			return utf8.AppendRune(out, r), nil
		}
	}
	return nil, blockError("want U+ and 4 to 6 digits, or 0x and 2, in an escape")
}

func isHexUpper(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(hexUpper, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}
