package cli_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"decant.dev/events"
)

// exits runs a program and checks its exit code, which the first argument
// names: "exits 3 decant run …".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	default:
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("want exit code %d, got %d", want, got)
	}
}

// capture puts the first group that a pattern matches on standard output, or
// the first word of it, into a variable: "capture NAME [PATTERN]".
func capture(ts *testscript.TestScript, _ bool, args []string) {
	pattern := `(\S+)`
	if len(args) > 1 {
		pattern = args[1]
	}
	found := regexp.MustCompile(pattern).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("standard output has no %s", pattern)
	}
	ts.Setenv(args[0], found[1])
}

// makeDeep writes an issue whose body is a list in a list, 10,000 deep.
func makeDeep(ts *testscript.TestScript, _ bool, args []string) {
	deep := append(bytes.Repeat([]byte("["), 10_000), bytes.Repeat([]byte("]"), 10_000)...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), issue(deep), 0o600))
}

// makeInvalid writes an issue whose body holds a byte that is not UTF-8.
func makeInvalid(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), issue([]byte("\"SECRETWORD \xff\"")), 0o600))
}

func issue(body []byte) []byte {
	payload := []byte(`{"action":"opened","issue":{"number":1,"title":"SECRETWORD","body":`)
	payload = append(payload, body...)
	return append(payload, `,"user":{"id":5,"login":"ann","type":"User"},"labels":[]},`+
		`"repository":{"full_name":"octo-org/sample"},"sender":{"id":5,"login":"ann","type":"User"}}`...)
}

// makeRequest writes the HTTP event that GitHub's delivery of a payload would
// be, signed with the samples' secret: "request OUT PAYLOAD EVENT plain" or,
// with the body in base64, "… base64".
func makeRequest(ts *testscript.TestScript, _ bool, args []string) {
	payload, err := os.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	mac := hmac.New(sha256.New, []byte(events.SampleSecret))
	mac.Write(payload)
	header, err := json.Marshal(map[string]string{
		"x-github-event": args[2], "x-hub-signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	})
	ts.Check(err)
	body := `,"isBase64Encoded":true,"body":"` + base64.StdEncoding.EncodeToString(payload) + `"}`
	if args[3] == "plain" { // quoted by hand: an encoder would mend what is not UTF-8
		quoted := bytes.ReplaceAll(bytes.ReplaceAll(payload, []byte(`\`), []byte(`\\`)), []byte(`"`), []byte(`\"`))
		body = `,"isBase64Encoded":false,"body":"` + string(bytes.ReplaceAll(quoted, []byte("\n"), []byte(`\n`))) + `"}`
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(`{"version":"2.0","headers":`+string(header)+body), 0o600))
}
