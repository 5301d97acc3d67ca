// Ingress verifies GitHub's webhooks, and starts runs and batches.
package main

import (
	"decant.dev/pipeline/aws/lambdaingress"
	"decant.dev/recipes/advisories"
	"decant.dev/recipes/issues"
)

func main() { lambdaingress.Main(advisories.Recipe, issues.Recipe) }
