// Extract turns fenced prompts into structures. It is deployed once for each
// class of label.
package main

import (
	"decant.dev/pipeline/aws/lambdaextract"
	"decant.dev/recipes/issues"
	"decant.dev/recipes/issues/intake"
)

func main() {
	lambdaextract.Main(lambdaextract.Pipeline{Recipe: issues.Recipe, Extractor: intake.Extractor(nil)})
}
