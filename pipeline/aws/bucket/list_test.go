package bucket

import (
	"errors"
	"strings"
	"testing"

	"decant.dev/fetch"
	"decant.dev/pipeline"
)

func keys(all ...string) string {
	s := `<?xml version="1.0"?><ListBucketResult>`
	for _, k := range all {
		s += `<Contents><Key>` + k + `</Key><LastModified>2026-12-01T00:00:00.000Z</LastModified></Contents>`
	}
	return s + `</ListBucketResult>`
}

func TestMarkersAreThoseThatStartsWrites(t *testing.T) {
	good := "start/issues/" + run
	b, asked := answering(t, 200, keys(good, "start/issues/zz9", "start/"+run, good+"/more"))
	all, err := b.Markers(t.Context(), "start/a")
	if err != nil || len(all) != 4 {
		t.Fatalf("got %v, %v", all, err)
	}
	for i, m := range all {
		if ours := m.Recipe == "issues" && m.Run == run; ours != (i == 0) || m.At.IsZero() || !ours && m.Recipe+m.Run != "" {
			t.Errorf("got %+v", m)
		}
	}
	q := (*asked)[0].URL.Query()
	if q.Get("prefix") != "start/" || q.Get("start-after") != "start/a" || q.Get("max-keys") != "1000" || (*asked)[0].Header.Get("X-Amz-Expected-Bucket-Owner") == "" {
		t.Errorf("asked %v", (*asked)[0].URL)
	}
}

func TestHasLooksAtTheListAndNotAtTheObject(t *testing.T) {
	for _, tc := range []struct {
		listed string
		want   bool
	}{{"raw/issues/" + run, true}, {"raw/issues/" + run + "0", false}} {
		b, asked := answering(t, 200, keys(tc.listed))
		got, err := b.Raw("issues").Has(t.Context(), run)
		if err != nil || got != tc.want || len(*asked) != 1 || (*asked)[0].URL.Query().Get("list-type") != "2" {
			t.Errorf("%s: got %t, %v after %d requests", tc.listed, got, err, len(*asked))
		}
	}
	b, _ := answering(t, 200, keys())
	if got, err := b.Raw("issues").Has(t.Context(), run); got || err != nil {
		t.Errorf("nothing there: got %t, %v", got, err)
	}
}

func TestOnlyMarkersAreRemoved(t *testing.T) {
	b, asked := answering(t, 204, "")
	for _, key := range []string{"raw/issues/" + run, "prompt/issues/" + run, "", "../start/x"} {
		var fault *pipeline.Fault
		if err := b.RemoveMarker(t.Context(), key); !errors.As(err, &fault) || strings.Contains(err.Error(), run) {
			t.Errorf("%q: got %v, want a refusal", key, err)
		}
	}
	if len(*asked) != 0 {
		t.Errorf("%d requests were sent", len(*asked))
	}
	if err := b.RemoveMarker(t.Context(), "start/zz9"); err != nil || (*asked)[0].Method != "DELETE" || (*asked)[0].URL.Path != "/bucket/start/zz9" {
		t.Errorf("got %v", err)
	}
}

func TestListingsFailAsOthersDo(t *testing.T) {
	b, _ := answering(t, 403, failure("AccessDenied"))
	_, err := b.Markers(t.Context(), "")
	_, missing := b.Raw("issues").Has(t.Context(), run)
	for _, err := range []error{err, missing, b.RemoveMarker(t.Context(), "start/x")} {
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || fault.Code != pipeline.StoreFailed || strings.Contains(err.Error(), "zz9") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAManifestOfTheMostItemsFits(t *testing.T) {
	t.Parallel()
	if entry := len(`{"run":"","item":""},`) + 32 + 64; fetch.MaxItems*entry+2 > MaxManifestBytes {
		t.Errorf("%d entries of %d bytes exceed %d", fetch.MaxItems, entry, MaxManifestBytes)
	}
}
