package escape

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestEveryAttemptHasANameOfItsOwnAndANeed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, attempt := range All() {
		if attempt.Name == "" || seen[attempt.Name] {
			t.Errorf("want a name of its own, got %q", attempt.Name)
		}
		seen[attempt.Name] = true
		switch attempt.Need {
		case NeedNothing, NeedPrivilege, NeedNoBroker:
		default:
			t.Errorf("%s: want a need, got %d", attempt.Name, attempt.Need)
		}
		if attempt.Try == nil {
			t.Errorf("%s: want something to try", attempt.Name)
		}
	}
}

func TestRunTellsWhoGotOutAndReadReadsItBack(t *testing.T) {
	t.Parallel()
	attempts := []Attempt{
		{Name: "out", Need: NeedNothing, Try: func(Env) error { return nil }},
		{Name: "refused", Need: NeedPrivilege, Try: func(Env) error { return errors.New("no") }},
		{Name: "panics", Need: NeedNoBroker, Try: func(Env) error { panic("oh") }},
	}
	var lines bytes.Buffer
	if err := Run(attempts, Env{}, &lines); err != nil {
		t.Fatal(err)
	}
	results, err := Read(&lines)
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{
		{Name: "out", Need: NeedNothing, Out: true},
		{Name: "refused", Need: NeedPrivilege, Error: "no"},
		{Name: "panics", Need: NeedNoBroker, Error: "panic: oh"},
	}
	if len(results) != len(want) {
		t.Fatalf("want %d results, got %d", len(want), len(results))
	}
	for i := range want {
		if results[i] != want[i] {
			t.Errorf("want %+v, got %+v", want[i], results[i])
		}
	}
	if _, err := Read(strings.NewReader("{")); err == nil {
		t.Error("want a cut answer refused")
	}
}
