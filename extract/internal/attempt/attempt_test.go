package attempt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errBroken = errors.New("broken")

// script answers the nth attempt with the nth error, and the last again.
func script(errs ...error) (func(context.Context) error, *[]time.Time) {
	var asked []time.Time
	return func(context.Context) error {
		asked = append(asked, time.Now())
		return errs[min(len(asked), len(errs))-1]
	}, &asked
}

var times = Times{Each: time.Minute, Total: 3 * time.Minute}

func TestOnlyAgainIsAskedAgain(t *testing.T) {
	t.Parallel()
	again := &Again{Err: errBroken}
	for name, c := range map[string]struct {
		errs  []error
		asked int
		want  error
	}{
		"success":              {[]error{nil}, 1, nil},
		"refusal":              {[]error{errBroken}, 1, errBroken},
		"success after two":    {[]error{again, again, nil}, 3, nil},
		"never a success":      {[]error{again}, 3, errBroken},
		"refusal in the end":   {[]error{again, io.EOF}, 2, io.EOF},
		"asks for a wait":      {[]error{&Again{errBroken, MaxWait}, nil}, 2, nil},
		"asks for a long wait": {[]error{&Again{errBroken, MaxWait + 1}, nil}, 1, errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ask, asked := script(c.errs...)
				if err := Do(t.Context(), times, ask); !errors.Is(err, c.want) || len(*asked) != c.asked {
					t.Errorf("asked %d times, got %v; want %d and %v", len(*asked), err, c.asked, c.want)
				}
			})
		})
	}
}

// The waits are random below a bound that doubles, and never shorter than
// what the endpoint asked for.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []time.Duration{0, 7 * time.Second} {
			ask, asked := script(&Again{errBroken, after})
			_ = Do(t.Context(), times, ask)
			for i, most := range []time.Duration{firstWait, 2 * firstWait} {
				if wait := (*asked)[i+1].Sub((*asked)[i]); wait < after || wait > max(after, most) {
					t.Errorf("wait %d after %s: got %s, want at most %s", i, after, wait, max(after, most))
				}
			}
		}
	})
}

// hang waits until its context ends.
func hang(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestQuestionEndsInTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times Times
		ask   func(context.Context) error
		most  time.Duration
	}{
		"each attempt hangs":               {Times{time.Second, time.Minute}, hang, 3*time.Second + 3*firstWait},
		"one attempt takes all":            {Times{time.Minute, time.Minute}, hang, time.Minute},
		"all attempts take all":            {Times{40 * time.Second, time.Minute}, hang, time.Minute},
		"a wait that there is no time for": {Times{time.Second, 2 * time.Second}, func(context.Context) error { return &Again{ErrTimeout, 5 * time.Second} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				err := Do(t.Context(), c.times, c.ask)
				if took := time.Since(begin); !errors.Is(err, ErrTimeout) || took > c.most {
					t.Errorf("got %v after %s, want %v after at most %s", err, took, ErrTimeout, c.most)
				}
			})
		})
	}
}

func TestCallersEndIsTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		asked := 0
		err := Do(ctx, times, func(ctx context.Context) error { asked++; return hang(ctx) })
		if !errors.Is(err, context.DeadlineExceeded) || asked != 1 {
			t.Errorf("asked %d times, got %v", asked, err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		asked = 0
		err = Do(ctx, times, func(context.Context) error { asked++; cancel(); return &Again{Err: errBroken} })
		if !errors.Is(err, context.Canceled) || asked != 1 {
			t.Errorf("asked %d times, got %v", asked, err)
		}
	})
}

func TestTimesAreChecked(t *testing.T) {
	t.Parallel()
	for in, want := range map[Times]Times{
		{}:                             {DefaultEach, DefaultTotal},
		{Total: time.Second}:           {time.Second, time.Second},
		{Each: time.Second}:            {time.Second, DefaultTotal},
		{Each: 2, Total: 1}:            {},
		{Each: -1}:                     {},
		{Total: -1}:                    {},
		{Each: 1, Total: MaxTotal + 1}: {},
		{Each: DefaultTotal + 1}:       {},
	} {
		got, err := in.Complete()
		if got != want || (err == nil) != (want != Times{}) {
			t.Errorf("%v: got %v, %v; want %v", in, got, err, want)
		}
	}
}

// Every status: those of a server that may recover, and no other.
func TestTransientStatuses(t *testing.T) {
	t.Parallel()
	want := map[int]bool{429: true, 500: true, 502: true, 503: true, 504: true}
	for status := range 600 {
		if Transient(status) != want[status] {
			t.Errorf("%d: want %v", status, want[status])
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"": 0, "0": 0, " 7 ": 7 * time.Second, "20": MaxWait, "21": 21 * time.Second, "2147483647": 2147483647 * time.Second,
		"-1": MaxWait + 1, "99999999999999999999": MaxWait + 1, "1.5": MaxWait + 1, "Wed, 21 Oct 2026 07:28:00 GMT": MaxWait + 1, "soon": MaxWait + 1,
	} {
		if got := After(http.Header{"Retry-After": {in}}); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := After(nil); got != 0 {
		t.Errorf("none: got %s", got)
	}
}

// At most as many bytes as were allowed come out, and one more is an error,
// however it is read.
func TestBodyIsBounded(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 9, 10, 11, 1000} {
		for _, piece := range []int{1, 3, 4096} {
			body := Body(io.NopCloser(bytes.NewReader(make([]byte, size))), 10)
			var got int64
			var err error
			buf := make([]byte, piece)
			for err == nil {
				var n int
				n, err = body.Read(buf)
				got += int64(n)
			}
			if got != min(size, 10) || errors.Is(err, ErrLarge) != (size > 10) {
				t.Errorf("%d bytes by %d: got %d and %v", size, piece, got, err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	endless := Body(io.NopCloser(neverEnding{}), math.MaxInt32)
	if n, err := endless.Read(make([]byte, 8)); n != 8 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }

func TestOnlyJSONIsAnAnswer(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true,
		"": false, "text/html": false, "text/plain": false, "application/jsonp": false, "application/x-ndjson": false, "application/json;;": false,
	} {
		if err := JSON(http.Header{"Content-Type": {in}}); (err == nil) != ok {
			t.Errorf("%q: got %v", in, err)
		}
	}
}

// Where no client is given, no host but the declared ones is dialled; a given
// client loses what could lead elsewhere.
func TestClientReachesDeclaredHostsOnly(t *testing.T) {
	t.Parallel()
	c := Client(nil, []string{"model.example.com:443"})
	_, err := c.Get("http://elsewhere.example.com/")
	if err == nil || !strings.Contains(err.Error(), errHost.Error()) {
		t.Errorf("got %v, want %v", err, errHost)
	}
	if c.Transport.(*http.Transport).Proxy != nil {
		t.Error("the environment can name a proxy")
	}
	given := &http.Client{Timeout: 1, Transport: http.DefaultTransport}
	c = Client(given, nil)
	if c == given || c.Timeout != 0 || c.Jar != nil || c.Transport != given.Transport || given.CheckRedirect != nil {
		t.Error("want a copy that shares the transport alone")
	}
	if err := c.CheckRedirect(nil, nil); !errors.Is(err, http.ErrUseLastResponse) {
		t.Errorf("redirects: got %v", err)
	}
}
