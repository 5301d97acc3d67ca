// Package infra deploys recipes on AWS: the functions of each phase with a
// role of its own, the state machine that carries runs through them, and what
// they store in.
//
// NewPipeline is a construct for any CDK program in Go; infra/app is the
// program that deploys this module's recipes.
//
// Every right is written out as an explicit statement with exact actions and
// resources, and each role is denied by name what its phase must never reach.
// Wildcards are "*" for tracing and for the delivery of the machines' own
// logs, whose actions know no other resource (Service Authorization Reference,
// X-Ray and CloudWatch Logs), the objects under a prefix, and the executions
// that the machine of batches has of its own items. What the roles amount to is computed
// from the synthesized template by package infra/authority.
//
// IAM does not limit where a function connects to. Only NetworkIsolated does,
// and only for extract.
package infra
