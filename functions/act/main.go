// Act admits runs and performs listed outcomes.
package main

import (
	"decant.dev/pipeline/aws/lambdaact"
	"decant.dev/recipes/advisories"
	"decant.dev/recipes/issues"
)

func main() { lambdaact.Main(advisories.Recipe, issues.Recipe) }
