package plan

// Audience is who can read a text: where it came from, or where a sink puts
// it. The zero value is invalid.
type Audience uint8

// The audiences, narrowest first. Each is part of the next.
const (
	Operators      Audience = iota + 1 // who may read the tables and queues that act writes
	ChannelReaders                     // who may read the channel that the event came from
	Anyone
)

// Audiences lists every valid audience, narrowest first.
func Audiences() []Audience { return []Audience{Operators, ChannelReaders, Anyone} }

// Valid reports whether a is one of the audiences.
func (a Audience) Valid() bool { return a >= Operators && a <= Anyone }

// Wider reports whether what a may read, others than b then may. What is
// invalid is the widest as a sink's and the narrowest as a source's.
func (a Audience) Wider(b Audience) bool {
	if !a.Valid() {
		a = Anyone
	}
	if !b.Valid() {
		b = Operators
	}
	return a > b
}

// String is one word, "invalid" for what is none.
func (a Audience) String() string {
	switch a {
	case Operators:
		return "operators"
	case ChannelReaders:
		return "channel"
	case Anyone:
		return "anyone"
	default:
		return "invalid"
	}
}
