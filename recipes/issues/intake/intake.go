// Package intake holds what only fetch and extract may link of the issues
// recipe: where its text comes from, the recipe author's own words to a
// model, and the rules that read the text without one.
package intake

import (
	"net/http"

	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/fetch"
)

// Intake reads GitHub's issues and the comments that command a triage.
var Intake = fetch.Intake{
	Source:      "github",
	Elements:    fetch.GitHubIssues,
	Profile:     fence.ProfileIntake,
	Instruction: "Triage this issue: say what kind it is, how severe, which areas it touches, and what its author should still add.",
	Scaffold: `Fill these fields:
kind: bug, feature, question or spam
severity: 3 loses data or breaks security, 2 breaks a main use, 1 is a nuisance, 0 is cosmetic
areas: at most two of build, docs, ui, api, performance, security
reproducible: yes, no or unknown
missing: for a bug, which of version, steps, expected, logs the author did not give
version: the version that the issue is about, if it names one
quote: the sentence that says it best, word for word, at most 160 characters`,
	Limits: fence.Limits{MessageMaxBytes: 16 << 10, ContextMaxBytes: 64 << 10},
}

// Extractor is the recipe's default: rules, and no model.
func Extractor(*http.Client) extract.Extractor { return Rules() }
