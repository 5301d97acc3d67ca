// Extract turns fenced prompts into structures. It is deployed once for each
// class of label.
package main

import (
	"decant.dev/pipeline/aws/lambdaextract"
	"decant.dev/recipes/advisories"
	advisoriesintake "decant.dev/recipes/advisories/intake"
	"decant.dev/recipes/issues"
	issuesintake "decant.dev/recipes/issues/intake"
)

func main() {
	lambdaextract.Main(
		lambdaextract.Pipeline{Recipe: advisories.Recipe, Extractor: advisoriesintake.Extractor(nil)},
		lambdaextract.Pipeline{Recipe: issues.Recipe, Extractor: issuesintake.Extractor(nil)},
	)
}
