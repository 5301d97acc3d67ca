package client

import (
	"context"
	"errors"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"decant.dev/pipeline"
)

// RetryableError is what a function fails with where asking again may help.
// It is the one error that a function returns to whoever invoked it, and says
// nothing of its cause. The state machine knows it by the name of its type.
type RetryableError struct{}

// Error returns a constant.
func (RetryableError) Error() string { return "a service did not answer: ask again" }

// Fault turns a failed call of a service into what may be told of it: a
// RetryableError where the service was throttled, unreachable or broken, and
// otherwise pipeline.StoreFailed with the operation and the service's own
// code. A message of the service is never kept.
func Fault(operation string, err error) error {
	if err == nil {
		return nil
	}
	if Transient(err) {
		return RetryableError{}
	}
	return pipeline.StoreFailed.Error("%s: %s", operation, Code(err))
}

// Transient reports whether asking again may help.
func Transient(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, errAnswerTooLarge) {
		return false
	}
	var again RetryableError
	if errors.As(err, &again) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	for _, r := range retry.DefaultRetryables {
		if r.IsErrorRetryable(err) == aws.TrueTernary {
			return true
		}
	}
	for _, r := range retry.DefaultThrottles {
		if r.IsErrorThrottle(err) == aws.TrueTernary {
			return true
		}
	}
	return false
}

var codeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]{0,63}$`)

// Code returns the service's code of an error, or "error" where there is none
// in the form of one.
func Code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && codeForm.MatchString(api.ErrorCode()) {
		return api.ErrorCode()
	}
	return "error"
}
