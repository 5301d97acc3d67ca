// Package intake holds what only fetch and extract may link of the advisories
// recipe: where its text comes from, the recipe author's own words to a model,
// the rules that read an advisory without one, and the dependencies that it is
// held against.
package intake

import (
	"net/http"

	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/fetch/feed"
)

var hosts = []string{"vuln.go.dev:443"}

// source is the Go vulnerability database: an index of ids with the instants
// at which they were modified, and a record each
// (https://go.dev/doc/security/vuln/database).
var source = feed.Config{
	URL: "https://vuln.go.dev/index/vulns.json", Record: "https://vuln.go.dev/ID/{id}.json", Hosts: hosts, Format: feed.JSON,
}

// Intake reads advisories in OSV form.
var Intake = fetch.Intake{
	Source:      "osv",
	Hosts:       hosts,
	List:        feed.Lister(source),
	Elements:    feed.OSVElements,
	Items:       func(document []byte) ([][]byte, error) { return feed.Items(feed.OSV, document) },
	Profile:     fence.ProfileIntake,
	Instruction: "Read this security advisory: say what it is about, what mends it, how severe it is, and what there is to do.",
	Scaffold: `Fill these fields, as the record has them:
id: the advisory's own id
aliases: its other ids
package: the field package, word for word
ecosystem: go, npm, pypi, maven, nuget, rubygems, crates.io, packagist, actions, os for the packages of an operating system, or other
fixed: the field fixed, word for word
severity: critical, high, medium, low or unknown
matters: no, unless you were told the dependencies
action: upgrade where a version mends it, watch where none does, none where it was withdrawn`,
	Limits: fence.Limits{MessageMaxBytes: 16 << 10, ContextMaxBytes: 64 << 10},
}

// Extractor is the recipe's default: rules, and no model.
func Extractor(*http.Client) extract.Extractor { return Rules() }
