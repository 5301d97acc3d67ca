package learned

import (
	"unicode"
	"unicode/utf8"
)

// token is one word, number or mark of a text. Numbers are all alike.
type token struct {
	hash     uint64
	at       int32 // byte offset in the text
	from, to int32 // its folded runes
	parted   bool  // a sentence ended before it
}

// What a byte of ASCII is to the tokenizer: a rune of words, folded, or one of these.
const (
	isGap   = 0
	isEnd   = 1 // . and line feed
	isMark  = 2 // ? [ :
	isShout = 3 // ! is a mark and ends a sentence
	isQuote = 4 // ' inside of a word
)

var ascii = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	t['.'], t['\n'], t['?'], t['['], t[':'], t['!'], t['\''] = isEnd, isEnd, isMark, isMark, isMark, isShout, isQuote
	return t
}()

const (
	hashStart = 0xcbf29ce484222325
	hashPrime = 0x100000001b3
)

func mixIn(h, x uint64) uint64 { return (h ^ x) * hashPrime }

// hashOf hashes a word that is part of the program.
func hashOf(s string) uint64 {
	h := uint64(hashStart)
	for _, r := range s {
		h = mixIn(h, uint64(r))
	}
	return h
}

var numberHash = hashOf("0")

// tokenize appends the tokens of a text, and the runes of its words folded to lower case. Bytes that are not UTF-8 are gaps.
func (r *reader) tokenize(dst []token, text string) []token {
	parted := false
	word, digits := token{from: -1}, true
	end := func() {
		if word.from >= 0 {
			if digits {
				word.hash = numberHash
			}
			word.to = int32(len(r.runes))
			dst, word = append(dst, word), token{from: -1}
		}
	}
	letter := func(c rune, at int) {
		if word.from < 0 {
			word, digits, parted = token{hash: hashStart, at: int32(at), from: int32(len(r.runes)), parted: parted}, true, false
		}
		digits = digits && '0' <= c && c <= '9'
		word.hash = mixIn(word.hash, uint64(c))
		r.runes = append(r.runes, c)
	}
	mark := func(c rune, at int) {
		end()
		n := int32(len(r.runes))
		r.runes = append(r.runes, c)
		dst = append(dst, token{hash: mixIn(hashStart, uint64(c)), at: int32(at), from: n, to: n + 1, parted: parted})
		parted = c == '!'
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			switch k := ascii[c]; k {
			case isGap:
				end()
			case isEnd:
				end()
				parted = true
			case isMark, isShout:
				mark(rune(c), i)
			case isQuote:
				if word.from >= 0 {
					letter('\'', i)
				}
			default:
				letter(rune(k), i)
				for i+1 < len(text) && text[i+1] < utf8.RuneSelf && ascii[text[i+1]] >= '0' { // the rest of the word, faster
					i++
					k := ascii[text[i]]
					digits = digits && k <= '9'
					word.hash = mixIn(word.hash, uint64(k))
					r.runes = append(r.runes, rune(k))
				}
			}
			i++
			continue
		}
		x, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case x == 0x2019:
			if word.from >= 0 {
				letter('\'', i)
			}
		case x == '？' || x == '؟':
			mark('?', i)
		case x == '。':
			end()
			parted = true
		case unicode.IsLetter(x) || unicode.IsMark(x):
			letter(unicode.ToLower(x), i)
		default:
			end()
		}
		i += n
	}
	end()
	return dst
}
