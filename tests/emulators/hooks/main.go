// Hooks is the ingress of the example orders, and of nothing else.
package main

import (
	"decant.dev/examples/orders"
	"decant.dev/examples/orders/source"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/lambdaingress"
)

func main() {
	lambdaingress.Serve(lambdaingress.Sources{Hooks: []lambdaingress.Hooked{{Hook: source.Hook, Recipes: []*pipeline.Recipe{orders.Recipe}}}})
}
