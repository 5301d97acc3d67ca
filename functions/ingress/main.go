// Ingress verifies GitHub's webhooks and starts runs.
package main

import (
	"decant.dev/pipeline/aws/lambdaingress"
	"decant.dev/recipes/issues"
)

func main() { lambdaingress.Main(issues.Recipe) }
