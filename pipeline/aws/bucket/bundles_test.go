package bucket

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// A bundle lies under its run and its token's digest, so that any other token
// is a key that there is not, which S3 may tell in two ways.
func TestABundleIsFoundByItsTokenAlone(t *testing.T) {
	token := sha256.Sum256([]byte("token"))
	b, asked := answering(t, 200, "bundle")
	if err := b.PutBundle(t.Context(), run, token, []byte("bundle")); err != nil {
		t.Fatal(err)
	}
	if v, found, err := b.Bundle(t.Context(), run, token); string(v) != "bundle" || !found || err != nil {
		t.Errorf("got %d bytes, %t, %v", len(v), found, err)
	}
	for i, method := range []string{"PUT", "GET"} {
		r := (*asked)[i]
		if r.Method != method || r.URL.Path != "/bucket/bundle/"+run+"/"+hex.EncodeToString(token[:]) || r.Header.Get("X-Amz-Expected-Bucket-Owner") == "" {
			t.Errorf("got %s %s", r.Method, r.URL.Path)
		}
	}
	for status, code := range map[int]string{404: "NoSuchKey", 403: "AccessDenied"} {
		b, _ := answering(t, status, failure(code))
		if v, found, err := b.Bundle(t.Context(), run, token); v != nil || found || err != nil {
			t.Errorf("%s: got %d bytes, %t, %v; want none", code, len(v), found, err)
		}
	}
	for status, code := range map[int]string{404: "NoSuchBucket", 400: "InvalidRequest", 403: "SignatureDoesNotMatch"} {
		b, _ := answering(t, status, failure(code))
		if _, found, err := b.Bundle(t.Context(), run, token); found || err == nil || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: got %t, %v; want an error", code, found, err)
		}
	}
}

func TestBundlesAndTokensHaveKeysOfIdsOnly(t *testing.T) {
	b, asked := answering(t, 200, "")
	token := sha256.Sum256(nil)
	for _, bad := range []string{"", "../x", strings.ToUpper(run), run + "/" + run, run + ".token"} {
		if err := b.PutBundle(t.Context(), bad, token, nil); err == nil {
			t.Errorf("%q was taken", bad)
		}
		if _, found, err := b.Bundle(t.Context(), bad, token); found || err == nil {
			t.Errorf("%q was asked for", bad)
		}
	}
	if err := b.Tokens("issues").Put(t.Context(), run, make([]byte, maxTokenBytes+1)); err == nil || len(*asked) != 0 {
		t.Errorf("a large token: got %v after %d requests", err, len(*asked))
	}
	if err := b.Tokens("issues").Put(t.Context(), run, make([]byte, 76)); err != nil || (*asked)[0].URL.Path != "/bucket/prompt/issues/"+run+".token" {
		t.Errorf("got %v", err)
	}
}
