// Context serves the contexts of runs that are under way to their adapters.
package main

import "decant.dev/pipeline/aws/lambdacontext"

func main() { lambdacontext.Main() }
