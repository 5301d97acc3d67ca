package broker_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"decant.dev/internal/escape"
	"decant.dev/pipeline/local/broker"
	"decant.dev/pipeline/local/sandbox"
)

// The test binary is also the child.

// free in a child's environment leaves it unrestricted.
const free = "BROKER_TEST_FREE=1"

func TestMain(m *testing.M) {
	phase, profile, err := sandbox.Inherited()
	if err == nil && phase == "" {
		os.Exit(m.Run())
	}
	if err == nil {
		err = child(phase, profile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(phase string, profile sandbox.Profile) error {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("not made") }
	if phase == "client" {
		end := os.NewFile(3, "broker")
		made, err := broker.Dialer(end)
		if err != nil {
			return err
		}
		dial = made
	}
	if os.Getenv("BROKER_TEST_FREE") == "" {
		if _, err := sandbox.Restrict(profile); err != nil {
			return err
		}
	}
	switch phase {
	case "client":
		return client(dial)
	case "attempts":
		var env escape.Env
		if err := json.NewDecoder(os.Stdin).Decode(&env); err != nil {
			return err
		}
		return escape.Run(brokered(), env, os.Stdout)
	default:
		return errors.New("unknown phase")
	}
}

func brokered() []escape.Attempt {
	var list []escape.Attempt
	for _, attempt := range escape.All() {
		if attempt.Need == escape.NeedNoBroker {
			list = append(list, attempt)
		}
	}
	return list
}

// errand is what a child is sent to fetch, all at once, with an ordinary http.Client.
type errand struct {
	URLs []string
	Root []byte // PEM
}

type answer struct {
	Status, Bytes int
	Code          broker.Code
	Error         string
}

func client(dial broker.DialContext) error {
	var task errand
	if err := json.NewDecoder(os.Stdin).Decode(&task); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(task.Root)
	http.DefaultTransport = &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	answers := make([]answer, len(task.URLs))
	var all sync.WaitGroup
	for i, address := range task.URLs {
		all.Go(func() { answers[i] = get(address) })
	}
	all.Wait()
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func get(address string) (a answer) {
	response, err := http.Get(address)
	if err == nil {
		defer response.Body.Close()
		a.Status = response.StatusCode
		var n int64
		n, err = io.Copy(io.Discard, response.Body)
		a.Bytes = int(n)
	}
	if err != nil {
		errors.As(err, &a.Code)
		a.Error = err.Error()
	}
	return a
}

func need(t *testing.T) {
	t.Helper()
	if report := sandbox.Check(); !report.Full() {
		t.Skipf("SKIP-SANDBOX: %s", strings.Join(report.Reasons, "; "))
	}
}

// serve starts b for one child in a phase and answers what the child wrote.
func serve(t *testing.T, b *broker.Broker, phase string, input any, env ...string) []byte {
	t.Helper()
	parent, end, err := broker.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	encoded, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := sandbox.Command(t.Context(), phase, sandbox.Profile{}, []*os.File{end}, env)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(encoded), &stdout, &stderr
	err = cmd.Start()
	_ = end.Close()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- b.Serve(t.Context(), parent) }()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("child: %v\n%s", err, stderr.Bytes())
	}
	if err := <-served; err != nil {
		t.Fatalf("want serving to end with the child, got %v", err)
	}
	return stdout.Bytes()
}

// loopback allows what these tests serve from, and otherwise what is public.
func loopback(target netip.AddrPort) error {
	if target.Addr() == netip.MustParseAddr("127.0.0.1") {
		return nil
	}
	return broker.Public(target)
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Port()
}

func TestARestrictedChildFetchesFromDeclaredHostsAlone(t *testing.T) {
	t.Parallel()
	need(t)
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	mux := http.NewServeMux()
	mux.HandleFunc("/body", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	plain, secure := httptest.NewServer(mux), httptest.NewUnstartedServer(mux)
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that the child dialled and had no use for
	secure.StartTLS()
	defer plain.Close()
	defer secure.Close()
	var strayed atomic.Int32
	stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	defer stray.Close()

	plainHost, secureHost := "plain.example:"+portOf(t, plain.URL), "example.com:"+portOf(t, secure.URL)
	strayHost := "stray.example:" + portOf(t, stray.URL)
	special := "special.example:80"
	b := &broker.Broker{
		Hosts: []string{plainHost, secureHost, special},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "special.example" {
				return []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("::ffff:10.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1")}, nil
		},
		Allow: loopback,
	}
	tests := []struct {
		url    string
		status int
		code   broker.Code
	}{
		{"http://" + plainHost + "/body", 200, ""},
		{"http://" + strings.ToUpper(plainHost) + "/body", 200, ""},
		{"https://" + secureHost + "/body", 200, ""},
		{"https://" + secureHost + "/away?to=http://" + plainHost + "/body", 200, ""},
		{"http://" + strayHost + "/body", 0, broker.HostNotDeclared},
		{"http://" + plainHost + "/away?to=http://" + strayHost + "/body", 0, broker.HostNotDeclared},
		{"https://" + secureHost + "/away?to=http://" + special + "/body", 0, broker.AddressRefused},
		{stray.URL, 0, broker.HostNotDeclared},
		{"http://169.254.169.254/", 0, broker.HostNotDeclared},
		{"http://" + special + "/", 0, broker.AddressRefused},
	}
	task := errand{Root: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})}
	for _, test := range tests {
		task.URLs = append(task.URLs, test.url)
	}
	var answers []answer
	if err := json.Unmarshal(serve(t, b, "client", task), &answers); err != nil {
		t.Fatal(err)
	}
	for i, test := range tests {
		got := answers[i]
		if got.Status != test.status || got.Code != test.code {
			t.Errorf("%s: want %d %q, got %d %q: %s", test.url, test.status, test.code, got.Status, got.Code, got.Error)
		}
		if test.status == 200 && got.Bytes != len(body) {
			t.Errorf("%s: want %d bytes, got %d", test.url, len(body), got.Bytes)
		}
	}
	if strayed.Load() != 0 {
		t.Errorf("want the undeclared server never reached, got %d requests", strayed.Load())
	}
}

func TestTheBrokerRefusesATakenOverChild(t *testing.T) {
	t.Parallel()
	need(t)
	for name, env := range map[string][]string{"restricted": nil, "unrestricted": {free}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &broker.Broker{
				Hosts: []string{"special.example:80"},
				Resolve: func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254")}, nil
				},
				Every: 1, // a nanosecond: the rate has a test of its own
			}
			input := escape.Env{BrokerFD: 3, Undeclared: "undeclared.example:443", Special: "special.example:80"}
			results, err := escape.Read(bytes.NewReader(serve(t, b, "attempts", input, env...)))
			if err != nil || len(results) != len(brokered()) {
				t.Fatalf("want %d results, got %d: %v", len(brokered()), len(results), err)
			}
			for _, result := range results {
				if result.Out || !strings.Contains(result.Error, "broker: ") {
					t.Errorf("%s: want the broker to refuse it, got %q", result.Name, result.Error)
				}
			}
		})
	}
}

// exchange sends raw packets to a served broker and answers the replies and how many descriptors came along.
func exchange(t *testing.T, b *broker.Broker, packets ...string) (replies []string, descriptors int) {
	t.Helper()
	parent, end, err := broker.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	served := make(chan error)
	go func() { served <- b.Serve(t.Context(), parent) }()
	fd := int(end.Fd())
	for _, packet := range packets {
		if err := unix.Sendmsg(fd, []byte(packet), unix.UnixRights(fd), nil, 0); err != nil {
			t.Fatal(err)
		}
		reply, control := make([]byte, 128), make([]byte, unix.CmsgSpace(16))
		n, controls, _, _, err := unix.Recvmsg(fd, reply, control, unix.MSG_CMSG_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		if controls != 0 {
			descriptors++
		}
		replies = append(replies, string(reply[:n]))
	}
	_ = end.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	return replies, descriptors
}

func TestServeAnswersGarbageWithOneCodeAndGoesOn(t *testing.T) {
	t.Parallel()
	packets := []string{"{}", "\x00", strings.Repeat("x", 5000), `{"host":"a.example","port":443} `, `{"host":"a.example","port":443}`}
	replies, passed := exchange(t, &broker.Broker{Hosts: []string{"a.example:443"}}, packets...)
	for i, reply := range replies {
		// The last one is well formed, but has a descriptor beside it.
		if reply != `{"code":"malformed"}` {
			t.Errorf("packet %d: want malformed, got %q", i, reply)
		}
	}
	if passed != 0 {
		t.Errorf("want no descriptor passed, got %d", passed)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	parent, end, err := broker.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	defer end.Close()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- new(broker.Broker).Serve(ctx, parent) }()
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}
}

func TestOneDialAtATimeHoweverManyAreAsked(t *testing.T) {
	t.Parallel()
	parent, end, err := broker.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	var now, most atomic.Int32
	gate := make(chan struct{})
	b := &broker.Broker{Hosts: []string{"a.example:443"}, Every: 1,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			most.Store(max(most.Load(), now.Add(1)))
			<-gate
			now.Add(-1)
			return nil, errors.New("no answer")
		},
	}
	served := make(chan error)
	go func() { served <- b.Serve(t.Context(), parent) }()
	const asked = 20
	fd := int(end.Fd())
	for range asked {
		if err := unix.Sendto(fd, []byte(`{"host":"a.example","port":443}`), 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range asked {
		gate <- struct{}{}
	}
	_ = end.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 {
		t.Errorf("want 1 dial at a time, got %d", most.Load())
	}
}

func TestDialerGivesUpWithItsContextAndStaysUsable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked, gate := make(chan struct{}), make(chan struct{})
	target := listener.Addr().String()
	b := &broker.Broker{Hosts: []string{"slow.example:443", target}, Allow: loopback, Every: 1,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			asked <- struct{}{}
			<-gate
			return nil, errors.New("no such host")
		},
	}
	parent, end, err := broker.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	defer end.Close()
	go func() { _ = b.Serve(t.Context(), parent) }()
	dial, err := broker.Dialer(end)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := dial(ctx, "tcp", "slow.example:443"); !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}
	close(gate)
	// The late answer to the first question is not taken for the second one's.
	conn, err := dial(t.Context(), "tcp", target)
	if err != nil {
		t.Fatal(err)
	}
	if conn.RemoteAddr().String() != target {
		t.Errorf("want a connection to %s, got %s", target, conn.RemoteAddr())
	}
	_ = conn.Close()
	if _, err := dial(t.Context(), "udp", target); !errors.Is(err, broker.Malformed) {
		t.Errorf("want %v for UDP, got %v", broker.Malformed, err)
	}
}

func TestDialerRefusesADescriptorThatIsNoPair(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if _, err := broker.Dialer(read); err == nil {
		t.Error("want a pipe refused")
	}
}
