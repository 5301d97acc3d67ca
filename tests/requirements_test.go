package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"decant.dev/internal/inputs"
)

var (
	requirement = regexp.MustCompile(`(?m)^\| S([12])\.([0-9]+) \|(.*)\|$`)
	provingTest = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")
)

// Each row of docs/requirements.md has four cells, a number above the last, and names tests; each of these is a function of
// the package that it is said to be in.
func TestEveryRequirementNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := requirement.FindAllStringSubmatch(string(doc), -1)
	if got := strings.Count(string(doc), "\n| S"); got != len(rows) || len(rows) < 50 {
		t.Fatalf("want every row readable, got %d of %d", len(rows), got)
	}
	last := map[string]int{}
	for _, row := range rows {
		name := "S" + row[1] + "." + row[2]
		n, err := strconv.Atoi(row[2])
		if err != nil || n <= last[row[1]] {
			t.Errorf("%s: want a number above %d", name, last[row[1]])
		}
		last[row[1]] = n
		cells := strings.Split(row[3], "|")
		if len(cells) != 3 {
			t.Errorf("%s: want requirement, difference and tests, got %d cells", name, len(cells))
			continue
		}
		named := provingTest.FindAllStringSubmatch(cells[2], -1)
		if len(named) == 0 || strings.Count(cells[2], "`") != 2*len(named) {
			t.Errorf("%s: want at least one test, as `package.TestName`", name)
		}
		for _, test := range named {
			if !hasTest(t, test[1], test[2]) {
				t.Errorf("%s: %s has no %s", name, test[1], test[2])
			}
		}
	}
}

// hasTest looks for a test function in the test files of a package's folder.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

func TestThreatModelNamesTheRiskThatRemains(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(doc)), " ")
	for _, said := range []string{"persuasion: it lowers how often a model is fooled, and no more", "**That the structure is true.**", "We also assume that the attack works."} {
		if !strings.Contains(flat, said) {
			t.Errorf("the threat model does not say %q", said)
		}
	}
}

// A row of the table of cases begins with their names.
var caseRow = regexp.MustCompile(`(?m)^\| ([A-Za-z][^|]*(?:#|PR | 1\.)[0-9]+[^|]*) \|(.*)\|$`)

// casesOf splits the names of a row.
func casesOf(cell string) []string {
	var names []string
	for _, name := range strings.Split(cell, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// Each case of others has a row, with tests that exist.
func TestEveryCaseHasARowWithTestsThatExist(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	rows := caseRow.FindAllStringSubmatch(string(doc), -1)
	for _, row := range rows {
		for _, name := range casesOf(row[1]) {
			ours[name] = true
		}
		cells := strings.Split(row[2], "|")
		named := provingTest.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || len(named) == 0 {
			t.Errorf("%s: want what happened, what is here, and at least one test", row[1])
		}
		for _, test := range named {
			if !hasTest(t, test[1], test[2]) {
				t.Errorf("%s: %s has no %s", row[1], test[1], test[2])
			}
		}
	}
	told, err := os.ReadFile(inputs.Path(t, "cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range caseRow.FindAllStringSubmatch(string(told), -1) {
		for _, name := range casesOf(row[1]) {
			if n++; !ours[name] {
				t.Errorf("%s: want a row in docs/requirements.md", name)
			}
		}
	}
	if n != len(ours) || n < 30 {
		t.Errorf("got %d cases, and rows for %d", n, len(ours))
	}
}
