// Package shape holds the wall between what a stranger may say and what the program may know: closed types of known size.
//
// A shape is made from a Go struct of choices, tokens, texts and quotes. Of proves that the struct is bounded, or says which
// field is not and how to mend it. A proved shape answers how much its values can say (Count, Bits, Fields), how long they
// can be (MaxBytes), which skeletons exist (Skeletons), and decodes strictly (Decode, DecodeCanonical).
//
// The threat is an extractor that is wholly hostile: whatever bytes it returns, what comes out of Decode is one of Count
// values in one spelling, and what Lift hands to a plan holds choices, presence and lengths, and handles for all the rest.
//
// Not promised: that a value is true, that a text is harmless for the place where a sink puts it, or that decoding takes
// the same time for all values.
//
// The package is pure: no I/O, no clock, no randomness but the caller's.
package shape

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"reflect"
)

// Bounds of every shape. They cap the cost of proving, counting and decoding, not only what crosses.
const (
	// MaxStructure is the most bytes that the canonical encoding of any value may take (design, section 5).
	MaxStructure = 32 << 10
	// MaxChoices is the most values of one integer range or the most labels of one enum.
	MaxChoices = 1 << 16
	// MaxTokenBits bounds a token: more than 2^MaxTokenBits values make it a text.
	MaxTokenBits = 64

	maxDepth  = 16        // nesting of Go types
	maxItems  = 4096      // items of one list
	maxLength = 8192      // characters of one text
	maxName   = 64        // bytes of a field's name
	maxSafe   = 1<<53 - 1 // integers beyond lose digits in other JSON readers (RFC 8785, section 3.2.2.3)
)

// Shape is a bounded Go type, proved once and immutable after: safe for use by many goroutines.
type Shape struct {
	root     *node
	goType   reflect.Type
	maxBytes int
	schema   []byte
	digest   string
	count    *big.Int
	skels    *big.Int
	fills    *big.Int
	cellHint int
}

// Of proves that T is bounded. T is a struct; the error is a BoundErrors that names every fault with its mend.
func Of[T any]() (*Shape, error) { return FromType(reflect.TypeFor[T]()) }

// FromType is Of for a type known only at run time.
func FromType(t reflect.Type) (*Shape, error) {
	root, faults := build(t)
	if len(faults) > 0 {
		return nil, faults
	}
	s := &Shape{root: root, goType: t, maxBytes: root.maxBytes()}
	if s.maxBytes > MaxStructure {
		return nil, BoundErrors{{
			Field: typeName(t), Path: rootPath,
			Missing: fmt.Sprintf("an encoding of at most %d bytes: want fewer than the %s bytes that its largest value takes", MaxStructure, atMost(s.maxBytes)),
			Mend:    "lower maxItems and maxLength, or carry a reference instead of the content",
		}}
	}
	root.tally()
	s.count, s.skels, s.fills = root.all(), root.skeletons(), root.fillings()
	s.cellHint = min(root.cells(), 96)
	s.schema = appendSchema(nil, root)
	sum := sha256.Sum256(append([]byte("shape.v1\n"), s.schema...))
	s.digest = hex.EncodeToString(sum[:])
	return s, nil
}

// Type is the Go type that the shape was made from.
func (s *Shape) Type() reflect.Type { return s.goType }

// MaxBytes is the length of the longest canonical encoding of any value; at least one value takes exactly that many.
func (s *Shape) MaxBytes() int { return s.maxBytes }

// MaxCandidate is the most bytes that Decode reads: room for every character as an escape and for white space.
func (s *Shape) MaxCandidate() int { return 8*s.maxBytes + 4096 }

// JSONSchema is the exact schema (draft 2020-12) in canonical JSON (RFC 8785). It accepts what Decode accepts; Decode
// refuses moreover whatever a schema cannot see: duplicate keys, other spellings of an integer, trailing bytes.
func (s *Shape) JSONSchema() []byte { return append([]byte(nil), s.schema...) }

// Digest is the SHA-256, in hex, of the closed representation: equal digests accept and mean the same values.
func (s *Shape) Digest() string { return s.digest }
