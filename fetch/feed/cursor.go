package feed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// MaxEntries is how many items of a source are remembered, and so how many it
// may have.
const MaxEntries = 100_000

// A cursor is what a lister remembers of its source: the validators of the
// last answer whose items are all listed, and two digests of each item.
//
//	8 bytes  the magic, with the version
//	2 bytes  the length of the validators, big-endian
//	         the validators, in JSON
//	24 bytes each entry, ascending, each once
const (
	magic         = "decfeed1"
	digestBytes   = 12 // 2^-48 that any two of 2^24 contents are alike
	entryBytes    = 2 * digestBytes
	maxValidators = 4 << 10
)

// No cursor is larger than the engines keep.
var _ = [fetch.MaxCursorBytes - (len(magic) + 2 + maxValidators + MaxEntries*entryBytes)]struct{}{}

// seen is what was listed of one item: digests of its key and of its content.
type seen struct{ key, content [digestBytes]byte }

func compare(a, b seen) int {
	if c := bytes.Compare(a.key[:], b.key[:]); c != 0 {
		return c
	}
	return bytes.Compare(a.content[:], b.content[:])
}

// cursor is a decoded one. Its entries are ascending.
type cursor struct {
	validators validators
	entries    []seen
}

// validators are what the source gave to ask with, as package web has them.
type validators struct {
	ETag         string `json:"etag,omitzero"`
	LastModified string `json:"last_modified,omitzero"`
}

var errCursor = errors.New("malformed cursor")

func (c cursor) encode() ([]byte, error) {
	head, err := json.Marshal(c.validators)
	if err != nil || len(head) > maxValidators {
		head = []byte("{}") // asked without them, the source answers in full
	}
	if len(c.entries) > MaxEntries {
		return nil, pipeline.SourceTooLarge.Error("source of %d items: want at most %d", len(c.entries), MaxEntries)
	}
	out := make([]byte, 0, len(magic)+2+len(head)+len(c.entries)*entryBytes)
	out = append(out, magic...)
	out = binary.BigEndian.AppendUint16(out, uint16(len(head)))
	out = append(out, head...)
	for _, e := range c.entries {
		out = append(append(out, e.key[:]...), e.content[:]...)
	}
	return out, nil
}

// decodeCursor reads what encode wrote, and nothing else.
func decodeCursor(b []byte) (cursor, error) {
	var c cursor
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) < 2 {
		return cursor{}, errCursor
	}
	n := int(binary.BigEndian.Uint16(rest))
	rest = rest[2:]
	if n > len(rest) || n > maxValidators || (len(rest)-n)%entryBytes != 0 || (len(rest)-n)/entryBytes > MaxEntries {
		return cursor{}, errCursor
	}
	if json.Unmarshal(rest[:n], &c.validators, json.RejectUnknownMembers(true)) != nil {
		return cursor{}, errCursor
	}
	if head, err := json.Marshal(c.validators); err != nil || !bytes.Equal(head, rest[:n]) {
		return cursor{}, errCursor // another spelling
	}
	c.entries = make([]seen, 0, (len(rest)-n)/entryBytes)
	for rest = rest[n:]; len(rest) > 0; rest = rest[entryBytes:] {
		e := seen{[digestBytes]byte(rest), [digestBytes]byte(rest[digestBytes:])}
		if len(c.entries) > 0 && compare(c.entries[len(c.entries)-1], e) >= 0 {
			return cursor{}, errCursor
		}
		c.entries = append(c.entries, e)
	}
	return c, nil
}

// has reports whether an entry stands in the cursor.
func (c cursor) has(e seen) bool { _, ok := slices.BinarySearchFunc(c.entries, e, compare); return ok }

// see digests an item: its source and id, or, where it says no id, its content,
// so that an item without an id is another item once it is edited.
func see(source string, e entry) seen {
	content := sha256.Sum256(e.raw)
	id := e.id
	if id == "" {
		id = string(content[:])
	}
	h := sha256.New()
	for _, part := range []string{"decant feed key v1", source, id} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return seen{[digestBytes]byte(h.Sum(nil)), [digestBytes]byte(content[:])}
}
