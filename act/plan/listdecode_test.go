package plan

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func sampleList(tb testing.TB) []byte {
	tb.Helper()
	var members []Outcome
	n, _ := fullOf(tb)
	for i := range 3 {
		members = append(members, outcomeOf(tb, row(Int("n", i), Text("kind", "one")), GitHubLabel{target(), "x"}))
	}
	members = append(members, outcomeOf(tb, GitHubLabel{target(), "y"}), outcomeOf(tb, GitHubComment{target(), Say("hi ", n.Version)}), Outcome{})
	return BuildList("r", "abc", listPolicy, members).Encode()
}

func TestAListThatWasNeverWrittenIsEmpty(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "{}", "  {}\n", "\n\t ", "{}\r\n"} {
		if l, err := DecodeList([]byte(s)); l != nil || !errors.Is(err, ErrEmptyList) {
			t.Errorf("%q: %v, %v: want ErrEmptyList", s, l, err)
		}
	}
	for _, s := range []string{"{ }", "null", "[]", "{}{}", "0"} {
		if l, err := DecodeList([]byte(s)); l != nil || err == nil || errors.Is(err, ErrEmptyList) {
			t.Errorf("%q: %v, %v: want malformed, which is not empty", s, l, err)
		}
	}
}

// White space and the order of keys are a formatter's business. All else that
// was changed by hand is refused.
func TestDecodeListRefusesWhatWasChangedByHand(t *testing.T) {
	t.Parallel()
	good := string(sampleList(t))
	if _, err := DecodeList([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ from, to string }{
		"total":                     {`"outcomes": 6,`, `"outcomes": 7,`},
		"total as a fraction":       {`"outcomes": 6,`, `"outcomes": 6.0,`},
		"total as a string":         {`"outcomes": 6,`, `"outcomes": "6",`},
		"total missing":             {`"outcomes": 6,`, ``},
		"count of a class":          {`{"outcomes": 3,`, `{"outcomes": 2,`},
		"count of a class, null":    {`{"outcomes": 3,`, `{"outcomes": null,`},
		"schema":                    {`"outcomes.v1"`, `"outcomes.v2"`},
		"schema twice":              {`"schema": "outcomes.v1",`, `"schema": "outcomes.v1", "schema": "outcomes.v1",`},
		"schema in capitals":        {`"schema"`, `"Schema"`},
		"unknown key":               {`"recipe": "r",`, `"recipe": "r", "note": 1,`},
		"unknown key of a class":    {`{"outcomes": 3,`, `{"note": 1, "outcomes": 3,`},
		"unknown key of an action":  {`"label": "y"}, "content"`, `"label": "y"}, "note": {}, "content"`},
		"unknown kind":              {`github.comment 1`, `github.comments 1`},
		"kind of another case":      {`github.comment 1`, `GitHub.comment 1`},
		"number of an action":       {`"github.comment 1": `, `"github.comment 2": `},
		"number of another form":    {`"github.comment 1"`, `"github.comment 01"`},
		"numbers swapped":           {`"label": "x"`, `"label": "z"`},
		"an action of no class":     {`"actions": {`, `"actions": {"github.close 1": {"decision": "never", "address": {}, "content": {}}, `},
		"an action twice":           {`"actions": {`, `"actions": {"github.comment 1": {}, `},
		"an action again":           {`"actions": {`, `"actions": {"github.comment 2": {"decision": "ask", "address": {"issue": "@target"}, "content": {"body": ["hi ","@version"]}}, `},
		"a class of no action":      {`["github.comment 1"]`, `["github.comment 2"]`},
		"an action null":            {`["github.comment 1"]`, `[null]`},
		"entries null":              {`"actions": {`, `"actions": null, "x": {`},
		"one word, spelt out":       {`"decision": "ask"`, `"decision": {"system": "ask", "trigger": "ask", "authorized": "ask", "unverified": "ask"}`},
		"one word unknown":          {`"decision": "ask"`, `"decision": "maybe"`},
		"one word null":             {`"decision": "ask"`, `"decision": null`},
		"one word missing":          {`"decision": "ask", `, ``},
		"one value more":            {`{"oneof": [0, 1, 2]}`, `{"oneof": [0, 1, 2, 3]}`},
		"one value fewer":           {`{"oneof": [0, 1, 2]}`, `{"oneof": [0, 1]}`},
		"values out of order":       {`{"oneof": [0, 1, 2]}`, `{"oneof": [1, 0, 2]}`},
		"a value twice":             {`{"oneof": [0, 1, 2]}`, `{"oneof": [0, 1, 1]}`},
		"a value twice, spelt anew": {`{"oneof": [0, 1, 2]}`, `{"oneof": [0, 1, 1.0]}`},
		"one of one":                {`"label": "y"`, `"label": {"oneof": ["y"]}`},
		"one of none":               {`"label": "y"`, `"label": {"oneof": []}`},
		"one of null":               {`"label": "y"`, `"label": {"oneof": null}`},
		"one of a product":          {`{"oneof": [0, 1, 2]}`, `{"oneof": [0, 1, {"oneof": [2, 3]}]}`},
		"another operator":          {`"label": "y"`, `"label": {"anyof": ["y", "z"]}`},
		"operators mixed":           {`{"oneof": [0, 1, 2]}`, `{"oneof": [0, 1, 2], "not": []}`},
		"parameter twice":           {`"label": "y"`, `"label": "y", "label": "y"`},
		"two parameters in one":     {`"issue": "@target", "label": "y"`, `"issue alabel": "@target"`},
		"two actions in one":        {`"label": "y"`, "\"label\\ngithub.label aissue\": \"y\""},
		"parameter without a name":  {`"label": "y"`, `"": "y"`},
		"decision unknown":          {`"unverified": "never"}, "address": {"issue": "@target", "label": "y"}`, `"unverified": "maybe"}, "address": {"issue": "@target", "label": "y"}`},
		"decision null":             {`"unverified": "never"}, "address": {"issue": "@target", "label": "y"}`, `"unverified": null}, "address": {"issue": "@target", "label": "y"}`},
		"decision missing":          {`, "unverified": "never"}, "address": {"issue": "@target", "label": "y"}`, `}, "address": {"issue": "@target", "label": "y"}`},
		"label unknown":             {`"unverified": "never"}, "address": {"issue": "@target", "label": "y"}`, `"unverified": "never", "self": "auto"}, "address": {"issue": "@target", "label": "y"}`},
		"address missing":           {`"address": {"issue": "@target", "label": "y"}, `, ``},
		"address null":              {`"address": {"issue": "@target", "label": "y"}`, `"address": null`},
		"content missing":           {`"label": "y"}, "content": {}}`, `"label": "y"}}`},
		"content null":              {`"label": "y"}, "content": {}}`, `"label": "y"}, "content": null}`},
		"actions null":              {`"actions": []`, `"actions": null`},
		"actions missing":           {`, "actions": []`, ``},
		"a class twice":             {`"actions": []}`, `"actions": []}, {"outcomes": 1, "actions": []}`},
		"a class out of order":      {`"actions": []}`, `"actions": ["github.label 2"]}, {"outcomes": 1, "actions": []}`},
		"an action more":            {`"actions": []}`, `"actions": ["github.label 2"]}`},
		"classes null":              {good[strings.Index(good, `"classes"`):], `"classes": null}`},
		"trailing data":             {"]\n}\n", "]\n}\n{}"},
		"cut short":                 {"]\n}\n", "]\n"},
		"bad UTF-8":                 {`"recipe": "r"`, "\"recipe\": \"\xff\""},
	} {
		edited := strings.Replace(good, c.from, c.to, 1)
		if edited == good {
			t.Errorf("%s: nothing was changed", name)
			continue
		}
		if l, err := DecodeList([]byte(edited)); err == nil || l != nil {
			t.Errorf("%s: read %s", name, edited)
		}
	}
}

func TestDecodeListTakesWhatAFormatterWrites(t *testing.T) {
	t.Parallel()
	good := sampleList(t)
	spaced := bytes.ReplaceAll(bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n\t")), []byte(": "), []byte(" :\n"))
	reordered := bytes.Replace(good, []byte("\"recipe\": \"r\",\n  \"shape\": \"abc\""), []byte(`"shape": "abc", "recipe": "r"`), 1)
	for name, b := range map[string][]byte{"spaced": spaced, "reordered": reordered} {
		l, err := DecodeList(b)
		if err != nil || bytes.Equal(b, good) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(l.Encode(), good) {
			t.Errorf("%s: written as %s: want %s", name, l.Encode(), good)
		}
	}
}

// An outcome is admitted only where every parameter is one of the class's,
// the first as well as the last.
func TestAListOfAnotherParameterAdmitsNothing(t *testing.T) {
	t.Parallel()
	o := outcomeOf(t, GitHubLabel{target(), "y"})
	good := BuildList("r", "abc", listPolicy, []Outcome{o}).Encode()
	for from, to := range map[string]string{`"issue": "@target"`: `"issue": "@other"`, `"label": "y"`: `"label": "z"`, "\"address\": {\"issue\"": `"address": {"item"`} {
		l, err := DecodeList(bytes.Replace(good, []byte(from), []byte(to), 1))
		if err != nil || l.Outcomes().Int64() != 1 || l.Admits(o) {
			t.Errorf("%s: %v: want a list that does not admit the outcome", to, err)
		}
	}
}

func TestDecodeListIsBounded(t *testing.T) {
	t.Parallel()
	good := sampleList(t)
	full := slices.Concat(good, bytes.Repeat([]byte(" "), MaxListBytes-len(good)))
	if _, err := DecodeList(full); err != nil {
		t.Errorf("%d bytes: %v", len(full), err)
	}
	if _, err := DecodeList(append(full, ' ')); err == nil {
		t.Errorf("%d bytes pass: want at most %d", len(full)+1, MaxListBytes)
	}
}

// Whatever is read is a list that is written and read again as it is.
func FuzzDecodeList(f *testing.F) {
	f.Add(sampleList(f))
	f.Add([]byte("{}"))
	f.Add(BuildList("", "", nil, nil).Encode())
	f.Add([]byte(`{"schema":"outcomes.v1","recipe":"","shape":"","policy":"","outcomes":2,"actions":{"table.row 1":{"decision":{"system":"auto","trigger":"ask","authorized":"never","unverified":"never"},"address":{"table":"t"},"content":{"x":{"oneof":["@@",1e2]}}}},"classes":[{"outcomes":2,"actions":["table.row 1"]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeList(b)
		if err != nil {
			if l != nil {
				t.Fatal("a list beside the error")
			}
			return
		}
		encoded := l.Encode()
		again, err := DecodeList(encoded)
		if err != nil {
			t.Fatalf("written as %s and not read again: %v", encoded, err)
		}
		if !bytes.Equal(again.Encode(), encoded) || again.Outcomes().Cmp(l.Outcomes()) != 0 || again.Classes() != l.Classes() {
			t.Fatalf("written as %s, then as %s", encoded, again.Encode())
		}
		l.Admits(Outcome{})
	})
}
