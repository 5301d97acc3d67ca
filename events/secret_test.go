package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	const key = "hunter2hunter2"
	s := NewSecret(key)
	pair := Secrets{Current: s, Previous: s}
	hidden := struct{ inner Secrets }{pair} // fmt cannot call methods here
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{s, &s, pair, &pair, hidden, []Secret{s}, map[string]Secret{"k": s}} {
			fmt.Fprintf(&shown, verb+"\n", v)
		}
	}
	for _, v := range []any{s, pair, hidden} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(b)
		b, _ = jsonv2.Marshal(v) // it refuses a struct without exported fields
		shown.Write(b)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "secret", s, "secrets", pair)
	slog.New(slog.NewTextHandler(&log, nil)).Info("start", "secret", s, "secrets", pair)
	shown.Write(log.Bytes())
	for _, form := range []string{key, fmt.Sprintf("%x", key), fmt.Sprint([]byte(key))} {
		if strings.Contains(shown.String(), strings.Trim(form, "[]")) {
			t.Errorf("the key shows as %q", form)
		}
	}
	if !strings.Contains(shown.String(), "secret(redacted)") {
		t.Error("want the secret's stand-in somewhere")
	}
}

func matchBody(s Secrets, sum, body []byte) Matched {
	return s.match([][]byte{sum}, func(s Secret) []byte { return s.sum(sha256.New, body) })
}

func TestZeroSecretSaysSoAndMatchesNothing(t *testing.T) {
	t.Parallel()
	var zero Secret
	if got := fmt.Sprint(zero); got != "secret(none)" || NewSecret("").Configured() {
		t.Errorf("got %q", got)
	}
	body := []byte("{}")
	for name, sum := range map[string][sha256.Size]byte{
		"empty key": macOf("", body), "stand-in key": [sha256.Size]byte(unset.sum(sha256.New, body)),
	} {
		if matchBody(Secrets{}, sum[:], body) != MatchedNone {
			t.Errorf("%s: want no match", name)
		}
	}
}

func TestBothSecretsMatchDuringRotation(t *testing.T) { // webhooks.js#770
	t.Parallel()
	body := []byte("{}")
	before, after := macOf("before", body), macOf("after", body)
	none := macOf("neither", body)
	s := Secrets{Current: NewSecret("after"), Previous: NewSecret("before")}
	for range 3 { // alternating, as senders do while they change over
		if got := matchBody(s, before[:], body); got != MatchedPrevious || got.String() != "previous" {
			t.Errorf("got %v, want previous", got)
		}
		if got := matchBody(s, after[:], body); got != MatchedCurrent || got.String() != "current" {
			t.Errorf("got %v, want current", got)
		}
	}
	if got := matchBody(s, none[:], body); got != MatchedNone || got.String() != "none" {
		t.Errorf("got %v, want none", got)
	}
	only := Secrets{Previous: NewSecret("before")}
	if got := matchBody(only, before[:], body); got != MatchedPrevious {
		t.Errorf("got %v, want previous", got)
	}
}
