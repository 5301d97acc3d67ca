package intake

import (
	_ "embed"
	"fmt"
	"strings"

	"decant.dev/extract/rules"
	"decant.dev/fence"
	"decant.dev/recipes/advisories"
)

//go:embed dependencies.txt
var dependencies string

// Rules is the default extractor of the advisories recipe. What the record
// says in a field of its own is taken as it is; only a severity that no field
// gives is read from the words of summary and details.
func Rules() *rules.Extractor {
	listed, err := Dependencies(dependencies)
	if err != nil {
		panic("dependencies.txt: " + err.Error())
	}
	return rules.Must(advisories.Recipe.Shape(), set(listed))
}

// Dependencies reads a list of dependencies: one a line, "ecosystem name" or
// "ecosystem name version"; the ecosystem may have spaces where a tab parts
// the columns. Empty lines and lines that begin with # say nothing.
func Dependencies(text string) ([]rules.Listed, error) {
	var list []rules.Listed
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Fields(line)
		if strings.Contains(line, "\t") {
			columns = strings.Split(line, "\t")
		}
		if len(columns) < 2 || len(columns) > 3 {
			return nil, fmt.Errorf("line %d: want an ecosystem, a name and perhaps a version", n)
		}
		one := rules.Listed{Name: columns[0] + " " + columns[1]}
		if len(columns) == 3 {
			one.Version = columns[2]
		}
		list = append(list, one)
	}
	return list, nil
}

func set(listed []rules.Listed) rules.Set {
	return rules.Set{
		Sources: []rules.Source{
			{Origin: fence.OriginRecordField, Field: "summary", Title: true},
			{Origin: fence.OriginRecordField, Field: "details"},
		},
		Takes: []rules.Take{
			{ID: "id.record", Field: "id", From: "id"},
			{ID: "aliases.record", Field: "aliases", From: "alias"},
			{ID: "package.record", Field: "package", From: "package", Sep: ", "},
			{ID: "ecosystem.record", Field: "ecosystem", From: "ecosystem", Labels: ecosystems},
			{ID: "fixed.record", Field: "fixed", From: "fixed", Sep: ", "},
			{ID: "severity.record", Field: "severity", From: "severity", Labels: severities},
			{ID: "action.withdrawn", Field: "action", From: "status", Labels: map[string]string{"withdrawn": advisories.ActionNone}},
		},
		Matches: []rules.Match{{
			ID: "matters.listed", Field: "matters", From: "affected", Listed: listed,
			Hit: advisories.MattersYes, Unsure: advisories.MattersMaybe, Miss: advisories.MattersNo,
		}},
		Choices: []rules.Choice{
			{Field: "ecosystem", Default: "other"},
			{Field: "action", Default: advisories.ActionWatch, Rules: []rules.Rule{
				rules.Weigh("action.fixed", advisories.ActionUpgrade, 10, rules.Text, rules.Found("fixed")),
			}},
			severity,
		},
	}
}

// ecosystems are OSV's names (https://ossf.github.io/osv-schema/#defined-ecosystems).
var ecosystems = map[string]string{
	"go": "go", "npm": "npm", "pypi": "pypi", "maven": "maven", "nuget": "nuget", "rubygems": "rubygems", "crates.io": "crates.io",
	"packagist": "packagist", "github actions": "actions",
	"alma": "os", "almalinux": "os", "alpine": "os", "android": "os", "chainguard": "os", "debian": "os", "linux": "os", "mageia": "os",
	"opensuse": "os", "photon os": "os", "red hat": "os", "rocky linux": "os", "suse": "os", "ubuntu": "os", "wolfi": "os", "openeuler": "os",
}

// severities are the words of databases and of CVSS ratings.
var severities = map[string]string{
	"critical": "critical", "high": "high", "important": "high", "medium": "medium", "moderate": "medium", "low": "low", "none": "low", "negligible": "low",
}

// severity is read from the words where the record says none: what a flaw of
// that kind mostly is, by the ratings that such advisories have elsewhere.
var severity = rules.Choice{Field: "severity", Default: "unknown", Threshold: 10, Rules: []rules.Rule{
	rules.Weigh("critical.title", "critical", 30, rules.Title, rules.Words(
		"remote code execution", "rce", "arbitrary code", "code execution", "command injection", "authentication bypass", "auth bypass", "account takeover",
		"hardcoded", "hard-coded", "backdoor*", "malicious")),
	rules.Weigh("critical.says", "critical", 14, rules.Prose, rules.Words("remote code execution", "arbitrary code", "take over the", "full compromise")),
	rules.Weigh("high.title", "high", 26, rules.Title, rules.Words(
		"privilege escalation", "escalation of privilege*", "sql injection", "path traversal", "directory traversal", "arbitrary file*", "zip slip", "ssrf",
		"server-side request forgery", "denial of service", "dos", "panic*", "deserialization", "sandbox escape", "container escape", "memory corruption", "use after free",
		"use-after-free", "buffer overflow", "out-of-bounds", "improper authentication", "bypass*", "injection", "signature verification", "infinite loop", "exhaustion",
		"uncontrolled resource consumption", "unbounded", "stack overflow", "crash*", "escalat*")),
	rules.Weigh("high.says", "high", 12, rules.Prose, rules.Words(
		"privilege escalation", "denial of service", "arbitrary file*", "bypass*", "panic*", "crash*", "infinite loop", "memory exhaustion", "unauthenticated")),
	rules.Weigh("medium.title", "medium", 30, rules.Title, rules.Words(
		"cross-site scripting", "xss", "csrf", "cross-site request forgery", "open redirect*", "information disclosure", "information exposure", "exposure of", "leak*",
		"disclos*", "improper access control", "incorrect authorization", "missing authorization", "improper authorization", "doesn't validate", "fails to", "does not", "improper*", "insufficient*",
		"request smuggling", "spoof*", "clickjacking", "race condition", "permission*", "authorization", "access control")),
	rules.Weigh("medium.says", "medium", 8, rules.Prose, rules.Words("cross-site", "information disclosure", "redirect*", "sensitive information")),
	rules.Weigh("low.title", "low", 34, rules.Title, rules.Words("timing attack*", "timing side*", "log injection", "deprecated", "minor", "typo*", "enumeration", "predictable", "weak")),
}}
