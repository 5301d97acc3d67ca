package attack

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract/shape"
	"decant.dev/internal/hostile"
)

// The classes of runs.
const (
	classStructures = "structures"      // values of the shape, each as likely as any other
	classRaw        = "malformed, raw"  // near misses, where a structure would stand in a reply
	classRead       = "malformed, read" // near misses, through the honest handler
	classTexts      = "texts"           // texts of the corpus, and structures that carry them
	classDeeds      = "deeds"           // what a process can do that is no answer
)

// A reply that is no JSON ends the child, and a new one costs as much as ten
// runs: of the near misses that are none, one in rawOf is replied, and the
// others are read by the honest handler. Of the rest it is one in two.
const rawOf = 16

// maker makes the items of an attack by their number, the same for a seed.
type maker struct {
	config Config
	shape  *shape.Shape
	event  string
}

func (m maker) deeds() int { return 2 * len(hostile.Deeds()) }

func (m maker) items() int {
	return 2*m.config.N + 2*len(m.config.Corpus) + m.deeds()
}

// item makes one: first all structures, then all malformed, and so on.
func (m maker) item(i int) item {
	rng := rand.New(rand.NewPCG(m.config.Seed, uint64(i)))
	it := item{event: m.event, actor: stranger, body: []byte("The exporter stops with an error.")}
	if i%4 == 3 {
		it.actor = trusted
	}
	n := m.config.N
	var o hostile.Order
	switch structure := m.shape.Sample(rng).Encode(); {
	case i < n:
		it.class, o = classStructures, hostile.Order{Deed: hostile.Reply, Bytes: structure}
	case i < 2*n:
		it.class, it.kind, o = m.malformed(rng, structure)
	case i < 2*n+2*len(m.config.Corpus):
		k := i - 2*n
		text := m.config.Corpus[k/2].Text
		carried := string(text)
		if k%2 == 1 {
			carried = tamed(carried)
		}
		it.class, it.body, o = classTexts, text, hostile.Order{Deed: hostile.Reply, Bytes: m.carrying(structure, carried)}
	default:
		k := i - 2*n - 2*len(m.config.Corpus)
		it.class, o = classDeeds, hostile.Order{Deed: hostile.Deeds()[k/2], Bytes: structure}
		if it.actor = stranger; k%2 == 1 {
			it.actor = trusted
		}
	}
	it.title = []byte(o.Encode())
	return it
}

// malformed is a near miss of a structure, and how it is said.
func (m maker) malformed(rng *rand.Rand, structure []byte) (class, kind string, o hostile.Order) {
	near, kind := m.shape.Mutate(rng, structure)
	one := 2
	if !jsontext.Value(near).IsValid() || bytes.ContainsRune(near, '\n') {
		one = rawOf
	}
	if rng.IntN(one) == 0 {
		return classRaw, kind, hostile.Order{Deed: hostile.Reply, Bytes: near}
	}
	return classRead, kind, hostile.Order{Deed: hostile.Candidate, Bytes: near}
}

// carrying puts a text, cut to what they hold, into every token, text and
// quote of a structure that stands at the top of the shape.
func (m maker) carrying(structure []byte, text string) []byte {
	var fields map[string]jsontext.Value
	if json.Unmarshal(structure, &fields) != nil {
		return structure
	}
	for _, f := range m.shape.Fields() {
		switch f.Kind {
		case shape.KindText, shape.KindQuote:
			if !strings.ContainsAny(f.Name, ".[") {
				fields[f.Name] = spelt(text, int(f.Max))
			}
		case shape.KindToken, shape.KindChoice, shape.KindList, shape.KindObject:
		}
	}
	b, err := json.Marshal(fields, json.Deterministic(true)) // sorted, as RFC 8785 sorts names of ASCII
	if err != nil {
		return structure
	}
	return b
}

// spelt is the JSON string of at most n characters of a text.
func spelt(text string, n int) jsontext.Value {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	b := []byte{'"'}
	for _, r := range runes[:min(n, len(runes))] {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\')
			b = append(b, string(r)...)
		case r < ' ':
			b = append(b, ' ')
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// tamed is what is left of a text without what no text of a shape holds.
func tamed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		if unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point) {
			return -1
		}
		return r
	}, text)
}
