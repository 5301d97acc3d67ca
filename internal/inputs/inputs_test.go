package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestFoundBesideTheModuleFromAnyDepth(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	deep := filepath.Join(root, "module", "a", "b")
	shared := filepath.Join(root, "shared", "data")
	for _, dir := range []string{deep, shared} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := under(deep, []string{"data"}); err == nil {
		t.Error("found inputs beside no module")
	}
	if err := os.WriteFile(filepath.Join(root, "module", "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{deep, filepath.Dir(deep), filepath.Join(root, "module")} {
		got, err := under(dir, []string{"data"})
		if err != nil || got != shared {
			t.Errorf("from %s: got %s, %v, want %s", dir, got, err, shared)
		}
	}
	if _, err := under(deep, []string{"nothing"}); err == nil {
		t.Error("found what is not there")
	}
}

// asked is a test that notes that it is to be skipped, and goes on.
type asked struct {
	testing.TB
	line string
}

func (a *asked) Helper() {}

func (a *asked) Skipf(format string, args ...any) { a.line = fmt.Sprintf(format, args...) }

func TestAbsentInputSkips(t *testing.T) {
	t.Chdir(t.TempDir())
	a := &asked{TB: t}
	Path(a, "data", "github")
	if want := "skipped: " + filepath.Join("..", "shared", "data", "github") + " is not here"; a.line != want {
		t.Errorf("got %q, want %q", a.line, want)
	}
}
