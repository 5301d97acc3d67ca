package feed

import (
	"errors"
	"iter"
	"slices"

	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// page is one answer of a source.
type page struct {
	fresh      bool // false: nothing has changed since the validators were given
	body       []byte
	validators validators
}

// listing is one tick: what a source has is held against what was listed.
type listing struct {
	source   string
	document document
	before   cursor
	// record asks for what an entry of the list stands for; nil where the entry
	// is the item.
	record func(entry) ([]byte, error)
}

// read lists the items of a source's pages, in their order, each that is new or
// edited. What was left out because a batch takes no more is not remembered,
// nor are the validators then: the source shows it again at the next tick.
func (l listing) read(pages iter.Seq2[page, error]) (fetch.Listed, error) {
	var (
		after  cursor
		listed fetch.Listed
		size   int
		left   error // why items are left for the next tick
		first  = true
		had    []seen // what stands there now
		known  = map[seen]bool{}
	)
	for p, err := range pages {
		switch {
		case err != nil:
			return fetch.Listed{}, err
		case first && !p.fresh:
			return l.unchanged(p)
		case first:
			after.validators = p.validators
		}
		first = false
		entries, err := l.document.entries(p.body)
		if err != nil {
			return fetch.Listed{}, err
		}
		for _, e := range entries {
			s := see(l.source, e)
			if known[s] {
				continue // twice in one document, or moved to the next page meanwhile
			}
			known[s] = true
			had = append(had, s)
			if l.before.has(s) {
				after.entries = append(after.entries, s)
				continue
			}
			if l.record != nil && left == nil && len(listed.Items) < fetch.MaxItems {
				if e.raw, left = l.whole(e); left != nil {
					continue
				}
			}
			switch {
			case left != nil:
			case len(e.raw) > fetch.MaxItemBytes:
				listed.Items = append(listed.Items, e.raw) // the batch counts it as left out, once
				after.entries = append(after.entries, s)
			case len(listed.Items) >= fetch.MaxItems || size+len(e.raw) > fetch.MaxListBytes:
				left = errFull
			default:
				size += len(e.raw)
				listed.Items = append(listed.Items, e.raw)
				after.entries = append(after.entries, s)
			}
		}
	}
	slices.SortFunc(had, compare)
	for _, old := range l.before.entries {
		at, same := slices.BinarySearchFunc(had, old, compare)
		named := at < len(had) && had[at].key == old.key || at > 0 && had[at-1].key == old.key
		switch {
		case same:
			listed.Unchanged++
		case named: // edited
		default:
			listed.Gone++
		}
	}
	slices.SortFunc(after.entries, compare)
	if left != nil && left != errFull && len(listed.Items) == 0 {
		return fetch.Listed{}, left
	}
	if left != nil {
		after.validators = validators{}
	}
	var err error
	listed.Cursor, err = after.encode()
	return listed, err
}

// errFull means that a batch takes no more.
var errFull = errors.New("the batch is full")

// whole asks for the record of an entry. One that its source refuses, or that
// is none, does not hold up the others: the entry is listed in its place as a
// list of itself, which no recipe reads, so that its run is quarantined. Any
// other error says that the source is asked no further.
func (l listing) whole(e entry) ([]byte, error) {
	raw, err := l.record(e)
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		switch fault.Code {
		case pipeline.SourceRefused, pipeline.SourceTooLarge, pipeline.SourceMalformed:
			return slices.Concat([]byte{'['}, e.raw, []byte{']'}), nil
		}
	}
	return raw, err
}

// unchanged is a tick at which a source says that nothing has changed. Its new
// validators are kept.
func (l listing) unchanged(p page) (fetch.Listed, error) {
	l.before.validators = p.validators
	kept, err := l.before.encode()
	return fetch.Listed{Unchanged: len(l.before.entries), Cursor: kept}, err
}
