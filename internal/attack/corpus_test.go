package attack

import (
	"slices"
	"strings"
	"testing"

	"decant.dev/internal/inputs"
	"os"
)

func TestReadCorpus(t *testing.T) {
	t.Parallel()
	texts, err := ReadCorpus(strings.NewReader(`{"id":"a","class":"A1","lang":"en","text":"one\ntwo"}` + "\n\n" + `{"id":"b","b64":"/w=="}` + "\n"))
	if err != nil || len(texts) != 2 || string(texts[0].Text) != "one\ntwo" || texts[0].Class != "A1" || string(texts[1].Text) != "\xff" {
		t.Errorf("%v, %v", texts, err)
	}
	for name, s := range map[string]string{
		"empty":     "",
		"blank":     "\n\n",
		"no text":   `{"id":"SECRETWORD"}`,
		"no JSON":   `SECRETWORD`,
		"twice":     `{"id":"a","text":"x","text":"SECRETWORD"}`,
		"bad b64":   `{"id":"a","b64":"SECRETWORD!"}`,
		"bad UTF-8": "{\"id\":\"a\",\"text\":\"\xff\"}",
		"long":      `{"id":"a","text":"` + strings.Repeat("x", maxCorpusLine) + `"}`,
	} {
		if texts, err := ReadCorpus(strings.NewReader(s)); err == nil || texts != nil || strings.Contains(err.Error(), "SECRETWORD") {
			t.Errorf("%s: %v, %v", name, texts, err)
		}
	}
}

// The corpus of the shared inputs is read whole.
func TestReadCorpusOfTheSharedInputs(t *testing.T) {
	t.Parallel()
	f, err := os.Open(inputs.Path(t, "attacks", "payloads.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	texts, err := ReadCorpus(f)
	if err != nil || len(texts) < 2000 || slices.ContainsFunc(texts, func(x Text) bool { return x.ID == "" || len(x.Text) == 0 }) {
		t.Errorf("%d texts, %v", len(texts), err)
	}
}

// Whatever a file holds, what is read of it is bounded, and no error repeats it.
func FuzzReadCorpus(f *testing.F) {
	f.Add(`{"id":"a","text":"x"}`)
	f.Add(`{"id":"b","b64":"/w=="}` + "\n" + `{}`)
	f.Fuzz(func(t *testing.T, s string) {
		texts, err := ReadCorpus(strings.NewReader(s))
		if (err == nil) != (len(texts) > 0) || len(texts) > len(s) {
			t.Fatalf("%d texts of %d bytes, %v", len(texts), len(s), err)
		}
	})
}
