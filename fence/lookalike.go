package fence

import (
	"bytes"
	"strings"
)

// A look-alike marker is text that a reader could take for 《DATA 3 token=…》 or 《/DATA 3 token=…》. It is found by
// skeleton, after UTS #39 section 4: what follows an opening bracket is reduced to the few letters that matter, through
// compatibility decomposition (NFKD) and the tables below, which hold the entries of Unicode's confusables.txt for / D A
// T A, T O K E N, digits and brackets, and some shapes beside them; what a reader looks over is skipped. Only then is the
// bracket escaped, so titles such as 《DATA分析入门》 stay. Encodings that a reader sees as such (%E3%80%8A, \u300A) are
// not look-alikes; character references (&#12298;) are, since renderers undo them.

// weight says how much else an opening bracket needs to be taken for a marker's.
type weight uint8

const (
	_       weight = iota
	loose          // needs /DATA or DATA at once, and token=
	angle          // as loose; two together are close
	closest        // the shape of 《: needs /DATA, or DATA with a number or token
)

var openers = map[rune]weight{
	'《': closest, '⟪': closest, '︽': closest, // U+300A U+27EA U+FE3D
	'〈': angle, '⟨': angle, 0x2329: angle, '︿': angle, '❬': angle, '❮': angle, '❰': angle, '⧼': angle, '⦑': angle,
	'<': loose, '＜': loose, '﹤': loose, '«': loose, '‹': loose, '≪': loose, '⋘': loose, '⪡': loose, '⫷': loose,
	'⦓': loose, '⦕': loose, '˂': loose, 'ᐸ': loose, 'ᚲ': loose, '≺': loose, '⪻': loose, '⊰': loose, '⋖': loose,
	'【': loose, '〖': loose, '〔': loose, '〘': loose, '〚': loose, '「': loose, '『': loose, '［': loose,
}

const closers = "》⟫︾〉⟩〉﹀❭❯❱⧽⦒>＞﹥»›≫⋙⪢⫸⦔⦖˃ᐳ≻】〗〕〙〛」』］"

// lookalike remembers the decision for a run of brackets, so that each run is read once.
type lookalike struct {
	end    int // of the run
	marker bool
}

// Bounds of one reading, in classes of the skeleton and in code points; what is padded further is no look-alike.
const (
	maxSkeleton = 64
	maxSpan     = 256
)

// markerAt reports whether the bracket at s[i] (a rune of openers, or & of a character reference) opens a look-alike
// marker. All brackets of a run share the answer.
func (l *lookalike) markerAt(s string, i int) bool {
	if i < l.end {
		return l.marker && opens(s[i:])
	}
	if s[i] == '&' && !opens(s[i:]) {
		return false
	}
	heaviest, angles, j := loose, 0, i
	for j < len(s) {
		r, size := symbol(s[j:])
		if w := openers[r]; w != 0 {
			heaviest = max(heaviest, w)
			if w == angle {
				angles++
			}
		} else if !isSkipped(r) {
			break
		}
		j += size
	}
	near := heaviest == closest || angles > 1
	l.end = j
	var buf [maxSkeleton]byte
	l.marker = isMarker(skeleton(buf[:0], s[j:], near), near)
	return l.marker
}

// opens reports whether a bracket, spelled in any way, starts at s.
func opens(s string) bool {
	r, _ := symbol(s)
	return openers[r] != 0
}

// quickReject sees from the next bytes that the < or & at s[i] opens no look-alike, in the common cases of code and HTML.
func quickReject(s string, i int) bool {
	j := i + 1
	if s[i] == '&' {
		return j == len(s) || s[j] != '#' && s[j] != 'a' && s[j]|0x20 != 'l'
	}
	for j < len(s) && s[j] == ' ' {
		j++
	}
	if j < len(s) && s[j] == '/' {
		j++
	}
	return j < len(s) && cannotFollow[s[j]]
}

// cannotFollow has the ASCII bytes that stand in no look-alike after its bracket and slash: all that is neither skipped,
// a bracket, a slash, D nor &.
var cannotFollow = func() (t [256]bool) {
	for c := 0x21; c < 0x7F; c++ {
		t[c] = strings.IndexByte("<&/\\dD_", byte(c)) < 0
	}
	return t
}()

var slashByte, dataWord, tokenWord, leetToken = []byte("/"), []byte("data"), []byte("token"), []byte("t0ken")

// isMarker decides from a skeleton. near says that the bracket has the shape of 《.
func isMarker(sk []byte, near bool) bool {
	body, slash := bytes.CutPrefix(sk, slashByte)
	rest, isData := bytes.CutPrefix(body, dataWord)
	token := max(bytes.Index(rest, tokenWord), bytes.Index(rest, leetToken))
	switch {
	case !near:
		return isData && token >= 0 && len(bytes.Trim(rest[:token], "0?")) == 0 && bytes.HasPrefix(rest[token+5:], []byte("="))
	case isData && slash:
		return true
	case isData:
		after := bytes.TrimLeft(rest, "0")
		numbered := len(after) < len(rest) && len(after) == 0
		return token >= 0 || numbered || len(after) > 0 && after[0] == '>'
	case slash:
		return token >= 0
	default:
		d := bytes.Index(sk, dataWord)
		return d >= 0 && max(bytes.Index(sk[d:], tokenWord), bytes.Index(sk[d:], leetToken)) >= 0
	}
}

// skeleton appends to out, within its capacity, the start of s reduced to classes: the letters d a t o k e n, "/", "=",
// "0" for a digit, ">" for a closing bracket (where it ends), "x" for another letter, "?" for anything else. Beside a
// bracket that is not near, it ends where /DATA or DATA is no longer possible.
func skeleton(out []byte, s string, near bool) []byte {
	const want = "/data"
	for range maxSpan {
		if len(out) == cap(out) || s == "" {
			break
		}
		r, size := symbol(s)
		s = s[size:]
		c := classOf(r)
		if c == 0 {
			continue
		}
		if near && r == '>' {
			c = '?' // does not close 《
		}
		out = append(out, c)
		if c == '>' {
			break
		}
		if n := len(out); !near && n <= len(want) && !strings.HasPrefix(want, string(out)) && !strings.HasPrefix(want[1:], string(out[:min(n, 4)])) {
			break
		}
	}
	return out
}
