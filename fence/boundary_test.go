package fence

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestBoundaryIsDrawnAgainWhileItOccursInTheContent(t *testing.T) {
	t.Parallel()
	first, second := bytes.Repeat([]byte{0xAB}, 16), bytes.Repeat([]byte{0xCD}, 16)
	source := bytes.NewReader(append(append([]byte{}, first...), second...))
	b, err := NewBoundary(source, "x", "y"+hex.EncodeToString(first)+"z")
	if err != nil || b.Hex() != hex.EncodeToString(second) {
		t.Fatalf("got %v, %v; want the second draw", b, err)
	}
	if _, err := NewBoundary(constant(0xAB), hex.EncodeToString(first)); !errors.Is(err, ErrBoundary) {
		t.Errorf("want ErrBoundary from a source that repeats itself, got %v", err)
	}
	if _, err := NewBoundary(bytes.NewReader(first[:15])); err == nil {
		t.Error("want an error from a source that ends")
	}
}

type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func TestBoundaryIsShownByHexOnly(t *testing.T) {
	t.Parallel()
	b := testBoundary(t)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "b", b, "p", &b)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "b", b, "in", struct{ B Boundary }{b})
	j, jerr := json.Marshal(b)
	all := log.String() + string(j)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		all += fmt.Sprintf(verb, b) + fmt.Sprintf(verb, &b) + fmt.Sprintf(verb, struct{ B Boundary }{b}) + fmt.Sprintf(verb, struct{ b Boundary }{b}) + fmt.Sprintf(verb, []any{b})
	}
	if b.EchoedIn([]byte(all)) {
		t.Error("the boundary can be read from a log or a format")
	}
	if jerr == nil {
		t.Error("want no JSON of a boundary")
	}
	if !strings.Contains(all, b.Digest()[:12]) || Boundary.String(Boundary{}) != "boundary(none)" {
		t.Error("want the digest shown")
	}
}

func TestBoundariesCompareByToken(t *testing.T) {
	t.Parallel()
	b := testBoundary(t)
	again, err := ParseBoundary(b.Hex())
	if err != nil || !b.Equal(again) {
		t.Error("want the same token equal")
	}
	if b.Equal(Boundary{}) || (Boundary{}).Equal(b) || (Boundary{}).Equal(Boundary{}) || (Boundary{}).Hex() != "" {
		t.Error("want a zero boundary equal to none")
	}
}

func TestEchoIsSixteenDigitsInEitherCase(t *testing.T) {
	t.Parallel()
	b := testBoundary(t)
	for from := 0; from < 32; from++ {
		for to := from; to <= 32; to++ {
			part := b.Hex()[from:to]
			want := to-from >= 16
			for _, s := range []string{part, strings.ToUpper(part), "x" + part + "y"} {
				if got := b.EchoedIn([]byte(s)); got != want {
					t.Fatalf("digits %d to %d: echoed %v, want %v", from, to, got, want)
				}
			}
		}
	}
	if (Boundary{}).EchoedIn([]byte("anything")) {
		t.Error("the zero boundary is echoed nowhere")
	}
}

func TestParseBoundaryIsStrict(t *testing.T) {
	t.Parallel()
	b := testBoundary(t)
	if got, err := ParseBoundary(b.Hex()); err != nil || !got.Equal(b) {
		t.Errorf("want the same boundary, got %v, %v", got, err)
	}
	for _, s := range []string{"", b.Hex()[1:], b.Hex() + "0", strings.Repeat("A", 32), strings.Repeat("g", 32)} {
		if _, err := ParseBoundary(s); err == nil || s != "" && strings.Contains(err.Error(), s) {
			t.Errorf("want an error without the value, got %v", err)
		}
	}
}
