// Decant acts automatically on text that strangers wrote, without letting the
// text steer the program.
package main

import (
	"decant.dev/cli"
	"decant.dev/recipes/issues"
	"decant.dev/recipes/issues/intake"
)

func main() {
	cli.Main(cli.Pipeline{
		Recipe:    issues.Recipe,
		Intake:    intake.Intake,
		Extractor: intake.Extractor,
	})
}
