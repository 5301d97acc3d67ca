package plan

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"decant.dev/extract/shape"
)

// Actions that only a test can make: Params answers for their fields too.
type (
	addressed struct {
		Where Template `address:"where"`
	}
	untagged struct {
		Where Ref `address:"where"`
		What  string
	}
	twiceTagged struct {
		What string `address:"what" content:"what"`
	}
	twiceNamed struct {
		What string   `address:"what"`
		Also Template `content:"what"`
	}
	mistyped struct {
		What float64 `content:"what"`
	}
	everyType struct {
		A Value `content:"a"`
		B bool  `content:"b"`
		C int8  `content:"c"`
	}
	handled struct {
		What *shape.Token `content:"what"`
	}
)

func (addressed) Kind() Kind   { return KindGitHubLabel }
func (untagged) Kind() Kind    { return KindGitHubLabel }
func (twiceTagged) Kind() Kind { return KindGitHubLabel }
func (twiceNamed) Kind() Kind  { return KindGitHubLabel }
func (mistyped) Kind() Kind    { return KindGitHubLabel }
func (everyType) Kind() Kind   { return KindGitHubLabel }
func (handled) Kind() Kind     { return KindGitHubLabel }

// An address takes constants and the target: no handle of a structure gets
// into one, alone or in a template, whatever its kind.
func TestAnAddressHoldsNoHandleOfAStructure(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	for _, part := range []any{n.Version, n.Body, n.Quote, *n.Version, *n.Body, *n.Quote} {
		for _, parts := range [][]any{{part}, {"queue-", part}, {target(), part}} {
			_, err := Params(addressed{Say(parts...)})
			if err == nil || !strings.Contains(err.Error(), "where") {
				t.Errorf("%v in an address: %v: want a refusal that names it", part, err)
			}
		}
	}
	params, err := Params(addressed{Say("queue-", target())})
	if err != nil || len(params) != 1 || params[0].Place != Address {
		t.Errorf("constants and the target in an address: %v, %v", params, err)
	}
}

func TestParamsRefuses(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	type targetField struct {
		Target *shape.Quote `json:"target,omitempty" jsonschema:"maxLength=9"`
	}
	confusing, _ := lift[targetField](t, `{"target":"x"}`)
	var pointer *GitHubLabel
	for name, c := range map[string]struct {
		action Action
		says   string
	}{
		"nil":                     {nil, "struct"},
		"a nil pointer":           {pointer, "struct"},
		"a pointer":               {&GitHubLabel{Issue: target(), Label: "x"}, "struct"},
		"no tag":                  {untagged{Where: target()}, "What"},
		"two tags":                {twiceTagged{"x"}, "What"},
		"one name in two places":  {twiceNamed{"x", Say("y")}, "what is given twice"},
		"a float":                 {mistyped{1}, "float64"},
		"a bare handle":           {handled{n.Version}, "Token"},
		"zero ref as issue":       {GitHubLabel{Label: "x"}, "issue"},
		"zero ref as key":         {TableRow{Table: "t"}, "key"},
		"zero ref in a template":  {GitHubComment{target(), Say(Ref{})}, "body"},
		"nil token":               {GitHubComment{target(), Say((*shape.Token)(nil))}, "body"},
		"nil text":                {GitHubComment{target(), Say((*shape.Text)(nil))}, "body"},
		"nil quote":               {GitHubComment{target(), Say((*shape.Quote)(nil))}, "body"},
		"zero token":              {GitHubComment{target(), Say(shape.Token{})}, "body"},
		"zero text":               {GitHubComment{target(), Say(&shape.Text{})}, "body"},
		"zero quote column":       {row(Quote("q", &shape.Quote{})), "q"},
		"another type":            {GitHubComment{target(), Say(7)}, "body"},
		"nothing":                 {GitHubComment{target(), Say(nil)}, "body"},
		"a column twice":          {row(Text("a", "x"), Int("b", 1), Quote("a", n.Quote)), "a is given twice"},
		"a column named queue":    {QueueSend{"q", []Column{Text("queue", "x")}}, "queue is given twice"},
		"a column named key":      {WebhookPost{"d", []Column{Text("key", "x")}}, "column"},
		"a zero ref assigned":     {GitHubAssign{Login: "octo"}, "issue"},
		"a column named table":    {row(Text("table", "x")), "table is given twice"},
		"a field named target":    {row(Quote("q", confusing.Target)), "target"},
		"large number":            {row(Int("n", 1<<53)), "n: want"},
		"bad bytes":               {row(Text("n", "\xff")), "n: want"},
		"bad bytes in an address": {GitHubLabel{target(), "\xff"}, "label: want"},
	} {
		params, err := Params(c.action)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v: want a refusal that names %s", name, params, err, c.says)
		}
		if err != nil && params != nil {
			t.Errorf("%s: parameters beside the error", name)
		}
	}
}

func TestParamsTakesEveryTypeOfAField(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	params, err := Params(everyType{Quote("", n.Quote).Value, true, -3})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"@quote"`, `true`, `-3`} {
		if got := string(params[i].Value.AppendJSON(nil)); got != want {
			t.Errorf("parameter %s is %s: want %s", params[i].Name, got, want)
		}
	}
}

// What names a place of the operator's or of GitHub's is of that place's form,
// or the action is none.
func TestAddressesHaveTheirForm(t *testing.T) {
	t.Parallel()
	for address, c := range map[string]struct {
		of        func(string) Action
		good, bad []string
	}{
		"queue": {
			func(s string) Action { return QueueSend{Queue: s, Columns: []Column{Int("n", 1)}} },
			[]string{"a", "triage_1", strings.Repeat("q", 63)}, []string{"", "A", "a.b", "a/b", "../a", "a-b", "1a", "a\n", "é", strings.Repeat("q", 64)},
		},
		"destination": {
			func(s string) Action { return WebhookPost{Destination: s, Columns: []Column{Int("n", 1)}} },
			[]string{"a", "desk_1"}, []string{"", "A", "https://example.com", "a.example", "a b", strings.Repeat("q", 64)},
		},
		"repository": {
			func(s string) Action { return GitHubIssue{s, Say("t"), Say("b")} },
			[]string{"a/b", "octo-org/.github", "octo_org/a.b-c_d"}, []string{"", "a", "a/", "/a", "a/.", "a/..", "a/b/c", "a b/c", "a/b\n", "é/b", "a/" + strings.Repeat("b", 101), "https://example.com/a/b"},
		},
		"login": {
			func(s string) Action { return GitHubAssign{target(), s} },
			[]string{"a", "Octo-cat", "9lives", "octo_cat", strings.Repeat("l", 39)}, []string{"", "-a", "_a", "a b", "@a", "a/b", "bot[bot]", "é", "a\n", strings.Repeat("l", 40)},
		},
	} {
		for _, name := range c.good {
			if _, err := Params(c.of(name)); err != nil {
				t.Errorf("%s %q: %v", address, name, err)
			}
		}
		for _, name := range c.bad {
			if params, err := Params(c.of(name)); err == nil || params != nil || !strings.Contains(err.Error(), address) {
				t.Errorf("%s %q: %v: want a refusal that names it", address, name, err)
			}
		}
	}
	for n, ok := range map[int]bool{1: true, 1<<31 - 1: true, 0: false, -1: false, 1 << 31: false, 1 << 53: false} {
		if _, err := Params(GitHubMilestone{target(), n}); (err == nil) != ok {
			t.Errorf("milestone %d: %v: want taken: %t", n, err, ok)
		}
	}
}

func TestTablesAndColumnsHavePlainNames(t *testing.T) {
	t.Parallel()
	bad := []string{"", "A", "aB", "1a", "_a", "a-b", "a b", "a;", "a\"", "é", "a\n", strings.Repeat("a", 64)}
	good := []string{"a", "a1", "a_b", strings.Repeat("z", 63)}
	for _, name := range append(bad, ReservedColumns()...) {
		if _, err := Params(row(Text(name, "x"))); err == nil || !strings.Contains(err.Error(), "column") {
			t.Errorf("column %q: %v: want a refusal", name, err)
		}
	}
	for _, name := range bad {
		if _, err := Params(TableRow{Table: name, Key: target()}); err == nil || !strings.Contains(err.Error(), "table") {
			t.Errorf("table %q: %v: want a refusal", name, err)
		}
	}
	for _, name := range good {
		if _, err := Params(TableRow{Table: name, Key: target(), Columns: []Column{Text(name, "x")}}); err != nil {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

// What is refused says where, and never repeats what a stranger wrote.
func TestParamsErrorsHoldNoContent(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	for _, a := range []Action{addressed{Say(n.Quote)}, handled{n.Version}, row(Quote("key", n.Quote))} {
		_, err := Params(a)
		if err == nil || strings.Contains(err.Error(), "stranger") || strings.Contains(err.Error(), "v7") {
			t.Errorf("%T: error %v", a, err)
		}
	}
}

// The parameters of an action do not depend on the order in which its columns
// were given.
func TestColumnsAreSorted(t *testing.T) {
	t.Parallel()
	a, err := Params(row(Text("b", "1"), Text("a", "2"), Text("c", "3")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Params(row(Text("c", "3"), Text("b", "1"), Text("a", "2")))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%v and %v differ", a, b)
	}
}

// The name that is matched by hand is that of the form.
func TestIsNameIsTheForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(NameForm)
	alphabet := []string{"a", "z", "A", "0", "9", "_", "-", ".", "`", "{", "/", ":", "^", "é", "\n", ""}
	names := slices.Concat(alphabet, []string{strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 63) + "\n"})
	for _, a := range alphabet {
		for _, b := range alphabet {
			for _, c := range alphabet {
				names = append(names, a+b+c)
			}
		}
	}
	for _, name := range names {
		if IsName(name) != form.MatchString(name) {
			t.Errorf("%q: %t", name, IsName(name))
		}
	}
}
