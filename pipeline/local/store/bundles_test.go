package store

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

func TestBundleOpensForItsTokenAlone(t *testing.T) {
	t.Parallel()
	b, err := OpenBundles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	first, second := sha256.Sum256([]byte("first")), sha256.Sum256([]byte("second"))
	get := func(run string, token [sha256.Size]byte, want []byte) {
		t.Helper()
		if got, ok, err := b.Get(t.Context(), run, token); err != nil || ok != (want != nil) || !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, %t, %v; want %d bytes", len(got), ok, err, len(want))
		}
	}
	large := bytes.Repeat([]byte("x"), 1<<20)
	get("a", first, nil)
	get("a", [sha256.Size]byte{}, nil) // what an unknown run's is compared with
	for _, put := range []struct {
		run   string
		token [sha256.Size]byte
		value []byte
	}{{"a", first, large}, {"b", second, []byte("b")}} {
		if err := b.Put(t.Context(), put.run, put.token, put.value); err != nil {
			t.Fatal(err)
		}
	}
	get("a", first, large)
	get("a", second, nil)
	get("b", second, []byte("b"))
	get("b", first, nil)
	if err := b.Put(t.Context(), "a", second, []byte("anew")); err != nil {
		t.Fatal(err)
	}
	get("a", first, nil)
	get("a", second, []byte("anew"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := b.Get(t.Context(), "a", second); ok || err == nil {
		t.Errorf("a closed store answered: %t, %v", ok, err)
	}
}
