package inputs

import (
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

func TestAbsentInputSkips(t *testing.T) {
	skipped := false
	t.Run("skips", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		t.Chdir(t.TempDir())
		Path(t, "data")
	})
	if !skipped {
		t.Error("a test that wants an absent input went on")
	}
}
