package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/aws/aws-sdk-go-v2/aws"

	"decant.dev/pipeline"
)

// bundleKey is bundle/<run>/<digest>. With the token's digest in it a token of
// another run, or of none, is a key that there is not: nothing is read, and so
// nothing takes longer, before the token is right.
func bundleKey(run string, token [sha256.Size]byte) (*string, error) {
	if !pipeline.IsRunID(run) {
		return nil, pipeline.StoreFailed.Error("bucket: want a run's id")
	}
	return aws.String("bundle/" + run + "/" + hex.EncodeToString(token[:])), nil
}

// PutBundle stores what was gathered for a run under the digest of its token.
func (b *Bucket) PutBundle(ctx context.Context, run string, token [sha256.Size]byte, bundle []byte) error {
	key, err := bundleKey(run, token)
	if err != nil {
		return err
	}
	return b.put(ctx, key, bundle, MaxPromptBytes, nil)
}

// Bundle returns the bundle of a run whose token has the digest, and false
// where there is none. S3 answers AccessDenied for a key that there is not to
// whoever may not list the bucket, and so that is none too; a role without the
// right to read bundles finds none at all
// (docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html, "Permissions").
func (b *Bucket) Bundle(ctx context.Context, run string, token [sha256.Size]byte) ([]byte, bool, error) {
	key, err := bundleKey(run, token)
	if err != nil {
		return nil, false, err
	}
	return b.get(ctx, key, MaxPromptBytes, "NoSuchKey", "AccessDenied")
}
