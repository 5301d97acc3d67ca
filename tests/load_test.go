package tests

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/act/plan"
	"decant.dev/cli"
	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// counted is a recipe that writes one row for each issue, without budgets.
type counted struct {
	Kind string `json:"kind" jsonschema:"enum=a,enum=b"`
}

func countedRecipe() *pipeline.Recipe {
	spec := pipeline.Spec[counted]{
		Name: "counted", Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)}, MaxDecide: 8, Events: []pipeline.Event{{Name: "issues.opened"}},
		Plan: func(c counted, at plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "counted", Key: at.Ref(), Columns: []plan.Column{plan.Text("kind", c.Kind)}}}
		},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	return pipeline.New(spec)
}

// steady always answers the same.
type steady struct{}

func (steady) Name() string { return "steady" }

func (steady) Extract(context.Context, extract.Request) (extract.Answer, error) {
	return extract.Answer{Candidate: []byte(`{"kind":"a"}`)}, nil
}

var loaded = cli.Pipeline{
	Recipe: countedRecipe(),
	Intake: fetch.Intake{Source: "github", Elements: fetch.GitHubIssues, Profile: fence.ProfileIntake, Instruction: "Say a or b.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16}},
	Extractor: func(*http.Client) extract.Extractor { return steady{} },
}

// servesVariable makes the test's binary a decant with that recipe.
const servesVariable = "DECANT_TEST_SERVES"

// served runs this process as `decant serve`, if it was started so.
func served() bool {
	if os.Getenv(servesVariable) == "" {
		return false
	}
	app := cli.App{Pipelines: []cli.Pipeline{loaded}, Stdin: os.Stdin, Stdout: io.Discard, Stderr: os.Stderr, Getenv: os.Getenv, Clock: time.Now}
	os.Exit(app.Run(context.Background(), os.Args[1:]))
	return true
}

// What the load is: how many deliveries, how many of them are the bytes of one
// before, how many are malformed, and how often the server is killed.
const (
	loadDeliveries = 10_000
	loadSample     = 1_000 // under the race detector
	loadTogether   = 64
	loadKills      = 10
	loadKey        = "load"
)

// killable is a decant that is killed and started again at one address.
type killable struct {
	t       *testing.T
	dir, at string
	mu      sync.Mutex
	cmd     *exec.Cmd
}

func (k *killable) start() {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	k.cmd = exec.Command(self, "serve", "--live", "--listen", k.at)
	k.cmd.Env = append(os.Environ(), servesVariable+"=1", "DECANT_DIR="+k.dir, "DECANT_GITHUB_SECRET="+loadKey, "GORACE=atexit_sleep_ms=0")
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
}

func (k *killable) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
	k.start()
}

// stop interrupts it, so that what is under way ends.
func (k *killable) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.cmd.Process.Signal(os.Interrupt)
	_ = k.cmd.Wait()
}

// Of 10,000 deliveries, 64 at a time, to a server that is killed ten times,
// each that was accepted has exactly one run, which writes one row with one
// receipt; what is malformed is refused and has none.
func TestNoAcceptedDeliveryIsLostOrDoubled(t *testing.T) {
	total := loadDeliveries
	if race {
		total = loadSample
		t.Logf("a sample of %d of %d deliveries, under the race detector", total, loadDeliveries)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &killable{t: t, dir: t.TempDir(), at: free.Addr().String()}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	k.start()
	t.Cleanup(k.stop)
	deliveries := make([][]byte, 0, total)
	malformed := map[int]bool{}
	for i := range total {
		switch {
		case i%20 == 7: // 5 %
			malformed[i] = true
			deliveries = append(deliveries, []byte(strings.Replace(string(issue(i)), `"issue":{`, `"issue":{"number":1,`, 1)))
		case i%5 == 4: // 20 %
			twin := i - 1 - rand.IntN(min(i, 50))
			for malformed[twin] {
				twin--
			}
			deliveries = append(deliveries, deliveries[max(twin, 0)])
		default:
			deliveries = append(deliveries, issue(i))
		}
	}
	var mu sync.Mutex
	accepted := map[string]int{} // run id → index of a delivery
	refused := 0
	var answered atomic.Int64
	next := make(chan int)
	var workers sync.WaitGroup
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: loadTogether}}
	for range loadTogether {
		workers.Go(func() {
			for i := range next {
				status, run := deliver(t, client, k.at, deliveries[i])
				mu.Lock()
				switch {
				case status == http.StatusAccepted && run != "" && !malformed[i]:
					accepted[run] = i
				case status == http.StatusBadRequest && malformed[i]:
					refused++
				default:
					t.Errorf("delivery %d, malformed %t: answered %d", i, malformed[i], status)
				}
				mu.Unlock()
				if n := answered.Add(1); n%int64(total/(loadKills+1)) == 0 && n < int64(total) {
					k.kill()
				}
			}
		})
	}
	for i := range deliveries {
		next <- i
	}
	close(next)
	workers.Wait()
	k.stop() // lets what is under way end
	k.mu.Lock()
	k.start() // carries on what was stopped
	k.mu.Unlock()
	distinct := map[string]bool{}
	for i, d := range deliveries {
		if !malformed[i] {
			distinct[string(d)] = true
		}
	}
	if len(accepted) != len(distinct) || refused != len(malformed) {
		t.Errorf("%d runs for %d distinct deliveries, %d of %d malformed refused", len(accepted), len(distinct), refused, len(malformed))
	}
	journal, err := store.OpenJournal(filepath.Join(k.dir, "journal"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		left, err := journal.Unfinished(t.Context())
		if err != nil || len(left) == 0 || time.Now().After(deadline) {
			if err != nil || len(left) > 0 {
				t.Fatalf("%d runs are not at their end, %v", len(left), err)
			}
			break
		}
	}
	k.stop()
	entries, err := journal.List(t.Context(), "", 2*total)
	if err != nil || len(entries) != len(distinct) {
		t.Errorf("the journal has %d runs, %v; want %d", len(entries), err, len(distinct))
	}
	for _, e := range entries {
		if _, ok := accepted[e.Run]; !ok || e.Status != pipeline.Done {
			t.Errorf("run %s: accepted %t, %s %s", e.Run, ok, e.Status, e.Code)
		}
	}
	ledger, err := store.OpenLedger(filepath.Join(k.dir, "act"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	rows, err := ledger.Rows(t.Context(), "counted")
	if err != nil || len(rows) != len(distinct) {
		t.Errorf("%d rows, %v; want %d", len(rows), err, len(distinct))
	}
	for run := range accepted {
		if receipts, err := ledger.Receipts(t.Context(), run); err != nil || len(receipts) != 1 {
			t.Errorf("run %s: %d receipts, %v", run, len(receipts), err)
		}
	}
}

// issue is GitHub's delivery of one opened issue.
func issue(number int) []byte {
	return fmt.Appendf(nil, `{"action":"opened","issue":{"number":%d,"title":"issue %d","body":"It crashes.","user":{"id":7,"login":"reporter","type":"User"}},`+
		`"repository":{"full_name":"octo-org/sample"},"sender":{"id":7,"login":"reporter","type":"User"}}`, number+1, number)
}

// deliver sends a delivery until the server answers it, as GitHub's sender may.
func deliver(t *testing.T, client *http.Client, at string, body []byte) (status int, run string) {
	mac := hmac.New(sha256.New, []byte(loadKey))
	mac.Write(body)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at+"/webhooks/github", bytes.NewReader(body))
		if err != nil {
			return 0, ""
		}
		r.Header.Set("X-GitHub-Event", "issues")
		r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		a, err := client.Do(r)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(a.Body, 1<<16))
		err = errors.Join(err, a.Body.Close())
		var said struct {
			Runs []string `json:"runs"`
			Code string   `json:"code"`
		}
		if err != nil || a.StatusCode >= 500 || json.Unmarshal(text, &said) != nil {
			continue
		}
		if len(said.Runs) == 1 {
			run = said.Runs[0]
		}
		return a.StatusCode, run
	}
	return 0, ""
}
