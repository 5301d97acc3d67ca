// Package functions holds the Lambda functions of this module's own recipes,
// one small main a folder. It exports nothing; its test holds each function
// to what it may link.
package functions
