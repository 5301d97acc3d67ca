package bucket

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// startPlace is the prefix of all markers.
const startPlace = "start/"

// pageKeys is how many keys one answer of S3 holds at most.
const pageKeys = 1000

// Marker names one object under start/. Recipe and Run are empty where its
// key is none that Starts writes.
type Marker struct {
	Key         string
	Recipe, Run string
	At          time.Time // when it was written
}

// Markers lists up to 1,000 markers whose keys come after one, in the order
// of their keys; the empty key comes before all. It reads no object.
func (b *Bucket) Markers(ctx context.Context, after string) ([]Marker, error) {
	in := &s3.ListObjectsV2Input{
		Bucket: &b.name, ExpectedBucketOwner: &b.owner, Prefix: aws.String(startPlace), MaxKeys: aws.Int32(pageKeys),
	}
	if after != "" {
		in.StartAfter = &after
	}
	out, err := b.s3.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, client.Fault("s3 list", err)
	}
	var all []Marker
	for _, o := range out.Contents {
		m := Marker{Key: aws.ToString(o.Key), At: aws.ToTime(o.LastModified)}
		if recipe, run, ok := strings.Cut(strings.TrimPrefix(m.Key, startPlace), "/"); ok && pipeline.IsRecipeName(recipe) && pipeline.IsRunID(run) {
			m.Recipe, m.Run = recipe, run
		}
		all = append(all, m)
	}
	return all, nil
}

// RemoveMarker deletes a marker by its key, whatever it holds.
func (b *Bucket) RemoveMarker(ctx context.Context, key string) error {
	if !strings.HasPrefix(key, startPlace) {
		return pipeline.StoreFailed.Error("bucket: want the key of a marker")
	}
	_, err := b.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, ExpectedBucketOwner: &b.owner, Key: &key})
	return client.Fault("s3 delete", err)
}

// Has reports whether a run has a value, from the list of keys and without
// reading it.
func (b Blobs) Has(ctx context.Context, run string) (bool, error) {
	key, err := b.key(run)
	if err != nil {
		return false, err
	}
	out, err := b.bucket.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: &b.bucket.name, ExpectedBucketOwner: &b.bucket.owner, Prefix: key, MaxKeys: aws.Int32(1),
	})
	if err != nil {
		return false, client.Fault("s3 list", err)
	}
	return len(out.Contents) == 1 && aws.ToString(out.Contents[0].Key) == *key, nil
}
