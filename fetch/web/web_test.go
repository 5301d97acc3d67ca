package web

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/reach"
	"decant.dev/pipeline/local/broker"
)

const secret = "SECRETWORD"

// misdeeds are what a hostile server does, each with what it is called.
var misdeeds = map[string]struct {
	do   http.HandlerFunc
	want pipeline.Code
}{
	"redirect to link-local":     {to("http://169.254.169.254/latest/" + secret), pipeline.SourceRefused},
	"redirect to loopback":       {to("https://127.0.0.1/" + secret), pipeline.SourceRefused},
	"redirect to mapped":         {to("https://[64:ff9b::a9fe:a9fe]/"), pipeline.SourceRefused}, // micro/mu#1189, stella#678
	"redirect to shared":         {to("https://100.64.0.1/"), pipeline.SourceRefused},
	"redirect to another host":   {to("https://elsewhere.example/" + secret), pipeline.SourceRefused},
	"redirect to another port":   {to("https://example.com:8443/"), pipeline.SourceRefused},
	"redirect to http":           {to("http://example.com/"), pipeline.SourceRefused},
	"redirect to a file":         {to("file:///etc/passwd"), pipeline.SourceRefused},
	"redirect with credentials":  {to("https://user:" + secret + "@example.com/ok"), pipeline.SourceRefused},
	"redirect to itself":         {func(w http.ResponseWriter, r *http.Request) { to(r.URL.String())(w, r) }, pipeline.SourceRefused},
	"redirect to nowhere":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) }, pipeline.SourceMalformed},
	"redirect to a long address": {to("/" + strings.Repeat("a", maxURL)), pipeline.SourceRefused},
	"slow headers":               {func(_ http.ResponseWriter, r *http.Request) { hang(r) }, pipeline.SourceUnreachable},
	"slow body": {func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, secret)
		w.(http.Flusher).Flush()
		hang(r)
	}, pipeline.SourceUnreachable},
	"dripping body": {func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}, pipeline.SourceUnreachable},
	"endless body": {func(w http.ResponseWriter, r *http.Request) {
		for b := make([]byte, 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}, pipeline.SourceTooLarge},
	"gzip bomb":         {gzipped(zipped(make([]byte, 64<<20))), pipeline.SourceTooLarge}, // ffuf#897
	"truncated gzip":    {gzipped(zipped([]byte(secret))[:15]), pipeline.SourceMalformed},
	"gzip that is none": {gzipped([]byte(secret)), pipeline.SourceMalformed},
	"garbage after gzip": {gzipped(append(zipped([]byte("a")), secret...)),
		pipeline.SourceMalformed},
	"another encoding": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, secret)
	}, pipeline.SourceMalformed},
	"gzip twice": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = []string{"gzip", "gzip"}
		_, _ = w.Write(zipped(zipped([]byte("a"))))
	}, pipeline.SourceMalformed},
	"length too long": {func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n"+secret)
	}, pipeline.SourceMalformed},
	"length beyond the limit": {func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"+secret)
	}, pipeline.SourceTooLarge},
	"two lengths": {func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
	}, pipeline.SourceUnreachable},
	"cut chunks": {func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
	}, pipeline.SourceMalformed},
	"control characters in a header": {func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\nETag: \"\x1b[31m"+secret+"\"\r\nContent-Length: 0\r\n\r\n")
	}, pipeline.SourceUnreachable},
	"headers without end": {func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 100)+"\r\n")
	}, pipeline.SourceUnreachable},
	"reset": {func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
	}, pipeline.SourceUnreachable},
	"wrong charset": {typed("text/plain; charset=klingon", secret), pipeline.SourceMalformed},
	"wrong declaration": {typed("application/xml", `<?xml version="1.0" encoding="klingon"?><a/>`),
		pipeline.SourceMalformed},
	"304 nobody asked for": {status(304), pipeline.SourceMalformed},
	"204":                  {status(204), pipeline.SourceMalformed},
	"206":                  {status(206), pipeline.SourceMalformed},
	"401":                  {status(401), pipeline.SourceRefused},
	"404":                  {status(404), pipeline.SourceRefused},
	"429":                  {status(429), pipeline.SourceBusy},
	"500":                  {status(500), pipeline.SourceUnreachable},
	"503":                  {status(503), pipeline.SourceUnreachable},
}

func to(where string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", where)
		w.WriteHeader(http.StatusFound)
	}
}

func gzipped(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b)
	}
}

func typed(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

func status(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) }
}

// Whatever a server does, the answer is a code in bounded time and memory, and
// repeats nothing of what it sent.
func TestAHostileServerIsACode(t *testing.T) {
	for name, m := range misdeeds {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, m.do)
			c := s.client(t, Limits{Wire: 1 << 20, Decoded: 1 << 20, Head: 500 * time.Millisecond, Idle: 500 * time.Millisecond, Whole: 2 * time.Second})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p, err := c.Get(t.Context(), "https://example.com/start", Validators{})
			runtime.ReadMemStats(&after)
			if got := codeOf(err); got != m.want || p.Body != nil {
				t.Errorf("got %q (%v) and %d bytes, want %q", got, err, len(p.Body), m.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats what was sent: %v", err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
				t.Errorf("allocated %d bytes for a limit of 1 MiB", grown)
			}
			for _, at := range s.requests() {
				if !strings.HasPrefix(at, "example.com/") {
					t.Errorf("asked %q", at)
				}
			}
			if name == "redirect to itself" && len(s.requests()) != 4 {
				t.Errorf("asked %d times, want once and after three redirects", len(s.requests()))
			}
		})
	}
}

// An address is refused before anything is asked of it.
func TestOnlyDeclaredAddressesAreAskedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t, status(200))
	c := s.client(t, Limits{}, "[2606:4700::1111]:443", "example.com:8443")
	for at, want := range map[string]pipeline.Code{
		"https://example.com/a": "", "https://EXAMPLE.com:443/": "", "https://example.com:8443/": "",
		"http://example.com/": pipeline.SourceRefused, "https://example.com:444/": pipeline.SourceRefused, "https://example.com./": pipeline.SourceRefused,
		"https://u@example.com/": pipeline.SourceRefused, "https://example.com@elsewhere.example/": pipeline.SourceRefused, "//example.com/": pipeline.SourceRefused,
		"https:example.com": pipeline.SourceRefused, "https://\x00": pipeline.SourceRefused, "https://example.com/" + strings.Repeat("a", maxURL): pipeline.SourceRefused,
		"https://[2606:4700::1112]/": pipeline.SourceRefused,
	} {
		before := len(s.requests())
		_, err := c.Get(t.Context(), at, Validators{})
		if got := codeOf(err); got != want || want != "" && len(s.requests()) != before {
			t.Errorf("%.40q: got %q (%v), want %q", at, got, err, want)
		}
	}
	if _, err := New(&http.Client{}, nil, Limits{}); err == nil {
		t.Error("a client of the system's own transport is taken")
	}
}

// Certificates that prove nothing end the connection.
func TestABadCertificateIsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, status(200))
	for name, spoil := range map[string]func(*tls.Config) string{
		"unknown root": func(c *tls.Config) string { c.RootCAs = x509.NewCertPool(); return here },
		"wrong name":   func(*tls.Config) string { return "other.example:443" },
		"expired": func(c *tls.Config) string {
			c.Time = func() time.Time { return time.Now().AddDate(200, 0, 0) }
			return here
		},
	} {
		c := s.client(t, Limits{}, "other.example:443")
		host := spoil(c.http.Transport.(*http.Transport).TLSClientConfig)
		if _, err := c.Get(t.Context(), "https://"+host+"/", Validators{}); codeOf(err) != pipeline.SourceUnreachable {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if len(s.requests()) != 0 {
		t.Errorf("asked %v", s.requests())
	}
	self := selfSigned(t)
	if self.Leaf != nil && self.Leaf.NotAfter.After(time.Now()) {
		t.Error("want a certificate that has expired")
	}
	s.TLS.Certificates = []tls.Certificate{self}
	if _, err := s.client(t, Limits{}).Get(t.Context(), "https://example.com/", Validators{}); codeOf(err) != pipeline.SourceUnreachable {
		t.Errorf("self-signed and expired: got %v", err)
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"example.com"},
		NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(-1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: of}
}

// The dialers of both engines judge the address that they connect to, and a
// refusal is told from a network that does not answer.
func TestAnEnginesRefusalIsARefusal(t *testing.T) {
	t.Parallel()
	brokered := &broker.Broker{Hosts: []string{"localhost:443", "gone.invalid:443"}}
	for name, h := range map[string]*http.Client{
		"one machine": {Transport: &http.Transport{DialContext: brokered.DialContext}},
		"AWS":         reach.Client([]string{"localhost:443", "gone.invalid:443"}),
	} {
		c, err := New(h, []string{"localhost:443", "gone.invalid:443"}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), "https://localhost/", Validators{}); codeOf(err) != pipeline.SourceRefused {
			t.Errorf("%s: a name that leads to this machine: %v", name, err)
		}
		if _, err := c.Get(t.Context(), "https://gone.invalid/", Validators{}); codeOf(err) != pipeline.SourceUnreachable {
			t.Errorf("%s: a name that leads nowhere: %v", name, err)
		}
	}
}

// What a server gave is asked with, and kept from every 200 and 304:
// feedbin#726, commafeed#1746.
func TestValidatorsAreThoseOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	answers := []struct {
		status    int
		tag, date string
	}{
		{200, `"one"`, "Tue, 01 Dec 2026 00:00:00 GMT"}, {304, `"two"`, ""}, {304, "", "Wed, 02 Dec 2026 00:00:00 GMT"}, {200, `W/"three"`, ""}, {200, strings.Repeat("a", maxValidator+1), ""},
	}
	n := 0
	var asked []Validators
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, Validators{r.Header.Get("If-None-Match"), r.Header.Get("If-Modified-Since")})
		a := answers[n]
		n++
		for name, value := range map[string]string{"ETag": a.tag, "Last-Modified": a.date} {
			if value != "" {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(a.status)
	})
	c := s.client(t, Limits{})
	v := Validators{}
	want := []Validators{{}, {`"one"`, answers[0].date}, {`"two"`, answers[0].date}, {`"two"`, answers[2].date}, {`W/"three"`, ""}, {}}
	for i, a := range answers {
		p, err := c.Get(t.Context(), "https://example.com/", v)
		if err != nil || p.Fresh != (a.status == 200) || asked[i] != want[i] {
			t.Errorf("answer %d: fresh %t, %v, asked with %+v; want %+v", i, p.Fresh, err, asked[i], want[i])
		}
		v = p.Validators
	}
	if v != (Validators{}) {
		t.Errorf("kept %+v, want nothing that long", v)
	}
	if v := (Validators{ETag: "\"a\r\nX: y\"", LastModified: "é"}).sound(); v != (Validators{}) {
		t.Errorf("a validator with a line end is %+v", v)
	}
}

func TestAServerSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "0": time.Second, "": 0, "soon": 0, "-5": 0, "1.5": 0, "99999999999999999999": maxWait, "100000": maxWait,
		"Tue, 01 Dec 2026 00:10:00 GMT": 10 * time.Minute, "Mon, 30 Nov 2026 00:00:00 GMT": time.Second, "Fri, 01 Jan 2100 00:00:00 GMT": maxWait,
	} {
		got, said := retryAfter(value, now)
		if !said {
			got = 0
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", value, got, want)
		}
	}
	for _, status := range []int{429, 503} {
		s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		var busy *BusyError
		_, err := s.client(t, Limits{}).Get(t.Context(), "https://example.com/", Validators{})
		if !errors.As(err, &busy) || busy.After != 7*time.Second || codeOf(err) != pipeline.SourceBusy {
			t.Errorf("%d: got %v", status, err)
		}
	}
}

// Redirects that are allowed lead to the document, without credentials,
// cookies or a Referer on the way.
func TestAFewRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Cookie", "Authorization", "Referer"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s was sent", name)
			}
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		switch r.URL.Path {
		case "/0":
			to("1")(w, r)
		case "/1":
			to("https://www.example.com/2")(w, r)
		case "/2":
			to("/3")(w, r)
		default:
			_, _ = io.WriteString(w, "here")
		}
	})
	c := s.client(t, Limits{}, "www.example.com:443")
	s.pool.AddCert(s.Certificate())
	c.http.Transport.(*http.Transport).TLSClientConfig.ServerName = "example.com"
	if p, err := c.Get(t.Context(), "https://example.com/0", Validators{}); err != nil || string(p.Body) != "here" || p.URL.String() != "https://www.example.com/3" {
		t.Errorf("got %q, %v", p.Body, err)
	}
	none := s.client(t, Limits{Redirects: -1})
	if _, err := none.Get(t.Context(), "https://example.com/0", Validators{}); codeOf(err) != pipeline.SourceRefused {
		t.Errorf("got %v, want no redirect", err)
	}
}

func TestTextsAreUTF8WhateverTheyWere(t *testing.T) {
	t.Parallel()
	latin := "caf\xe9"
	utf16 := "\xff\xfeh\x00i\x00"
	for name, c := range map[string]struct {
		kind, body, want string
		replaced         int
	}{
		"nothing said":              {"text/plain", "café", "café", 0},
		"an old plain text":         {"text/plain", latin, "café", 0},
		"the header":                {"text/plain; charset=iso-8859-1", latin, "café", 0},
		"the header in quotes":      {`text/csv; charset="ISO-8859-1"`, latin, "café", 0},
		"a mark before the header":  {"text/plain; charset=iso-8859-1", "\xef\xbb\xbfcafé", "café", 0},
		"two bytes":                 {"text/plain", utf16, "hi", 0},
		"a declaration":             {"application/rss+xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>", `<?xml version="1.0" encoding="UTF-8"?><a>é</a>`, 0},
		"in single quotes":          {"text/xml", "<?xml version='1.0' encoding='windows-1251' ?><a>\xc4</a>", "<?xml version='1.0' encoding='UTF-8' ?><a>Д</a>", 0},
		"the header before it":      {"text/xml; charset=utf-8", `<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>`, `<?xml version="1.0" encoding="UTF-8"?><a>é</a>`, 0},
		"no type, but XML":          {"", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>", `<?xml version="1.0" encoding="UTF-8"?><a>é</a>`, 0},
		"a meta element":            {"text/html", "<meta charset=windows-1251>\xc4", "<meta charset=windows-1251>Д", 0},
		"JSON is UTF-8":             {"application/json; charset=iso-8859-1", `"é"`, `"é"`, 0},
		"JSON with a bad byte":      {"application/json", "\"\xe9\"", "\"\uFFFD\"", 1},
		"a replacement of its own":  {"text/xml", "\uFFFD\xff", "\uFFFD\uFFFD", 1},
		"bytes that are no text":    {"image/png", "\x89PNG\xff", "\x89PNG\xff", 0},
		"a declaration in the text": {"text/xml", "<a>\xc3\xa9 <?xml version='1.0' encoding='latin1'?></a>", "<a>é <?xml version='1.0' encoding='latin1'?></a>", 0},
	} {
		s := newSite(t, typed(c.kind, c.body))
		p, err := s.client(t, Limits{}).Get(t.Context(), "https://example.com/", Validators{})
		if c.kind == "" {
			var n int
			p.Body, n, err = toUTF8([]byte(c.body), "", "")
			p.Replaced = n
		}
		if err != nil || string(p.Body) != c.want || p.Replaced != c.replaced {
			t.Errorf("%s: got %q with %d replaced, %v; want %q with %d", name, p.Body, p.Replaced, err, c.want, c.replaced)
		}
	}
}

func TestOneRequestAtATimeAndGzipIsRead(t *testing.T) {
	t.Parallel()
	var under, most atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), under.Add(1)))
		gzipped(append(zipped([]byte("a")), zipped([]byte("b"))...))(w, r)
		under.Add(-1)
	})
	c := s.client(t, Limits{})
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if p, err := c.Get(t.Context(), "https://example.com/", Validators{}); err != nil || string(p.Body) != "ab" {
				t.Errorf("got %q, %v", p.Body, err)
			}
		})
	}
	together.Wait()
	if most.Load() != 1 {
		t.Errorf("%d requests at once", most.Load())
	}
}

// Between two requests there is a gap, which a Get that has no time for it does
// not make.
func TestRequestsAreKeptApart(t *testing.T) {
	t.Parallel()
	s := newSite(t, status(200))
	c := s.client(t, Limits{Gap: time.Hour, Whole: 5 * time.Second})
	if _, err := c.Get(t.Context(), "https://example.com/", Validators{}); err != nil {
		t.Errorf("the first: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, "https://example.com/", Validators{}); codeOf(err) != pipeline.SourceUnreachable || len(s.requests()) != 1 {
		t.Errorf("the second: %v after %d requests", err, len(s.requests()))
	}
}

// BenchmarkGet reads a gzipped megabyte, beside net/http with nothing around it.
func BenchmarkGet(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, `{"id":%d,"title":"item %d"},`, i, i*7919)
	}
	body := zipped([]byte(text.String()))
	s := newSite(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		gzipped(body)(w, r)
	})
	c := s.client(b, Limits{})
	plain := http.Client{Transport: c.http.Transport}
	var alone float64
	b.Run("net/http", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			a, err := plain.Get("https://example.com/")
			if err != nil {
				b.Fatal(err)
			}
			_, err = io.Copy(io.Discard, a.Body)
			if a.Body.Close(); err != nil {
				b.Fatal(err)
			}
		}
		alone = b.Elapsed().Seconds() / float64(b.N)
	})
	b.Run("get", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, err := c.Get(b.Context(), "https://example.com/", Validators{}); err != nil {
				b.Fatal(err)
			}
		}
		if alone > 0 {
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/alone, "times-net/http")
		}
	})
}
