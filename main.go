// Decant acts automatically on text that strangers wrote, without letting the
// text steer the program.
package main

import (
	"decant.dev/cli"
	"decant.dev/recipes/advisories"
	advisoriesintake "decant.dev/recipes/advisories/intake"
	"decant.dev/recipes/inbox"
	inboxintake "decant.dev/recipes/inbox/intake"
	"decant.dev/recipes/issues"
	issuesintake "decant.dev/recipes/issues/intake"
)

func main() {
	cli.Main(
		cli.Pipeline{Recipe: advisories.Recipe, Intake: advisoriesintake.Intake, Extractor: advisoriesintake.Extractor},
		cli.Pipeline{Recipe: inbox.Recipe, Intake: inboxintake.Intake, Extractor: inboxintake.Extractor},
		cli.Pipeline{Recipe: issues.Recipe, Intake: issuesintake.Intake, Extractor: issuesintake.Extractor},
	)
}
