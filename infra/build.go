package infra

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Build compiles the main package pkg, as the module in folder module sees
// it, into <dir>/bootstrap for provided.al2023 on arm64. The same sources and
// the same Go give the same bytes in any folder: paths, build ids and version
// control are left out, and of the environment only where Go finds its caches
// and modules is heeded.
func Build(module, pkg, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	out := filepath.Join(dir, "bootstrap")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc",
		"-ldflags", "-s -w -buildid=", "-o", out, pkg)
	cmd.Dir = module
	cmd.Env = buildEnvironment(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s in %s: %w\n%s", pkg, module, err, stderr.Bytes())
	}
	return nil
}

// heeded are the variables of Go that say where things are, and nothing of
// what comes out.
var heeded = []string{
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOTMPDIR", "GOROOT", "GOPROXY", "GOPRIVATE", "GONOPROXY",
	"GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOTOOLCHAIN", "GOWORK", "GOENV",
}

func buildEnvironment(from []string) []string {
	var env []string
	for _, entry := range from {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "CGO_") || strings.HasPrefix(name, "GO") && !slices.Contains(heeded, name) {
			continue
		}
		env = append(env, entry)
	}
	return append(env, "GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off")
}
