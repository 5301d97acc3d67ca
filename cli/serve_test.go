package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"decant.dev/act/plan"
	"decant.dev/cli"
	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/recipes/issues/intake"
)

// seen is what the adapter of the stories tells of the context that it
// fetched.
type seen struct {
	Voice string `json:"voice" jsonschema:"enum=instruction,enum=message"`
	Trust string `json:"trust" jsonschema:"enum=trigger,enum=authorized,enum=unverified"`
}

func keepSeen(s seen, at plan.Target) []plan.Action {
	return []plan.Action{plan.TableRow{Table: "seen", Key: at.Ref(), Columns: []plan.Column{plan.Text("voice", s.Voice), plan.Text("trust", s.Trust)}}}
}

// adapting is a pipeline whose extractor fetches its run's context over HTTP.
var adapting = func() cli.Pipeline {
	spec := pipeline.Spec[seen]{
		Name: "adapting", Plan: keepSeen, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)}, MaxDecide: 12, MaxCarry: 4,
		Events: []pipeline.Event{{Name: "issue_comment.created"}},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	return cli.Pipeline{Recipe: pipeline.New(spec), Intake: intake.Intake, Extractor: func(c *http.Client) extract.Extractor { return adapter{c} }}
}()

type adapter struct{ client *http.Client }

func (adapter) Name() string       { return "adapter" }
func (adapter) WantsContext() bool { return true }

func (x adapter) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Access.URL, nil)
	if err != nil {
		return extract.Answer{}, err
	}
	q.Header.Set("Authorization", "Bearer "+r.Access.Token)
	a, err := x.client.Do(q)
	if err != nil {
		return extract.Answer{}, err
	}
	defer a.Body.Close()
	doc, err := io.ReadAll(a.Body)
	if err != nil {
		return extract.Answer{}, err
	}
	c, err := fence.DecodeRunContext(doc)
	if err != nil {
		return extract.Answer{}, err
	}
	s := seen{"instruction", c.Elements[len(c.Elements)-1].Trust.String()}
	if c.Trigger != "" {
		s.Voice = "message"
	}
	candidate, err := json.Marshal(s)
	return extract.Answer{Candidate: candidate}, err
}

// client is a small HTTP client: "http METHOD URL [HEADER: VALUE]... [@FILE]".
// A header "Sign: SECRET" signs the file as GitHub does, and "Webhook: SECRET"
// as Standard Webhooks do, at this time, or that of "Webhook: SECRET SECONDS".
// It prints status, headers that matter and body.
func client() {
	if err := request(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

func request(args []string) error {
	var body []byte
	header := http.Header{}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, ": ")
		switch file, isFile := strings.CutPrefix(arg, "@"); {
		case isFile:
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			body = b
		case name == "Sign":
			mac := hmac.New(sha256.New, []byte(value))
			mac.Write(body)
			header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		case name == "Webhook":
			key, seconds, _ := strings.Cut(value, " ")
			at := time.Now()
			if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
				at = time.Unix(n, 0)
			}
			signer, err := standardwebhooks.NewWebhook(key)
			if err != nil {
				return err
			}
			signed, err := signer.Sign("msg_1", at, body)
			if err != nil {
				return err
			}
			header.Set("webhook-id", "msg_1")
			header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
			header.Set("webhook-signature", signed)
		default:
			header.Add(name, value)
		}
	}
	r, err := http.NewRequest(args[0], args[1], bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = header
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	fmt.Println(a.Status)
	for _, name := range []string{"Allow", "Cache-Control", "Etag", "Www-Authenticate"} {
		if v := a.Header.Get(name); v != "" {
			fmt.Printf("%s: %s\n", name, v)
		}
	}
	if _, err := io.Copy(os.Stdout, a.Body); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// serving is a server that a story has started.
type serving struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
	read   chan struct{} // closed when standard error has ended
}

// startServing runs a program that serves, with --listen 127.0.0.1:0, until
// it says where, which becomes $URL: "serve PROGRAM ARG...".
func startServing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: serve PROGRAM ARG...")
	}
	var program string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[0])); err == nil && program == "" {
			program = filepath.Join(dir, args[0])
		}
	}
	s := &serving{cmd: exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0"}, args[1:]...)...), read: make(chan struct{})}
	s.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "GORACE", "DECANT_DIR", "DECANT_GITHUB_SECRET", "DECANT_OWN_IDENTITIES", "DECANT_WEBHOOK_SECRET_SHOP", "DECANT_WEBHOOK_SECRET_SHOP_PREVIOUS"} {
		s.cmd.Env = append(s.cmd.Env, name+"="+ts.Getenv(name))
	}
	s.cmd.Stdout = &s.stdout
	pipe, err := s.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	at := make(chan string, 1)
	go func() {
		defer close(s.read)
		for lines := bufio.NewScanner(io.TeeReader(pipe, &s.stderr)); lines.Scan(); {
			if rest, ok := strings.CutPrefix(lines.Text(), "decant: serving "); ok {
				url, _, _ := strings.Cut(rest, ",")
				at <- url
			}
		}
	}()
	ts.Defer(func() { _ = s.cmd.Process.Kill() })
	select {
	case url := <-at:
		ts.Setenv("URL", url)
	case <-s.read:
		ts.Fatalf("%s serves nowhere: %s", args[0], s.stderr.String())
	case <-time.After(time.Minute):
		ts.Fatalf("%s did not begin to serve", args[0])
	}
	ts.Value(servers{}).(map[string]*serving)[""] = s
}

// servers is the key of a story's server.
type servers struct{}

// stopServing interrupts the story's server and waits for its end. What it
// wrote is then in the files serve.stdout and serve.stderr.
func stopServing(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servers{}).(map[string]*serving)[""]
	if neg || len(args) > 0 || s == nil {
		ts.Fatalf("usage: interrupt, after serve")
	}
	ts.Check(s.cmd.Process.Signal(os.Interrupt))
	<-s.read
	ts.Check(s.cmd.Wait())
	ts.Check(os.WriteFile(ts.MkAbs("serve.stdout"), s.stdout.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("serve.stderr"), s.stderr.Bytes(), 0o600))
}

// until runs a program again and again until its standard output matches, for
// at most a minute: "until PATTERN PROGRAM ARG...".
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN PROGRAM ARG...")
	}
	pattern := regexp.MustCompile(args[0])
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	over := time.After(time.Minute)
	for {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			ts.Fatalf("%s never printed %s", args[1], args[0])
		}
	}
}
