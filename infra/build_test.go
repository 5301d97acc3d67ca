package infra

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sources writes a module with one program into a new folder.
func sources(t *testing.T, word string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.com/own\n\ngo 1.26.0\n",
		"worker/main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"" + word + "\\n\") }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func built(t *testing.T, module string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "deep", "er")
	if err := Build(module, "example.com/own/worker", out); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(out, "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSameSourcesGiveTheSameBytesInAnyFolder(t *testing.T) {
	first := built(t, sources(t, "one"))
	t.Setenv("GOFLAGS", "-race")
	t.Setenv("GOARCH", "amd64")
	t.Setenv("GOEXPERIMENT", "nogreenteagc")
	t.Setenv("CGO_ENABLED", "1")
	if second := built(t, sources(t, "one")); !bytes.Equal(first, second) {
		t.Errorf("the bytes differ: %x, %x", sha256.Sum256(first), sha256.Sum256(second))
	}
	if other := built(t, sources(t, "two")); bytes.Equal(first, other) {
		t.Error("other sources give the same bytes")
	}
	if bytes.Contains(first, []byte(os.TempDir()+"/")) {
		t.Error("the bytes name the folder that they were built in")
	}
	f, err := elf.NewFile(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != elf.EM_AARCH64 {
		t.Errorf("built for %s, want arm64", f.Machine)
	}
	if f.Section(".interp") != nil {
		t.Error("the program needs a loader, which provided.al2023 need not have")
	}
}

func TestBuildSaysWhichProgramFailed(t *testing.T) {
	t.Parallel()
	err := Build(sources(t, "one"), "example.com/own/nothing", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "example.com/own/nothing") {
		t.Errorf("got %v, want an error that names the package", err)
	}
}

func TestBuildHeedsNoVariableThatChangesTheProgram(t *testing.T) {
	t.Parallel()
	got := buildEnvironment([]string{"GOARM64=v9.0", "GODEBUG=x=1", "GOFLAGS=-race", "CGO_CFLAGS=-O0", "GOPROXY=off", "HOME=/h"})
	for _, entry := range got {
		name, _, _ := strings.Cut(entry, "=")
		fixed := slices.Contains([]string{"GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off"}, entry)
		if !fixed && name != "GOPROXY" && name != "HOME" {
			t.Errorf("heeds %s", entry)
		}
	}
}
