// Approve keeps the questions about waiting runs and their answers.
package main

import "decant.dev/pipeline/aws/lambdaapprove"

func main() { lambdaapprove.Main() }
