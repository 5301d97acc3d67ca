package rules

import (
	"context"
	"regexp/syntax"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/fence"
)

func extractOf(t *testing.T, x *Extractor, rc fence.RunContext) string {
	t.Helper()
	a, err := x.Extract(context.Background(), extract.Request{Context: rc})
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Candidate)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	x := Must(formShape(t), formSet())
	tests := []struct{ name, body, version, ref, rule string }{
		{"as the pattern has it", "since v1.2.3", "v1.2.3", "", "version.any"},
		{"normalised to the pattern", "since 1.2.3.", "v1.2.3", "", "version.any"},
		{"upper case", "since V1.2.3", "v1.2.3", "", "version.any"},
		{"a labelled one goes first", "on 9.9.9\nversion 1.2.3", "v1.2.3", "", "version.near"},
		{"labelled by the heading", "### Version\n\n1.2.3", "v1.2.3", "", "version.near"},
		{"the word before it on its line", "Python 3.8.1, version 1.2.3", "v1.2.3", "", "version.near"},
		{"another program's", "### Python version\n\n3.8.1", "", "", RuleDefault},
		{"leading zero is no version", "on 16.04.1", "", "", RuleDefault},
		{"an address is no version", "at 127.0.0.1", "", "", RuleDefault},
		{"part of a word", "rev1.2.3 and 1.2.3rc and x_1.2.3", "", "", RuleDefault},
		{"per cent", "99.9.9%", "", "", RuleDefault},
		{"a suffix is left off", "version 1.2.3-rc.1", "v1.2.3", "", "version.near"},
		{"not in a quote", "> version 1.2.3", "", "", RuleDefault},
		{"an identifier", "see REF-123", "", "REF-123", RuleDefault},
		{"an identifier in lower case", "see ref-123)", "", "REF-123", RuleDefault},
		{"an identifier in an address", "https://example.com/REF-77", "", "REF-77", RuleDefault},
		{"an identifier too long", "see REF-123456", "", "", RuleDefault},
		{"the first of two", "REF-11 or REF-12", "", "REF-11", RuleDefault},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, steps := ask(t, x, pair("", tt.body))
			if out.Version != tt.version || out.Ref != tt.ref || steps["version"].Rule != tt.rule {
				t.Errorf("version %q by %s, ref %q: want %q by %s, %q", out.Version, steps["version"].Rule, out.Ref, tt.version, tt.rule, tt.ref)
			}
		})
	}
}

func TestDatesByListedLayouts(t *testing.T) {
	t.Parallel()
	x := Must(formShape(t), formSet())
	for body, want := range map[string]string{
		"on 2026-05-02 it rained":         "2026-05-02",
		"It was 2 May 2026.":              "2026-05-02",
		"It was (May 2, 2026)":            "2026-05-02",
		"Since may 2, 2026, no rain":      "2026-05-02",
		"am 02.05.2026":                   "2026-05-02",
		"on 2026-02-30 and on 1 May 2026": "2026-05-01",
		"on 05/02/2026":                   "",
		"on 2 Mai 2026":                   "",
		"`2026-05-02`":                    "",
		"x2026-05-02":                     "",
		"Mayor 2 2026 Mary 2, 2026":       "",
		"build 12026-05-02":               "",
		"2026-05-0":                       "",
		"2 May\n2026":                     "",
		"":                                "",
	} {
		if out, _ := ask(t, x, pair("", body)); out.Day != want {
			t.Errorf("%q: day %q, want %q", body, out.Day, want)
		}
	}
}

func TestManyCandidatesAreBounded(t *testing.T) {
	t.Parallel()
	x := Must(formShape(t), formSet())
	// python stands before each, so that none is admitted and the list runs full.
	out, _ := ask(t, x, pair("", strings.Repeat("python 1.2.3\n", 2*maxCandidates)+"version 4.5.6"))
	if out.Version != "" {
		t.Errorf("version %q: want the search to have ended", out.Version)
	}
}

func TestAlphabetOfAPattern(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][2]string{
		`^CVE-[0-9]{4}$`:  {"-0123456789CEVcev", "-"},
		`^(a|b)(\.c)?$`:   {".ABCabc", ""},
		`^x(\.[0-9]){2}$`: {".0123456789Xx", "."},
	} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		var known [256]bool
		need := alphabet(tree, &known)
		var got []byte
		for c, ok := range known {
			if ok {
				got = append(got, byte(c))
			}
		}
		if string(got) != want[0] || string(need) != want[1] {
			t.Errorf("%s: knows %q, needs %q: want %q, %q", expr, got, need, want[0], want[1])
		}
	}
}
