package queue

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/message"
	"decant.dev/act/plan"
)

func credentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	t.Setenv("AWS_SESSION_TOKEN", "c")
}

func job() act.Job {
	run := strings.Repeat("0f", 16)
	return act.Job{
		Kind: plan.KindQueueSend, Key: act.IdempotencyKey(run, 2), Run: run, Source: "github", Label: plan.System, Place: "octo-org/sample#12",
		Params: map[string]any{"queue": "triage", "kind": "bug"},
	}
}

// server answers each request in turn as it is told, the last for ever, and
// keeps what it was sent.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	sent []map[string]string
}

type says struct {
	status int
	code   string // of an error
	id     string
	digest string // in place of the message's
}

func serve(t *testing.T, turns ...says) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in map[string]string
		if err := json.Unmarshal(body, &in); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		n := len(s.sent)
		s.sent = append(s.sent, in)
		s.mu.Unlock()
		turn := turns[min(n, len(turns)-1)]
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(turn.status)
		if turn.code != "" {
			fmt.Fprintf(w, `{"__type":"com.amazonaws.sqs#%s","message":"zz9-foreign"}`, turn.code)
			return
		}
		if turn.digest == "" {
			sum := md5.Sum([]byte(in["MessageBody"]))
			turn.digest = hex.EncodeToString(sum[:])
		}
		fmt.Fprintf(w, `{"MessageId":%q,"MD5OfMessageBody":%q}`, turn.id, turn.digest)
	}))
	t.Cleanup(s.Close)
	return s
}

func sink(t *testing.T, s *server, name string, idempotent bool) *Sink {
	t.Helper()
	k, err := New(Config{Region: "eu-central-1", Endpoint: s.URL, Queues: map[string]Queue{"triage": {s.URL + "/123456789012/" + name, idempotent}}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const id = "c9e3a8a5-0f6c-4b3e-9d35-7a3f0f1f9a01"

func TestAMessageIsSentAsItIsEncoded(t *testing.T) {
	credentials(t)
	for name, fifo := range map[string]bool{"triage": false, "triage.fifo": true, "fifo": false} {
		s := serve(t, says{status: 200, id: id})
		j := job()
		if a := sink(t, s, name, false).Send(t.Context(), j); a != (act.Answer{Verdict: act.Performed, Word: "sent", Remote: id}) {
			t.Errorf("%s: %+v", name, a)
		}
		_, body, err := message.Encode(j, "queue")
		if got := s.sent[0]; err != nil || len(s.sent) != 1 || got["MessageBody"] != string(body) || got["QueueUrl"] != s.URL+"/123456789012/"+name {
			t.Errorf("%s: sent %v: want %s", name, s.sent, body)
		}
		if got := s.sent[0]; (got["MessageDeduplicationId"] == j.Key) != fifo || (len(got["MessageGroupId"]) == 32) != fifo {
			t.Errorf("%s: sent %v: want its key to deduplicate by: %t", name, got, fifo)
		}
	}
}

// A standard queue is asked once, whatever it answers; a FIFO queue again where
// nobody can say, and never says less than is certain.
func TestALostAnswerIsAskedForAgainOfAFIFOQueueAlone(t *testing.T) {
	credentials(t)
	lost, done, busy, gone := says{status: 502}, says{status: 200, id: id}, says{status: 400, code: "RequestThrottled"}, says{status: 400, code: "QueueDoesNotExist"}
	for _, c := range []struct {
		name  string
		turns []says
		want  act.Verdict
		sends int
	}{
		{"triage", []says{lost, done}, act.Unsure, 1}, {"triage", []says{busy, done}, act.NotPerformed, 1}, {"triage", []says{gone, done}, act.Rejected, 1},
		{"triage.fifo", []says{lost, done}, act.Performed, 2}, {"triage.fifo", []says{lost, lost, done}, act.Performed, 3}, {"triage.fifo", []says{lost}, act.Unsure, 3},
		{"triage.fifo", []says{busy, done}, act.NotPerformed, 1}, {"triage.fifo", []says{gone, done}, act.Rejected, 1},
		{"triage.fifo", []says{lost, busy, done}, act.Unsure, 2}, {"triage.fifo", []says{lost, gone, done}, act.Unsure, 2},
	} {
		s := serve(t, c.turns...)
		if a := sink(t, s, c.name, false).Send(t.Context(), job()); a.Verdict != c.want || len(s.sent) != c.sends {
			t.Errorf("%s, %v: %+v after %d sends: want verdict %d after %d", c.name, c.turns, a, len(s.sent), c.want, c.sends)
		}
	}
}

// Each code is what it is certain of, written a second time.
func TestEachCodeIsWhatItIsCertainOf(t *testing.T) {
	credentials(t)
	want := map[string]act.Verdict{}
	for verdict, codes := range map[act.Verdict]string{
		act.NotPerformed: "RequestThrottled Throttling ThrottlingException ThrottledException RequestThrottledException KmsThrottled OverLimit " +
			"ExpiredToken ExpiredTokenException InvalidClientTokenId UnrecognizedClientException InvalidSignatureException",
		act.Rejected: "QueueDoesNotExist AWS.SimpleQueueService.NonExistentQueue AccessDenied AccessDeniedException KmsAccessDenied KmsDisabled KmsNotFound " +
			"InvalidMessageContents InvalidParameterValue MissingParameter InvalidAddress UnsupportedOperation InvalidSecurity",
		act.Unsure: "InternalError ServiceUnavailable RequestTimeout zz9-foreign Unknown",
	} {
		for _, code := range strings.Fields(codes) {
			want[code] = verdict
		}
	}
	for code := range words {
		if _, ok := want[code]; !ok {
			t.Errorf("%s: want it in this test", code)
		}
	}
	for code, verdict := range want {
		a := sink(t, serve(t, says{status: 400, code: code}), "triage", false).Send(t.Context(), job())
		if a.Verdict != verdict || strings.Contains(fmt.Sprint(a), "zz9") || (a.After > 0) != (verdict == act.NotPerformed) {
			t.Errorf("%s: %+v: want verdict %d", code, a, verdict)
		}
		if a := sink(t, serve(t, says{status: 500, code: code}), "triage", false).Send(t.Context(), job()); a.Verdict != act.Unsure {
			t.Errorf("%s of a broken service: %+v: want unsure", code, a)
		}
	}
	for name, s := range map[string]says{"no id": {status: 200}, "another message": {status: 200, id: id, digest: strings.Repeat("0", 32)}} {
		if a := sink(t, serve(t, s), "triage", false).Send(t.Context(), job()); a.Verdict != act.Unsure {
			t.Errorf("%s: %+v: want unsure", name, a)
		}
	}
}

func TestOnlyConfiguredQueuesAreSentTo(t *testing.T) {
	credentials(t)
	s := serve(t, says{status: 200, id: id})
	k := sink(t, s, "triage", true)
	for to, want := range map[any]act.Verdict{"elsewhere": act.NotPerformed, s.URL + "/1/x": act.Rejected, "": act.Rejected, int64(1): act.Rejected} {
		j := job()
		j.Params["queue"] = to
		if a := k.Send(t.Context(), j); a.Verdict != want || len(s.sent) > 0 {
			t.Errorf("to %v: %+v: want verdict %d", to, a, want)
		}
		if a := k.Find(t.Context(), j); a.Verdict == act.NotPerformed || a.Verdict == act.Performed {
			t.Errorf("asked about %v: %+v", to, a)
		}
	}
}

// Without credentials nothing is sent, and nothing is lost.
func TestWithoutCredentialsNothingIsSent(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		t.Setenv(name, "")
	}
	s := serve(t, says{status: 200, id: id})
	if a := sink(t, s, "triage", false).Send(t.Context(), job()); a.Verdict != act.NotPerformed || len(s.sent) > 0 {
		t.Errorf("%+v: want not performed", a)
	}
}

func TestAConfigurationIsChecked(t *testing.T) {
	const to = "https://sqs.eu-central-1.amazonaws.com/123456789012/triage"
	good := func() Config { return Config{Region: "eu-central-1", Queues: map[string]Queue{"triage": {URL: to}}} }
	for name, change := range map[string]func(*Config){
		"no region": func(c *Config) { c.Region = "" }, "no queue": func(c *Config) { c.Queues = nil },
		"a bad name": func(c *Config) { c.Queues["a.b"] = Queue{URL: to} }, "http": func(c *Config) { c.Queues["b"] = Queue{URL: "http" + to[5:]} },
		"user": func(c *Config) { c.Queues["b"] = Queue{URL: "https://u:p@example.com/1/b"} }, "no address": func(c *Config) { c.Queues["b"] = Queue{} },
		"too long": func(c *Config) { c.Limit = act.MaxSinkTime + time.Second }, "negative": func(c *Config) { c.Limit = -1 },
	} {
		c := good()
		change(&c)
		if s, err := New(c); err == nil || s != nil {
			t.Errorf("%s: want a refusal", name)
		}
	}
	if s, err := New(good()); err != nil || s.Limit() != DefaultLimit {
		t.Errorf("%v: want the default limit", err)
	}
}
