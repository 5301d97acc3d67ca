package extract

import (
	"regexp"
	"slices"
	"strings"
)

// Reaching is implemented by extractors that ask a model elsewhere. The
// engine lets the extract phase reach these hosts and no other.
type Reaching interface {
	// Hosts lists "host:port" in lower case, an IPv6 address in brackets.
	Hosts() []string
}

// HostsOf lists what an extractor and its parts have to reach: nothing unless
// they say so.
func HostsOf(x Extractor) []string {
	return each(x, func(part Extractor) []string {
		if r, ok := part.(Reaching); ok {
			return r.Hosts()
		}
		return nil
	})
}

// Repeatable reports whether an extractor answers alike each time it is asked,
// and asks nobody: it reaches no host, runs no program, and no part of it is an
// Adapter.
func Repeatable(x Extractor) bool {
	return len(HostsOf(x)) == 0 && len(ProgramsOf(x)) == 0 && !slices.ContainsFunc(parts(x), func(part Extractor) bool { _, adapter := part.(Adapter); return adapter })
}

// Wrapping is implemented by extractors that ask others. What their parts
// need, cost and may say is theirs too.
type Wrapping interface {
	// Parts lists the extractors that are asked, in the order of asking.
	Parts() []Extractor
}

// parts are an extractor and all that it asks, in order.
func parts(x Extractor) []Extractor {
	all := []Extractor{x}
	if w, ok := x.(Wrapping); ok {
		for _, part := range w.Parts() {
			all = append(all, parts(part)...)
		}
	}
	return all
}

// each gathers what an extractor and its parts say, each word once.
func each(x Extractor, says func(Extractor) []string) (all []string) {
	for _, part := range parts(x) {
		for _, word := range says(part) {
			if !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// Keyed is implemented by extractors that show a key or another secret of
// their own. The engine gives the extract phase the variables of these names
// from its own environment, and gives them to no other phase.
type Keyed interface {
	// Environment lists the names of environment variables.
	Environment() []string
}

// EnvironmentOf lists the variables that an extractor and its parts read: none
// unless they say so.
func EnvironmentOf(x Extractor) []string {
	return each(x, func(part Extractor) []string {
		if k, ok := part.(Keyed); ok {
			return k.Environment()
		}
		return nil
	})
}

var brokenForm = regexp.MustCompile(`^(\(root\)|[A-Za-z0-9_.\[\]-]{1,256}): [a-z0-9_]{1,32}$`)

// Correction is the sentence that asks for a second answer, with a line feed
// at its end: constant but for the schema path and the rule that Request.Broken
// names. It is empty on the first turn.
func Correction(broken string) string {
	if broken == "" {
		return ""
	}
	if !brokenForm.MatchString(broken) {
		broken = "structure"
	}
	var sb strings.Builder
	sb.WriteString("Note: a previous answer to this turn was refused (")
	sb.WriteString(broken)
	sb.WriteString("). Answer once more, with one JSON value of the schema and nothing else.\n")
	return sb.String()
}
