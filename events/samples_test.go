package events

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"decant.dev/pipeline"
)

var update = flag.Bool("update", false, "sign the sample events again")

const (
	stranger, maintainer, editor = "github:41870213", "github:5210934", "github:77310452"
	sampleChannel                = "github:octo-org/sample"
)

// samples says what each sample event ends as.
var samples = map[string]struct {
	code  pipeline.Code
	event string
	actor string
}{
	"github-issue-opened.json":            {pipeline.OK, "issues.opened", stranger},
	"github-issue-opened-maintainer.json": {pipeline.OK, "issues.opened", maintainer},
	"github-issue-comment-command.json":   {pipeline.OK, "issue_comment.created", maintainer},
	"github-issue-edited.json":            {pipeline.OK, "issues.edited", editor},
	"github-ping.json":                    {pipeline.Ping, "", ""},
	"github-bad-signature.json":           {pipeline.BadSignature, "", ""},
}

func TestEverySampleEndsAsDocumented(t *testing.T) {
	files, err := filepath.Glob("github-*.json")
	if err != nil || len(files) != len(samples) {
		t.Fatalf("got %d sample events (%v), want %d", len(files), err, len(samples))
	}
	encoded := 0
	for _, name := range files {
		tc, ok := samples[name]
		if !ok {
			t.Errorf("%s: want it listed", name)
			continue
		}
		file := read(t, name)
		h, err := ParseHTTP(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		signed := signature(SampleSecret, h.Body)
		if header := h.Values("x-hub-signature-256")[0]; *update && tc.code != pipeline.BadSignature && header != signed {
			file = bytes.Replace(file, []byte(header), []byte(signed), 1)
			if err := os.WriteFile(name, file, 0o644); err != nil {
				t.Fatal(err)
			}
			if h, err = ParseHTTP(file); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(file, []byte(`"isBase64Encoded": true`)) {
			encoded++
		}
		d, _, err := ReceiveGitHub(h, Secrets{Current: NewSecret(SampleSecret)})
		if c := code(t, err); c != tc.code {
			t.Errorf("%s: got %v, want %q", name, err, tc.code)
		}
		if tc.code != pipeline.OK {
			continue
		}
		if checkEnvelope(t, d); d.Event != tc.event || d.Actor != (pipeline.Actor{ID: tc.actor, Kind: pipeline.Person}) || d.Channel != sampleChannel {
			t.Errorf("%s: got %v", name, d)
		}
		_, matched, err := ReceiveGitHub(h, Secrets{Current: NewSecret("next"), Previous: NewSecret(SampleSecret)})
		if err != nil || matched != MatchedPrevious {
			t.Errorf("%s: got %v, %v, want previous", name, matched, err)
		}
		_, _, err = ReceiveGitHub(h, Secrets{Current: NewSecret("another")})
		want(t, err, pipeline.BadSignature)
	}
	if encoded == 0 || encoded == len(files) {
		t.Errorf("got %d of %d sample events in base64, want some of each", encoded, len(files))
	}
}

func TestSampleGrantsNameTheMaintainer(t *testing.T) {
	t.Parallel()
	var grants struct {
		Schema string
		Grants []struct{ Person, Channel string }
	}
	if err := json.Unmarshal(read(t, "testdata/grants.json"), &grants); err != nil {
		t.Fatal(err)
	}
	if grants.Schema != "grants.v1" || len(grants.Grants) != 1 || grants.Grants[0].Person != maintainer || grants.Grants[0].Channel != sampleChannel {
		t.Errorf("got %+v", grants)
	}
}
