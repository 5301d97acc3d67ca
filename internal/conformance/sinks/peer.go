package sinks

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Peer is an HTTP server that takes requests as its script says, and counts
// what was performed for each key.
type Peer struct {
	*httptest.Server
	mu        sync.Mutex
	writes    func(n int) Manner
	asks      Manner
	n         int
	performed map[string]int
	elsewhere *httptest.Server
	voice     voice
}

// voice is how a peer of one kind words what is no success.
type voice struct {
	refuse   func(w http.ResponseWriter)
	throttle func(w http.ResponseWriter)
}

// wordy writes a status with a body of foreign text.
func wordy(w http.ResponseWriter, status int) {
	w.Header().Set("X-Reason", Foreign)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+Foreign+`","documentation_url":"https://example.com/`+Foreign+`"}`)
}

var plainVoice = voice{
	refuse:   func(w http.ResponseWriter) { wordy(w, http.StatusUnprocessableEntity) },
	throttle: func(w http.ResponseWriter) { w.Header().Set("Retry-After", "7"); wordy(w, http.StatusTooManyRequests) },
}

// newPeer starts a peer, until the test ends.
func newPeer(t *testing.T, v voice, start func(*httptest.Server), serve func(p *Peer, w http.ResponseWriter, r *http.Request, body []byte)) *Peer {
	p := &Peer{writes: func(int) Manner { return Takes }, asks: Takes, performed: map[string]int{}, voice: v}
	p.elsewhere = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a sink went elsewhere") }))
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		serve(p, w, r, body)
	}))
	p.Server.Config.ErrorLog = quiet
	start(p.Server)
	t.Cleanup(func() { p.CloseClientConnections(); p.Close(); p.elsewhere.Close() })
	return p
}

// Script sets how the peer takes requests.
func (p *Peer) Script(writes func(n int) Manner, asks Manner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes, p.asks, p.n = writes, asks, 0
}

// Count is how often a key was performed.
func (p *Peer) Count(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.performed[key]
}

// perform counts a key.
func (p *Peer) perform(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.performed[key]++
}

func (p *Peer) next(write bool) Manner {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !write {
		return p.asks
	}
	p.n++
	return p.writes(p.n)
}

// take answers one request: perform does what it asks for and returns what is
// said of it.
func (p *Peer) take(w http.ResponseWriter, r *http.Request, write bool, perform func() any) {
	m := p.next(write)
	var said any
	if m.performs() {
		said = perform()
	}
	switch m {
	case Takes:
		b, err := json.Marshal(said)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(b)
	case Garbles:
		_, _ = io.WriteString(w, `{"`+Foreign+`": [`)
	case Empties:
		w.WriteHeader(http.StatusOK)
	case Floods:
		for more := []byte(strings.Repeat(" "+Foreign, 4096)); r.Context().Err() == nil; {
			if _, err := w.Write(more); err != nil {
				return
			}
		}
	case Stalls, Hangs:
		<-r.Context().Done()
	case Fails:
		wordy(w, http.StatusBadGateway)
	case Refuses:
		p.voice.refuse(w)
	case Throttles:
		p.voice.throttle(w)
	case Redirects:
		w.Header().Set("Location", p.elsewhere.URL+"/"+Foreign)
		wordy(w, http.StatusTemporaryRedirect)
	default:
		panic(http.ErrAbortHandler)
	}
}
