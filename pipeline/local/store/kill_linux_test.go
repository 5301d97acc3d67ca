package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"decant.dev/act"
	"decant.dev/act/table"
)

// What makes this test binary a process that writes.
const (
	writeDir  = "DECANT_TEST_WRITE_DIR"  // where
	writeFrom = "DECANT_TEST_WRITE_FROM" // the number of its first run
	writeMany = "DECANT_TEST_WRITE_MANY" // how many runs, 0 for without end
)

func init() { entries = append(entries, writes) }

// writes stores run after run in blobs and ledger, 8 at once, and prints the
// number of each once both are acknowledged.
func writes() bool {
	dir := os.Getenv(writeDir)
	if dir == "" {
		return false
	}
	from, _ := strconv.Atoi(os.Getenv(writeFrom))
	many, _ := strconv.Atoi(os.Getenv(writeMany))
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	b, err := OpenBlobs(filepath.Join(dir, "raw"))
	fail(err)
	l, err := OpenLedger(filepath.Join(dir, "act"))
	fail(err)
	var mu sync.Mutex
	var together sync.WaitGroup
	for lane := range 8 {
		together.Go(func() {
			for n := from + lane; many == 0 || n < from+many; n += 8 {
				fail(b.PutOnce(background, runOf(n), []byte(strconv.Itoa(n))))
				w := rowOf(runOf(n), fmt.Sprintf("t%d", n%5), strconv.Itoa(n), fmt.Sprintf("c%d", n%11))
				_, stored, err := l.Commit(background, []act.Receipt{receipt(runOf(n), "stored")}, []table.Write{w})
				fail(err)
				if !stored {
					fail(fmt.Errorf("run %d was stored before", n))
				}
				mu.Lock()
				fmt.Println(n)
				mu.Unlock()
			}
		})
	}
	together.Wait()
	fail(b.Close())
	fail(l.Close())
	os.Exit(0)
	return true
}

// startWriter starts such a process.
func startWriter(t *testing.T, dir string, from, many int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), writeDir+"="+dir, writeFrom+"="+strconv.Itoa(from), writeMany+"="+strconv.Itoa(many))
	cmd.Stderr = new(strings.Builder)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

// readAcknowledged reads the numbers to the end of the process's output. A
// last line without its end was not acknowledged.
func readAcknowledged(t *testing.T, lines *bufio.Scanner, each func(count int)) map[int]bool {
	t.Helper()
	all := map[int]bool{}
	lines.Split(func(data []byte, _ bool) (int, []byte, error) {
		if i := strings.IndexByte(string(data), '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Error(err)
		}
		all[n] = true
		each(len(all))
	}
	return all
}

// checkStored fails unless each run is there with value, receipt and row, or,
// if it was not acknowledged, with receipt and row or neither.
func checkStored(t *testing.T, dir string, most int, acknowledged map[int]bool) {
	t.Helper()
	b, l := openBlobs(t, filepath.Join(dir, "raw")), openLedger(t, filepath.Join(dir, "act"))
	rowsOf := map[string]int{}
	for i := range 5 {
		for _, r := range rows(t, l, fmt.Sprintf("t%d", i)) {
			rowsOf[r.Key]++
		}
	}
	for n := range most {
		value, found, err := b.Get(background, runOf(n))
		ok(t, err)
		committed := len(receipts(t, l, runOf(n)))
		switch {
		case acknowledged[n] && (!found || string(value) != strconv.Itoa(n) || committed != 1):
			t.Errorf("run %d was acknowledged: value %q, %d receipts", n, value, committed)
		case rowsOf[strconv.Itoa(n)] != committed:
			t.Errorf("run %d: %d receipts and %d rows", n, committed, rowsOf[strconv.Itoa(n)])
		}
	}
}

// A writer killed at any moment, again and again in the same folder, loses
// nothing that it acknowledged, and leaves no receipt without its row.
func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := map[int]bool{}
	next := 0
	for _, after := range []int{1, 7, 30, 100, 23} {
		cmd, lines := startWriter(t, dir, next, 0)
		got := readAcknowledged(t, lines, func(count int) {
			if count == after {
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
		})
		if err := cmd.Wait(); err == nil || len(got) < after {
			t.Fatalf("want a writer killed after %d, got %d, %v: %s", after, len(got), err, cmd.Stderr)
		}
		for n := range got {
			acknowledged[n] = true
			next = max(next, n+16) // beyond what was under way: one run in each of 8 lanes
		}
	}
	checkStored(t, dir, next, acknowledged)
}

// Two processes that write to the same folder at once wait for each other,
// also where both make the same tables and columns.
func TestTwoProcessesWriteAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const each = 200
	acknowledged := map[int]bool{}
	var mu sync.Mutex
	var together sync.WaitGroup
	for p := range 2 {
		cmd, lines := startWriter(t, dir, p*each, each)
		together.Go(func() {
			got := readAcknowledged(t, lines, func(int) {})
			if err := cmd.Wait(); err != nil || len(got) != each {
				t.Errorf("writer %d acknowledged %d of %d, %v: %s", p, len(got), each, err, cmd.Stderr)
			}
			mu.Lock()
			defer mu.Unlock()
			for n := range got {
				acknowledged[n] = true
			}
		})
	}
	together.Wait()
	checkStored(t, dir, 2*each, acknowledged)
}
