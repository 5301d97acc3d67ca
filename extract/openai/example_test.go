package openai_test

import (
	"fmt"
	"net/http"

	"decant.dev/extract"
	"decant.dev/extract/openai"
	"decant.dev/extract/shape"
)

// Triage is what a recipe wants to know.
type Triage struct {
	Kind     string `json:"kind" jsonschema:"enum=bug,enum=feature,enum=question"`
	Severity int    `json:"severity" jsonschema:"minimum=0,maximum=3"`
}

// A pipeline's Extractor asks a model that runs on this machine.
func ExampleNew() {
	triage, err := shape.Of[Triage]() // a recipe's own is Recipe.Shape()
	if err != nil {
		panic(err)
	}
	extractor := func(client *http.Client) extract.Extractor {
		return openai.Must(triage, openai.Config{
			BaseURL: "http://127.0.0.1:11434/v1", Model: "a-small-model", Dialect: openai.Compatible, Client: client,
		})
	}
	fmt.Println(extract.HostsOf(extractor(nil)))
	// Output: [127.0.0.1:11434]
}

// A hosted model wants a key, which is read from the environment of the
// extract phase alone.
func ExampleNew_hosted() {
	triage, err := shape.Of[Triage]()
	if err != nil {
		panic(err)
	}
	x := openai.Must(triage, openai.Config{
		BaseURL: "https://models.example.com/v1", Model: "a-large-model", Dialect: openai.Hosted, KeyVariable: "MODEL_KEY",
		Prices: extract.Prices{Input: 3_000_000, Output: 15_000_000},
	})
	fmt.Println(extract.HostsOf(x), extract.EnvironmentOf(x))
	fmt.Printf("at most $%.2f\n", float64(x.Worst(64<<10))/1e6)
	// Output:
	// [models.example.com:443] [MODEL_KEY]
	// at most $1.63
}
