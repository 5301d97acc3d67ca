package emulators

import (
	"testing"

	"decant.dev/pipeline/aws/bucket"
)

// A forgotten run has no version of any object left, and another run has all
// of its own.
func TestABucketForgetsARun(t *testing.T) {
	testCredentials(t)
	b := bucket.Open(region, open(t).url, "raw", account)
	const gone, kept = "11111111111111111111111111111111", "11111111111111111111111111111112"
	places := []bucket.Blobs{b.Raw("issues"), b.Prompts("issues"), b.Tokens("issues"), b.Manifests("issues"), b.Starts("issues")}
	for _, run := range []string{gone, kept} {
		for _, p := range places {
			for range 2 { // two versions
				if err := p.Put(t.Context(), run, []byte("SECRETWORD")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.PutBundle(t.Context(), run, [32]byte{1}, []byte("SECRETWORD")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Forget(t.Context(), "issues", gone); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]bool{gone: false, kept: true} {
		for i, p := range places {
			if _, found, err := p.Get(t.Context(), run); found != want || err != nil {
				t.Errorf("%s, place %d: found %t, %v", run, i, found, err)
			}
		}
		if _, found, err := b.Bundle(t.Context(), run, [32]byte{1}); found != want || err != nil {
			t.Errorf("%s: bundle found %t, %v", run, found, err)
		}
	}
	if err := b.Forget(t.Context(), "issues", "../raw"); err == nil {
		t.Error("what is no run was forgotten")
	}
}
