package bedrock_test

import (
	"fmt"

	"decant.dev/extract"
	"decant.dev/extract/bedrock"
	"decant.dev/extract/shape"
)

// Triage is what a recipe wants to know.
type Triage struct {
	Kind     string `json:"kind" jsonschema:"enum=bug,enum=feature,enum=question"`
	Severity int    `json:"severity" jsonschema:"minimum=0,maximum=3"`
}

// The main of a function of one's own gives lambdaextract this extractor, with
// the model that the deployment names in DECANT_MODEL.
func ExampleNew() {
	triage, err := shape.Of[Triage]() // a recipe's own is Recipe.Shape()
	if err != nil {
		panic(err)
	}
	x := bedrock.Must(triage, bedrock.Config{
		Region: "eu-central-1", Model: "eu.example.some-model-v1:0", Held: bedrock.ByFormat, Cache: true,
	})
	fmt.Println(extract.HostsOf(x))
	// Output: [bedrock-runtime.eu-central-1.amazonaws.com:443]
}
