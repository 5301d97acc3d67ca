// Package tests holds the whole-system tests: end to end, adversarial, and of
// the architecture. It exports nothing.
package tests
