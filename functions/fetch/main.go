// Fetch turns stored bodies into fenced prompts.
package main

import (
	"decant.dev/pipeline/aws/lambdafetch"
	"decant.dev/recipes/issues/intake"
)

// recipe is the name of recipes/issues, which fetch does not link: it knows
// nothing of plan and policy.
const recipe = "issues"

func main() { lambdafetch.Main(lambdafetch.Pipeline{Name: recipe, Intake: intake.Intake}) }
