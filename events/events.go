// Package events turns what starts a run into what the ingress may believe
// about it: an HTTP event as AWS delivers it, the proof that GitHub sent its
// body, and the few bounded facts that an envelope needs.
//
// The threat is a sender who writes the bytes: with a missing, wrong or
// re-encoded signature, with a body of megabytes, deep nesting or duplicate
// keys that two readers would read differently, and with a header that names
// another event than the body holds. So the signature is checked over the
// bytes as received and before they are read as JSON; the body is read
// strictly, once, within bounds; and the kind of event is taken from the
// signed body, since GitHub's signature does not cover its headers.
//
// Every error is a [pipeline.Fault] whose detail holds our own words, sizes
// and offsets only, never a byte of the event.
//
// Not promised: that what the body says is true or well meant. A valid
// signature says who sent a delivery, not who wrote its title; a signed body
// is as foreign as any other. A delivery can be sent again, with any header:
// it is then the same run, since a run's id is a digest of the signed bytes.
package events

// Limits, each checked before more than one byte beyond it is held.
const (
	// MaxEventBytes bounds an HTTP event with everything around its body. It
	// is Lambda's limit for a synchronous invocation's payload:
	// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
	MaxEventBytes = 6 << 20

	// MaxBodyBytes bounds a decoded body: what fits base64-encoded into an
	// event of MaxEventBytes, with room for the headers.
	MaxBodyBytes = 4 << 20

	// MaxDepth is how deeply the arrays and objects of an event or a body
	// may nest. GitHub's payloads nest to 6.
	MaxDepth = 64

	// MaxKeys bounds the keys of an event or a body, since a reader that
	// refuses duplicates remembers them. A push of GitHub's most commits,
	// 2,048, has about 41,000.
	MaxKeys = 1 << 16

	// MaxHeaders bounds the number of headers of an event. API Gateway
	// bounds their sum at 10,240 bytes.
	MaxHeaders = 256
)

// SampleSecret signs the sample events in this folder. It is public, and so
// proves nothing about any other event.
const SampleSecret = "decant-sample-secret-not-for-production"
