package authority

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// document reads a template of testdata.
func document(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// object is a JSON object that a test changes.
type object = map[string]any

// change decodes a template afresh, changes it and encodes it again.
func change(t testing.TB, doc []byte, with func(resources object)) []byte {
	t.Helper()
	var root object
	if err := json.Unmarshal(doc, &root); err != nil {
		t.Fatal(err)
	}
	with(root["Resources"].(object))
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// id is the logical id that CDK gave to a construct of the fixtures.
func id(t testing.TB, resources object, typ, stem string) string {
	t.Helper()
	var found []string
	for k, r := range resources {
		if r.(object)["Type"] == typ && len(k) == len("Pipeline"+stem)+8 && strings.HasPrefix(k, "Pipeline"+stem) {
			found = append(found, k)
		}
	}
	if len(found) != 1 {
		t.Fatalf("want one %s named %s, got %v", typ, stem, found)
	}
	return found[0]
}

func props(resources object, id string) object { return resources[id].(object)["Properties"].(object) }

// judge is the whole proof: the error of Compute, or the violations.
func judge(doc []byte) string {
	table, err := Compute(doc)
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, v := range table.Compare(Decant()) {
		lines = append(lines, v.String())
	}
	return strings.Join(lines, "\n")
}

func TestTheTemplateIsAsExpected(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("want templates in testdata, got %v, %v", files, err)
	}
	golden, err := filepath.Glob("../testdata/template*.golden.json")
	if err != nil || len(golden) == 0 {
		t.Fatalf("want the template that is deployed in ../testdata, got %v, %v", golden, err)
	}
	for _, file := range append(files, golden...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := judge(b); got != "" {
			t.Errorf("%s: want no violation, got\n%s", file, got)
		}
	}
}

func TestTheTableIsShownAsReviewed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"template", "isolated"} {
		table, err := Compute(document(t, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		got, file := table.String(), filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the table differs from the golden file; run go test -update and review it", name)
		}
		for _, line := range strings.Split(got, "\n") {
			if len(line) > width && strings.Contains(strings.TrimSpace(line), ", ") {
				t.Errorf("%s: want at most %d columns, got %q", name, width, line)
			}
		}
	}
}

// The table does not depend on the order in which a template names things.
func TestTheTableIsCanonical(t *testing.T) {
	t.Parallel()
	doc := document(t, "isolated.json")
	plain, err := Compute(doc)
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := Compute(change(t, doc, func(resources object) {
		for _, r := range resources {
			p, _ := r.(object)["Properties"].(object)
			if d, ok := p["PolicyDocument"].(object); ok {
				slices.Reverse(d["Statement"].([]any))
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if plain.String() != sorted.String() {
		t.Errorf("want the same table, got\n%s", sorted)
	}
}

func TestEgressIsEnforcedOnlyWhereNothingLeavesTheNetwork(t *testing.T) {
	t.Parallel()
	doc := document(t, "isolated.json")
	egress := func(with func(object)) (out []Egress) {
		table, err := Compute(change(t, doc, with))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range table.Egress {
			if strings.Contains(e.Function, "Extract") {
				out = append(out, e)
			} else if e.Enforced || len(e.Subnets) > 0 {
				t.Errorf("%s: want no network, got %v", e.Function, e)
			}
		}
		return out
	}
	for _, e := range egress(func(object) {}) {
		want := []string{"bedrock-runtime (any of its resources)", "s3 (any of its resources)"}
		if !e.Enforced || !slices.Equal(e.Endpoints, want) || len(e.Subnets) != 2 {
			t.Errorf("want it enforced, with %v, got %v", want, e)
		}
	}
	for name, with := range map[string]func(object){
		"a route": func(r object) {
			r["Out"] = object{"Type": "AWS::EC2::Route", "Properties": object{"DestinationCidrBlock": "0.0.0.0/0"}}
		},
		"a gateway": func(r object) { r["Out"] = object{"Type": "AWS::EC2::InternetGateway"} },
		"a subnet from elsewhere": func(r object) {
			for _, f := range []string{"ExtractRest", "ExtractUnverified"} {
				config := props(r, id(t, r, "AWS::Lambda::Function", f))["VpcConfig"].(object)
				config["SubnetIds"] = []any{"subnet-0123456789abcdef0"}
			}
		},
	} {
		for _, e := range egress(with) {
			if e.Enforced {
				t.Errorf("%s: want egress not enforced", name)
			}
		}
	}
}
