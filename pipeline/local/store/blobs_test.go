package store

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Blobs behave as a map whose PutOnce keeps the first value, for values of
// any bytes.
func TestBlobsAreAMap(t *testing.T) {
	t.Parallel()
	b := openBlobs(t, t.TempDir())
	want := map[string][]byte{}
	rapid.Check(t, func(rt *rapid.T) {
		run := runOf(rapid.IntRange(0, 7).Draw(rt, "run"))
		value := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(rt, "value")
		if rapid.Bool().Draw(rt, "once") {
			ok(t, b.PutOnce(background, run, value))
			if _, there := want[run]; !there {
				want[run] = value
			}
		} else {
			ok(t, b.Put(background, run, value))
			want[run] = value
		}
		for n := range 9 {
			got, found, err := b.Get(background, runOf(n))
			expected, there := want[runOf(n)]
			if err != nil || found != there || !bytes.Equal(got, expected) {
				rt.Fatalf("run %d: got %x, %v, %v, want %x, %v", n, got, found, err, expected, there)
			}
		}
		if n, err := b.Count(background); err != nil || n != len(want) {
			rt.Fatalf("count %d, %v, want %d", n, err, len(want))
		}
	})
}

func TestMissingBlobIsNoError(t *testing.T) {
	t.Parallel()
	b := openBlobs(t, t.TempDir())
	if value, found, err := b.Get(background, runOf(1)); value != nil || found || err != nil {
		t.Errorf("got %x, %v, %v", value, found, err)
	}
}

func TestBlobsReopenAsTheyWereClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := bytes.Repeat([]byte{0, 0xff, '\n'}, 1<<20)
	b, err := OpenBlobs(dir)
	ok(t, err)
	ok(t, b.Put(background, runOf(1), large))
	ok(t, b.PutOnce(background, runOf(2), nil))
	ok(t, b.Close())
	again := openBlobs(t, dir)
	if got, found, err := again.Get(background, runOf(1)); err != nil || !found || !bytes.Equal(got, large) {
		t.Errorf("the large value: %d bytes, %v, %v", len(got), found, err)
	}
}
