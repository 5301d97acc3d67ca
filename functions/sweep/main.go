// Sweep starts runs that were stored and not started.
package main

import "decant.dev/pipeline/aws/lambdasweep"

func main() { lambdasweep.Main() }
