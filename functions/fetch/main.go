// Fetch turns stored bodies into fenced prompts, and a schedule's ticks into
// items.
package main

import (
	"decant.dev/pipeline/aws/lambdafetch"
	advisories "decant.dev/recipes/advisories/intake"
	issues "decant.dev/recipes/issues/intake"
)

// The recipes are named here, and not linked: fetch knows nothing of plan and
// policy.
func main() {
	lambdafetch.Main(
		lambdafetch.Pipeline{Name: "advisories", Intake: advisories.Intake},
		lambdafetch.Pipeline{Name: "issues", Intake: issues.Intake},
	)
}
