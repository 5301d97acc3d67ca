package intake

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/extract/shape"
	"decant.dev/fetch"
	"decant.dev/fetch/feed"
	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
	"decant.dev/recipes/advisories"
)

// structure is an answer, read loosely: the strict decoder has read it before.
type structure struct {
	ID, Package, Ecosystem, Fixed, Severity, Matters, Action string
	Aliases                                                  []string
}

// through takes a document's items through fetch and extract as a run does.
func through(t testing.TB, x *rules.Extractor, document []byte) (list []structure, codes []pipeline.Code) {
	t.Helper()
	name := advisories.Recipe.Name()
	f := &fetch.Handler{Intakes: map[string]fetch.Intake{name: Intake}, Random: rand.Reader}
	e := &extract.Handler{Shapes: map[string]*shape.Shape{name: advisories.Recipe.Shape()}, Extractors: map[string]extract.Extractor{name: x}}
	items := f.Items(name, document)
	if items.Code != pipeline.OK {
		return nil, []pipeline.Code{items.Code}
	}
	for _, item := range items.Items {
		env, err := advisories.Recipe.Given(strings.Repeat("0", 64), item, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		var s structure
		fetched := f.Fetch(context.Background(), fetch.Input{Envelope: env, Body: item})
		code := fetched.Code
		if code == pipeline.OK {
			out := e.Extract(context.Background(), extract.Input{Recipe: name, Run: env.Run, Object: fetched.Object})
			if code = out.Code; code == pipeline.OK {
				if err := json.Unmarshal(out.Structure, &s); err != nil {
					t.Fatal(err)
				}
			}
		}
		list, codes = append(list, s), append(codes, code)
	}
	return list, codes
}

// record is an advisory as the test reads it, by itself.
type record struct {
	ID, Withdrawn string
	Aliases       []string
	Affected      []struct {
		Package struct{ Ecosystem, Name string }
		Ranges  []struct{ Events []map[string]string }
	}
}

// names are what the record says of packages, each once; and its aliases, of
// which one record has one twice.
func (r record) names() (names, ecosystems, fixed, aliases []string) {
	once := func(list []string, s string) []string {
		if slices.Contains(list, s) {
			return list
		}
		return append(list, s)
	}
	for _, a := range r.Aliases {
		aliases = once(aliases, a)
	}
	for _, a := range r.Affected {
		names, ecosystems = once(names, a.Package.Name), once(ecosystems, strings.ToLower(a.Package.Ecosystem))
		for _, rg := range a.Ranges {
			for _, e := range rg.Events {
				if v, ok := e["fixed"]; ok {
					fixed = once(fixed, v)
				}
			}
		}
	}
	return names, ecosystems, fixed, aliases
}

// TestRealAdvisories takes 400 advisories through fetch and extract, and holds
// each field against the record's own, read here by other code. All agree; a
// text that exceeds its bounds would be counted apart.
func TestRealAdvisories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "osv"), "*.json"))
	if err != nil || len(files) < 400 {
		t.Fatalf("got %d advisories, %v: want 400", len(files), err)
	}
	type count struct{ agree, absent, beyond, differ int }
	counts := map[string]*count{}
	values := map[string]map[string]int{"severity": {}, "action": {}, "matters": {}}
	x := Rules()
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r record
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		list, codes := through(t, x, raw)
		if len(codes) != 1 || codes[0] != pipeline.OK {
			t.Errorf("%s: got %d items, %v", filepath.Base(file), len(list), codes)
			continue
		}
		s := list[0]
		names, ecosystems, fixed, aliases := r.names()
		for field, c := range map[string]struct {
			got, want []string
			most      int
		}{
			"id":        {[]string{s.ID}, []string{r.ID}, 0},
			"package":   {split(s.Package), names, 1000},
			"ecosystem": {[]string{s.Ecosystem}, ecosystems, 0},
			"aliases":   {s.Aliases, aliases, 0},
			"fixed":     {split(s.Fixed), fixed, 400},
		} {
			if counts[field] == nil {
				counts[field] = &count{}
			}
			switch n := counts[field]; {
			case slices.Equal(c.got, c.want) && len(c.want) == 0:
				n.absent++
			case slices.Equal(c.got, c.want):
				n.agree++
			case c.most > 0 && len(strings.Join(c.want, ", ")) > c.most:
				n.beyond++
			default:
				n.differ++
				t.Errorf("%s: %s: got %q, want %q", filepath.Base(file), field, c.got, c.want)
			}
		}
		wanted := advisories.ActionWatch
		switch {
		case r.Withdrawn != "":
			wanted = advisories.ActionNone
		case len(fixed) > 0:
			wanted = advisories.ActionUpgrade
		}
		if s.Action != wanted {
			t.Errorf("%s: action %s, want %s", filepath.Base(file), s.Action, wanted)
		}
		values["severity"][s.Severity]++
		values["action"][s.Action]++
		values["matters"][s.Matters]++
	}
	t.Logf("%-10s %6s %13s %13s %7s  of %d advisories", "field", "agree", "both absent", "beyond bounds", "differ", len(files))
	for _, field := range slices.Sorted(maps.Keys(counts)) {
		c := counts[field]
		t.Logf("%-10s %6d %13d %13d %7d", field, c.agree, c.absent, c.beyond, c.differ)
	}
	for _, field := range slices.Sorted(maps.Keys(values)) {
		t.Logf("%-10s %v", field, values[field])
	}
	if len(values["severity"]) < 5 || values["severity"]["unknown"] > len(files)/2 {
		t.Errorf("severity: got %v, want each value, and most advisories told", values["severity"])
	}
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}

func advisory(members string) []byte {
	return []byte(`{"id":"GO-2026-0001","summary":"s","details":"d",` + members + `}`)
}

func affecting(ecosystem, name, events string) string {
	return fmt.Sprintf(`"affected":[{"package":{"ecosystem":%q,"name":%q},"ranges":[{"type":"SEMVER","events":[%s]}]}]`, ecosystem, name, events)
}

func TestWhatMattersIsListedAndInRange(t *testing.T) {
	t.Parallel()
	listed, err := Dependencies("# mine\nGo example.com/m v1.5.0\n\nnpm left 2.0.0-rc.1\nPyPI right\nPyPI odd 1.0.post1\nGitHub Actions\towner/action\tv3\nGo stdlib\n")
	if err != nil {
		t.Fatal(err)
	}
	x := rules.Must(advisories.Recipe.Shape(), set(listed))
	for _, c := range []struct{ name, ecosystem, pkg, events, want string }{
		{"in the range", "Go", "example.com/m", `{"introduced":"1.4.0"},{"fixed":"1.5.1"}`, "yes"},
		{"from the first", "Go", "example.com/m", `{"introduced":"0"},{"fixed":"1.6.0"}`, "yes"},
		{"mended in it", "Go", "example.com/m", `{"introduced":"0"},{"fixed":"1.5.0"}`, "no"},
		{"later", "Go", "example.com/m", `{"introduced":"1.6.0"}`, "no"},
		{"two ranges", "Go", "example.com/m", `{"introduced":"0"},{"fixed":"1.0.0"},{"introduced":"1.4.9"},{"last_affected":"1.5.0"}`, "yes"},
		{"between them", "Go", "example.com/m", `{"introduced":"0"},{"fixed":"1.0.0"},{"introduced":"1.6.0"}`, "no"},
		{"no mend", "Go", "example.com/m", `{"introduced":"0"}`, "yes"},
		{"no ranges", "Go", "example.com/m", ``, "maybe"},
		{"versions of another form", "Go", "example.com/m", `{"introduced":"2026a"}`, "maybe"},
		{"a pre-release", "npm", "left", `{"introduced":"0"},{"fixed":"2.0.0"}`, "yes"},
		{"no version", "PyPI", "right", `{"introduced":"1.0.post2"}`, "yes"},
		{"a version of another form", "PyPI", "odd", `{"introduced":"0"}`, "maybe"},
		{"a name with a space", "GitHub Actions", "owner/action", `{"introduced":"0"}`, "yes"},
		{"another", "Go", "example.com/other", `{"introduced":"0"}`, "no"},
		{"another by case", "Go", "example.com/M", `{"introduced":"0"}`, "no"},
		{"a part of the name", "Go", "example.com/m/v2", `{"introduced":"0"}`, "no"},
		{"of another ecosystem", "npm", "example.com/m", `{"introduced":"0"}`, "no"},
	} {
		list, codes := through(t, x, advisory(affecting(c.ecosystem, c.pkg, c.events)))
		if len(list) != 1 || codes[0] != pipeline.OK || list[0].Matters != c.want {
			t.Errorf("%s: got %+v, %v: want matters %s", c.name, list, codes, c.want)
		}
	}
	if list, _ := through(t, x, []byte(`{"id":"GHSA-2222-3333-4444","affected":[{"package":{"ecosystem":"Go","name":"example.com/m"},"ranges":[{"type":"SEMVER","events":[{"introduced":"9.0.0"}]}]},`+
		`{"package":{"ecosystem":"Go","name":"stdlib"}}]}`)); len(list) != 1 || list[0].Matters != "yes" || list[0].Package != "example.com/m, stdlib" {
		t.Errorf("got %+v, want the second of two packages to matter", list)
	}
}

func TestOneBadAdvisoryIsQuarantinedAlone(t *testing.T) {
	t.Parallel()
	good := `{"id":"GO-2026-0001","aliases":["CVE-2026-0001","EVIL-1","CVE-2026-0001"]}`
	for _, bad := range []string{ // cve-lite-cli#917
		`{"id":null,"aliases":[null]}`, `{"id":"GO-2026-0002","aliases":[null]}`, `{"aliases":[]}`, `{"id":7}`, `null`, `[]`, `"x"`,
		`{"id":"GO-2026-0002","id":"GO-2026-0003"}`, `{"id":"GO-2026-0002","affected":[{"package":{"name":"x"}}]}`, `{"id":"GO-2026-0002","affected":{}}`,
		`{"id":"GO-2026-0002","affected":[{"package":{"ecosystem":"Go","name":"a\n>=0"}}]}`,
		`{"id":"GO-2026-0002","affected":[` + strings.Repeat(`{"package":{"ecosystem":"Go","name":"a"}},`, feed.MaxAffected) + `{"package":{"ecosystem":"Go","name":"a"}}]}`,
	} {
		list, codes := through(t, Rules(), []byte(`{"vulns":[`+bad+`,`+good+`]}`))
		if len(list) != 2 || codes[0] != pipeline.Unreadable || codes[1] != pipeline.OK || !slices.Equal(list[1].Aliases, []string{"CVE-2026-0001"}) {
			t.Errorf("%s: got %+v, %q; want it quarantined, and the other read", bad, list, codes)
		}
	}
	for _, none := range []string{"", "x", `{"id":"GO-2026-0001"`, `{"vulns":{}}`, `7`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000)} {
		if _, codes := through(t, Rules(), []byte(none)); len(codes) != 1 || codes[0] != pipeline.SourceMalformed {
			t.Errorf("%.20q: got %q, want no document", none, codes)
		}
	}
}

func TestTheSampleAdvisories(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../events/advisory-osv.json")
	if err != nil {
		t.Fatal(err)
	}
	list, codes := through(t, Rules(), raw)
	if !slices.Equal(codes, []pipeline.Code{pipeline.OK, pipeline.OK, pipeline.Unreadable}) || list[0].Matters != "yes" || list[1].Matters != "no" || list[1].Severity != "medium" {
		t.Errorf("got %+v, %q", list, codes)
	}
}

func TestFieldsOfOtherDatabases(t *testing.T) {
	t.Parallel()
	long := `"affected":[` + strings.TrimSuffix(strings.Repeat(`{"package":{"ecosystem":"npm","name":"%s"}},`, 300), ",") + `]`
	var names []any
	for i := range 300 {
		names = append(names, fmt.Sprintf("package-%d", i))
	}
	for name, c := range map[string]struct {
		members string
		ok      func(structure) bool
	}{
		"cvss 3.1":     {`"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}]`, func(s structure) bool { return s.Severity == "critical" }},
		"cvss 4.0":     {`"severity":[{"type":"CVSS_V4","score":"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"}]`, func(s structure) bool { return s.Severity == "critical" }},
		"a bad vector": {`"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N"}]`, func(s structure) bool { return s.Severity == "unknown" }},
		"its own word": {`"database_specific":{"severity":"MODERATE"}`, func(s structure) bool { return s.Severity == "medium" }},
		"withdrawn":    {`"withdrawn":"2026-01-01T00:00:00Z",` + affecting("Go", "a", `{"introduced":"0"},{"fixed":"1.0.0"}`), func(s structure) bool { return s.Action == "none" && s.Fixed == "1.0.0" }},
		"of a system":  {affecting("Debian:12", "curl", ``), func(s structure) bool { return s.Ecosystem == "os" && s.Package == "curl" }},
		"of none":      {affecting("Hex", "x", ``), func(s structure) bool { return s.Ecosystem == "other" }},
		"not in ASCII": {affecting("npm", "паке́т", ``), func(s structure) bool { return s.Package == "" }},
		"too many to say": {fmt.Sprintf(long, names...), func(s structure) bool {
			return strings.HasPrefix(s.Package, "package-0, package-1,") && len(s.Package) <= 1000 && len(s.Package) > 980 && !strings.HasSuffix(s.Package, ",")
		}},
	} {
		list, codes := through(t, Rules(), advisory(c.members))
		if len(list) != 1 || codes[0] != pipeline.OK || !c.ok(list[0]) {
			t.Errorf("%s: got %+v, %q", name, list, codes)
		}
	}
}

func TestDependenciesAreReadStrictly(t *testing.T) {
	t.Parallel()
	if list, err := Dependencies(dependencies); err != nil || len(list) < 5 {
		t.Errorf("the recipe's own list: got %d, %v", len(list), err)
	}
	for _, bad := range []string{"Go", "Go a b c", "Go\ta\tb\tc"} {
		if _, err := Dependencies("Go a\n" + bad); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: got %v, want an error that names the line", bad, err)
		}
	}
}
