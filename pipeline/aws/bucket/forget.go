package bucket

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// places are the prefixes under which a recipe's run has objects that hold text.
var places = []string{"raw", "prompt", "manifest", "start"}

// maxPages bounds how many pages of one place are looked through: a run has a
// handful of versions there.
const maxPages = 16

// Forget removes every version of every object that a run has in the bucket. It
// is for people: no role of the pipeline may list or delete versions.
func (b *Bucket) Forget(ctx context.Context, recipe, run string) error {
	if !pipeline.IsRecipeName(recipe) || !pipeline.IsRunID(run) {
		return pipeline.StoreFailed.Error("bucket: want a recipe's name and a run's id")
	}
	for _, place := range places {
		if err := b.forget(ctx, place+"/"+recipe+"/"+run); err != nil {
			return err
		}
	}
	return b.forget(ctx, "bundle/"+run+"/")
}

func (b *Bucket) forget(ctx context.Context, prefix string) error {
	in := &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &prefix, ExpectedBucketOwner: &b.owner}
	for range maxPages {
		page, err := b.s3.ListObjectVersions(ctx, in)
		if err != nil {
			return client.Fault("s3 list versions", err)
		}
		for _, v := range page.Versions {
			if err := b.remove(ctx, v.Key, v.VersionId); err != nil {
				return err
			}
		}
		for _, m := range page.DeleteMarkers {
			if err := b.remove(ctx, m.Key, m.VersionId); err != nil {
				return err
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return nil
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
	return pipeline.StoreFailed.Error("bucket: more than %d pages of versions", maxPages)
}

func (b *Bucket) remove(ctx context.Context, key, version *string) error {
	_, err := b.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: key, VersionId: version, ExpectedBucketOwner: &b.owner})
	return client.Fault("s3 delete", err)
}
