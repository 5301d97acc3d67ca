package functions

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "decant.dev"
	services = "github.com/aws/aws-sdk-go-v2/service/"
)

// reads are the packages through which text of strangers goes.
var reads = []string{module + "/fence", module + "/fetch", module + "/extract", module + "/events", "github.com/google/go-github/v82"}

// links says what each function links: exactly these services of AWS, and
// none of the packages that are denied. An exception is a package below a
// denied one. A "…/intake" stands for every package of that name.
var links = map[string]struct {
	services []string
	deny     []string
	except   []string
}{
	"ingress": {[]string{"s3", "secretsmanager", "sfn"}, []string{module + "/fence", module + "/fetch", module + "/extract", module + "/act", "…/intake", "github.com/google/go-github/v82"},
		[]string{module + "/extract/shape", module + "/act/plan"}},
	"fetch":   {[]string{"dynamodb", "s3"}, []string{module + "/act", module + "/events"}, []string{module + "/act/plan"}},
	"extract": {[]string{"s3"}, []string{module + "/act", module + "/events"}, []string{module + "/act/plan"}},
	"context": {[]string{"dynamodb", "s3"}, []string{module + "/act", module + "/events", module + "/fetch", module + "/extract", module + "/recipes", "…/intake", "github.com/google/go-github/v82"},
		[]string{module + "/extract/shape", module + "/act/plan"}},
	"act":     {[]string{"dynamodb"}, append([]string{"…/intake"}, reads...), []string{module + "/extract/shape"}},
	"sweep":   {[]string{"dynamodb", "s3", "sfn"}, append([]string{"…/intake", module + "/recipes", module + "/act"}, reads...), []string{module + "/extract/shape", module + "/act/plan"}},
	"approve": {[]string{"dynamodb", "sfn"}, append([]string{"…/intake", module + "/recipes", module + "/act"}, reads...), []string{module + "/extract/shape", module + "/act/plan"}},
}

// never are linked by no function.
var never = []string{
	module + "/pipeline/local", module + "/cli", module + "/infra", "database/sql", "modernc.org/sqlite", "os/exec", "plugin", "net/rpc",
	"github.com/aws/aws-sdk-go-v2/config", "github.com/aws/aws-sdk-go-v2/feature", "github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go",
}

func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-tags", "lambda.norpc"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

// below reports whether a package is the named one or, for a module's
// package, below it. The standard library is matched to the letter:
// database/sql/driver opens no database and database/sql does.
func below(pkg, root string) bool {
	return pkg == root || strings.Contains(root, ".") && strings.HasPrefix(pkg, root+"/")
}

func denied(pkg, rule string) bool {
	if rule == "…/intake" {
		return strings.HasPrefix(pkg, module+"/recipes/") && strings.HasSuffix(pkg, "/intake")
	}
	return below(pkg, rule)
}

func TestEachFunctionLinksOnlyWhatItsRoleNeeds(t *testing.T) {
	t.Parallel()
	names := list(t, module+"/functions/...")
	if len(names) != len(links)+1 {
		t.Errorf("got %d packages, want a rule for each function: %v", len(names)-1, names)
	}
	for _, pkg := range names {
		name := strings.TrimPrefix(strings.TrimPrefix(pkg, module+"/functions"), "/")
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule, ok := links[name]
			if !ok {
				t.Fatal("want a rule of what it may link")
			}
			var used []string
			for _, d := range list(t, "-deps", pkg) {
				if rest, ok := strings.CutPrefix(d, services); ok && !strings.HasPrefix(rest, "internal/") && !strings.Contains(rest, "/") {
					used = append(used, rest)
				}
				if d == pkg || slices.ContainsFunc(rule.except, func(e string) bool { return below(d, e) }) {
					continue
				}
				for _, deny := range append(slices.Clone(rule.deny), never...) {
					if denied(d, deny) {
						t.Errorf("links %s, which %s denies", d, deny)
					}
				}
			}
			slices.Sort(used)
			if !slices.Equal(used, rule.services) {
				t.Errorf("links the services %v, want %v", used, rule.services)
			}
		})
	}
}
