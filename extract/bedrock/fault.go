package bedrock

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"decant.dev/extract/internal/attempt"
)

// Fault is Bedrock's own word for what went wrong: one of the exceptions of
// Converse, or "error". The message beside it is never kept.
type Fault string

// Error tells the word.
func (f Fault) Error() string { return "bedrock: " + string(f) }

var (
	errCredentials = errors.New("bedrock: want credentials in the environment, found none")
	errReach       = errors.New("bedrock: the endpoint cannot be reached")
)

// The exceptions of Converse
// (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
// The SDK retries neither a model that is not ready or timed out, nor a quota.
var (
	passing = []string{
		"InternalServerException", "ModelNotReadyException", "ModelTimeoutException", "ServiceQuotaExceededException",
		"ServiceUnavailableException", "ThrottlingException",
	}
	lasting = []string{"AccessDeniedException", "ModelErrorException", "ResourceNotFoundException", "ValidationException"}
)

// fault says what an error of the SDK is worth: one after which asking again
// may help, or not. Nothing of its message is kept.
func fault(err error) error {
	var api smithy.APIError
	var answered *smithyhttp.ResponseError
	var unsent *smithyhttp.RequestSendError
	isAnswer := errors.As(err, &answered) && answered.Response != nil
	switch {
	case errors.Is(err, errCredentials):
		return errCredentials
	case errors.Is(err, attempt.ErrLarge):
		return attempt.ErrLarge
	case errors.Is(err, attempt.ErrForm):
		return attempt.ErrForm
	case errors.As(err, &unsent):
		return &attempt.Again{Err: errReach}
	case errors.As(err, &api) && slices.Contains(passing, api.ErrorCode()):
		return again(Fault(api.ErrorCode()), answered)
	case errors.As(err, &api) && slices.Contains(lasting, api.ErrorCode()):
		return Fault(api.ErrorCode())
	case isAnswer && attempt.Transient(answered.HTTPStatusCode()):
		return again(Fault("error"), answered)
	case isAnswer && answered.HTTPStatusCode() != http.StatusOK:
		return Fault("error")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded):
		return &attempt.Again{Err: errReach}
	default:
		return ErrNoAnswer
	}
}

func again(f Fault, answered *smithyhttp.ResponseError) error {
	a := &attempt.Again{Err: f}
	if answered != nil && answered.Response != nil && answered.Response.Response != nil {
		a.After = attempt.After(answered.Response.Header)
	}
	return a
}

// bounded is a client that owns what it sends, and whose answers end with an error at the first byte beyond
// MaxAnswerBytes, and, where they say that all went well, are JSON.
type bounded struct{ client *http.Client }

func (b bounded) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		// The SDK closes the body as soon as an answer begins, which the
		// transport, not yet done with it, takes for a fault of the connection.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	a, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	if a.StatusCode/100 == 2 { // as the SDK counts success
		if err := attempt.JSON(a.Header); err != nil {
			_ = a.Body.Close()
			return nil, err
		}
	}
	a.Body = attempt.Body(a.Body, MaxAnswerBytes)
	return a, nil
}
