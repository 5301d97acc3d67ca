package shape

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// BoundError is one reason why a Go type is no shape.
type BoundError struct {
	Field   string // where in Go: Triage.Areas
	Path    string // where in JSON: areas[], or (root)
	Missing string // what is missing or too much
	Mend    string // what the author writes instead

	TokenIsText bool // the fault is that a token says what only a text may
}

// Error names the field, what is missing and the mend on one line.
func (e *BoundError) Error() string {
	return fmt.Sprintf("%s (%s) is not bounded: %s; mend: %s", e.Field, e.Path, e.Missing, e.Mend)
}

// BoundErrors is every reason, in the order of the type's fields. errors.As finds the single ones.
type BoundErrors []*BoundError

// Error is one line a fault.
func (e BoundErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As and errors.Is look at each fault.
func (e BoundErrors) Unwrap() []error {
	out := make([]error, len(e))
	for i, f := range e {
		out[i] = f
	}
	return out
}

// place is where a fault is, in both languages.
type place struct{ field, path string }

const rootPath = "(root)"

func (p place) dot(goName, jsonName string) place {
	if p.path == rootPath {
		return place{p.field + "." + goName, jsonName}
	}
	return place{p.field + "." + goName, p.path + "." + jsonName}
}

func (p place) item() place { return place{p.field + "[]", p.path + "[]"} }

// faults gathers; the zero value is empty.
type faults struct{ list BoundErrors }

func (f *faults) add(p place, missing, mend string) {
	f.list = append(f.list, &BoundError{Field: p.field, Path: p.path, Missing: missing, Mend: mend})
}

// addTokenIsText is add for a token that is a text.
func (f *faults) addTokenIsText(p place, missing, mend string) {
	f.add(p, missing+": this is a token that is a text", mend)
	f.list[len(f.list)-1].TokenIsText = true
}

func typeName(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	if t.Name() != "" {
		return t.Name()
	}
	return t.Kind().String()
}

// atMost prints a saturated length.
func atMost(n int) string {
	if n >= saturated {
		return "more than " + strconv.Itoa(saturated)
	}
	return strconv.Itoa(n)
}
