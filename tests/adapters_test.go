package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The examples in other languages are held to every rule, through the command and as the guide says.
func TestExampleAdaptersBreakNoRule(t *testing.T) {
	t.Parallel()
	decant := filepath.Join(t.TempDir(), "decant")
	if out, err := exec.Command("go", "build", "-o", decant, module).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, command := range [][]string{{"python3", "../examples/adapter.py"}, {"node", "../examples/adapter.mjs"}} {
		t.Run(command[0], func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("SKIP-ADAPTER: %s is not at hand", command[0])
			}
			cmd := exec.Command(decant, append([]string{"conformance", "--timeout", "1m", "--"}, command...)...)
			cmd.Env = append(os.Environ(), "DECANT="+decant)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "30 of 30 rules kept") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
