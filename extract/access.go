package extract

import (
	"fmt"
	"slices"
)

// Access is how an adapter fetches its run's context for itself, while the run
// is active: GET URL with the header "Authorization: Bearer <Token>". The zero
// value is none. It prints without its token.
type Access struct {
	URL   string `json:"url"`   // of the run's context, whole
	Token string `json:"token"` // of this run alone
}

// Format prints the URL, for every verb.
func (a Access) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "access to %s", a.URL) }

// Adapter is an extractor that hands a run to another runtime, which may want
// to fetch the run's context itself. The engine mints a token for such an
// extractor's runs and for no other's.
type Adapter interface {
	Extractor
	WantsContext() bool
}

// WantsContext reports whether an extractor or a part of it asks for access to
// its runs' contexts.
func WantsContext(x Extractor) bool {
	return slices.ContainsFunc(parts(x), func(part Extractor) bool {
		a, ok := part.(Adapter)
		return ok && a.WantsContext()
	})
}
