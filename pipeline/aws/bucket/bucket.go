// Package bucket keeps raw bodies, prompt objects, bundles, manifests of
// batches, cursors of feeds and markers of runs that are to start in one S3 bucket.
//
// A key holds a recipe's name, a run's id and the digest of a token, nothing
// else. A raw body is
// written once and never replaced. Objects are written and read with SHA-256
// checksums and only while the bucket belongs to the expected account, so
// that a bucket of the same name in other hands is neither read nor fed.
package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// Bounds of an object, in bytes.
const (
	MaxRawBytes      = 4 << 20            // a body, as ingress bounds it
	MaxPromptBytes   = 32<<20 + 4<<10     // a prompt object, as fence bounds it
	MaxManifestBytes = 256 << 10          // a manifest of fetch.MaxItems entries of 117 bytes
	MaxCursorBytes   = 3 << 20            // a cursor, as fetch bounds it
	maxTokenBytes    = 128                // a token, which has 76
	maxAnswer        = MaxPromptBytes + 1 // one byte more, so that a larger object is seen
)

// Bucket is one bucket. It is safe for concurrent use.
type Bucket struct {
	s3    *s3.Client
	name  string
	owner string // account id
}

// Open makes a bucket's client. An endpoint that is not the service's own is
// addressed by path.
func Open(region, endpoint, name, owner string) *Bucket {
	c := s3.NewFromConfig(client.Config(region, endpoint, maxAnswer), func(o *s3.Options) { o.UsePathStyle = endpoint != "" })
	return &Bucket{s3: c, name: name, owner: owner}
}

// New is a bucket behind a client.
func New(c *s3.Client, name, owner string) *Bucket { return &Bucket{s3: c, name: name, owner: owner} }

// Raw returns the bodies of a recipe's runs as they were received, under
// raw/<recipe>/<run>.
func (b *Bucket) Raw(recipe string) Blobs { return Blobs{b, "raw", recipe, "", MaxRawBytes} }

// Prompts returns the prompt objects of a recipe's runs, under
// prompt/<recipe>/<run>.
func (b *Bucket) Prompts(recipe string) Blobs { return Blobs{b, "prompt", recipe, "", MaxPromptBytes} }

// Tokens returns the tokens of the context API for a recipe's runs, under
// prompt/<recipe>/<run>.token: whoever may read a run's prompt may read them.
func (b *Bucket) Tokens(recipe string) Blobs {
	return Blobs{b, "prompt", recipe, ".token", maxTokenBytes}
}

// Manifests returns the lists of the items of a recipe's batches, under
// manifest/<recipe>/<run>.json, where the batch machine reads them.
func (b *Bucket) Manifests(recipe string) Blobs {
	return Blobs{b, "manifest", recipe, ".json", MaxManifestBytes}
}

// Cursors returns where the listers of a recipe's feeds stand, under
// cursor/<recipe>/<feed>.
func (b *Bucket) Cursors(recipe string) Cursors {
	return Cursors{Blobs{b, "cursor", recipe, "", MaxCursorBytes}}
}

// Starts returns the envelopes of a recipe's runs that are to start, under
// start/<recipe>/<run>. A marker stands there from before a run's body is
// stored until a sweep has seen that the run was recorded.
func (b *Bucket) Starts(recipe string) Blobs {
	return Blobs{b, "start", recipe, "", pipeline.MaxEnvelopeBytes}
}

// Cursors keeps one value for each feed.
type Cursors struct{ blobs Blobs }

// Get returns a feed's cursor, and false where there is none, as Bundle does.
func (c Cursors) Get(ctx context.Context, feed string) ([]byte, bool, error) {
	key, err := c.blobs.key(feed)
	if err != nil {
		return nil, false, err
	}
	return c.blobs.bucket.get(ctx, key, c.blobs.max, "NoSuchKey", "AccessDenied")
}

// Put stores a feed's cursor, in place of an earlier one.
func (c Cursors) Put(ctx context.Context, feed string, cursor []byte) error {
	return c.blobs.Put(ctx, feed, cursor)
}

// Blobs keeps one value for each run.
type Blobs struct {
	bucket *Bucket
	place  string
	recipe string
	suffix string
	max    int
}

// key refuses what is no id, so that no other text becomes a key.
func (b Blobs) key(run string) (*string, error) {
	if !pipeline.IsRecipeName(b.recipe) || !pipeline.IsRunID(run) {
		return nil, pipeline.StoreFailed.Error("bucket: want a recipe's name and a run's id")
	}
	return aws.String(b.place + "/" + b.recipe + "/" + run + b.suffix), nil
}

// Put stores a run's value, in place of an earlier one.
func (b Blobs) Put(ctx context.Context, run string, value []byte) error {
	return b.put(ctx, run, value, nil)
}

// PutOnce stores a run's value unless there is one.
func (b Blobs) PutOnce(ctx context.Context, run string, value []byte) error {
	err := b.put(ctx, run, value, aws.String("*"))
	var exists *existsError
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// existsError says that a conditional write found an object.
type existsError struct{}

func (*existsError) Error() string { return "bucket: an object exists" }

func (b Blobs) put(ctx context.Context, run string, value []byte, unless *string) error {
	key, err := b.key(run)
	if err != nil {
		return err
	}
	return b.bucket.put(ctx, key, value, b.max, unless)
}

func (b *Bucket) put(ctx context.Context, key *string, value []byte, most int, unless *string) error {
	if len(value) > most {
		return pipeline.StoreFailed.Error("bucket: value of %d bytes: want at most %d", len(value), most)
	}
	_, err := b.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: key, ExpectedBucketOwner: &b.owner,
		Body: bytes.NewReader(value), ContentLength: aws.Int64(int64(len(value))), // seekable: a retry sends it again
		ContentType: aws.String("application/octet-stream"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256, IfNoneMatch: unless,
	})
	var api smithy.APIError
	if errors.As(err, &api) {
		switch api.ErrorCode() {
		case "PreconditionFailed":
			return &existsError{}
		case "ConditionalRequestConflict": // another write of the key is under way
			return client.RetryableError{}
		}
	}
	return client.Fault("s3 put", err)
}

// Get returns a run's value, and false where there is none. A value over the
// limit of its place is an error and is not read to its end.
func (b Blobs) Get(ctx context.Context, run string) ([]byte, bool, error) {
	key, err := b.key(run)
	if err != nil {
		return nil, false, err
	}
	return b.bucket.get(ctx, key, b.max, "NoSuchKey")
}

// get reads one object, and false where S3 answered one of the codes that mean
// that there is none.
func (b *Bucket) get(ctx context.Context, key *string, most int, none ...string) ([]byte, bool, error) {
	out, err := b.s3.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &b.name, Key: key, ExpectedBucketOwner: &b.owner, ChecksumMode: types.ChecksumModeEnabled,
	})
	switch {
	case err != nil && slices.Contains(none, client.Code(err)):
		return nil, false, nil
	case err != nil:
		return nil, false, client.Fault("s3 get", err)
	}
	defer out.Body.Close()
	value, err := io.ReadAll(io.LimitReader(out.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, false, client.Fault("s3 get", fmt.Errorf("read: %w", err))
	case len(value) > most:
		return nil, false, pipeline.StoreFailed.Error("bucket: value of more than %d bytes", most)
	}
	return value, true, nil
}
