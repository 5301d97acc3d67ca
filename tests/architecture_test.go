package tests

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "decant.dev"

// deps lists everything that a package links, itself included, without tests.
func deps(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", pkg).Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

// links reports the first dependency that is the named package or, for a
// module's package, below it. The standard library is matched to the letter:
// net/netip opens no connection and net does.
func links(deps []string, name string) string {
	for _, d := range deps {
		if d == name || strings.Contains(name, ".") && strings.HasPrefix(d, name+"/") {
			return d
		}
	}
	return ""
}

// forbidden says what a package must not link. A "…/intake" stands for every
// package of that name under recipes.
var forbidden = []struct {
	pkg  string
	deny []string
	why  string
}{
	{"/fence", []string{module + "/", "net", "net/http", "os/exec"}, "fence imports nothing of ours, and does no I/O"},
	{"/fence/conformance", []string{module + "/"}, "an adapter is judged by what fence alone says"},
	{"/extract/shape", []string{module + "/"}, "shape imports nothing of ours"},
	{"/act/plan", []string{module + "/fence", module + "/fetch", module + "/pipeline", "net/http", "database/sql"}, "plan is pure"},
	{"/pipeline", []string{module + "/fence", module + "/fetch", module + "/pipeline/local", module + "/events", "net/http", "database/sql"}, "pipeline is what every phase may import"},
	{"/pipeline/approval", append([]string{module + "/act", module + "/extract"}, phasesDeny...), "the rules of approvals are pure, and what records answers links no sink"},
	{"/act", phasesDeny, "act has never seen a byte of the text"},
	{"/act/table", phasesDeny, "a sink is part of act"},
	{"/act/render", []string{module + "/", "net/http", "os/exec", "database/sql"}, "a renderer is pure, and knows plan and shape only"},
	{"/act/message", phasesDeny, "what a message holds is pure"},
	{"/act/credential", []string{module + "/", "net", "net/http"}, "a secret is shown to nobody"},
	{"/act/internal/wire", []string{module + "/", "github.com/google/go-github/v82"}, "an HTTP call of a sink knows of no sink"},
	{"/act/queue", phasesDeny, "a queue of files opens no connection"},
	{"/act/github", sinksDeny, "a sink is part of act"},
	{"/act/webhook", append([]string{"github.com/google/go-github/v82"}, sinksDeny...), "a sink is part of act"},
	{"/recipes/inbox", append([]string{"…/intake"}, phasesDeny...), "act links the recipe"},
	{"/fetch/mail", []string{module + "/act", module + "/extract/rules", module + "/events", module + "/pipeline/local", "os/exec", "modernc.org/sqlite"}, "a mail is part of fetch, whose parser links database/sql and no driver"},
	{"/recipes/advisories", append([]string{"…/intake"}, phasesDeny...), "act links the recipe"},
	{"/recipes/issues", append([]string{"…/intake"}, phasesDeny...), "act links the recipe"},
	{"/examples/orders", append([]string{"…/intake", module + "/examples/orders/intake"}, phasesDeny...), "act links the recipe"},
	{"/examples/orders/source", []string{module + "/act", module + "/fence", module + "/fetch", module + "/extract", module + "/pipeline/local", "database/sql"}, "the ingress links the source"},
	{"/extract", []string{module + "/act", module + "/fetch", module + "/pipeline/local", module + "/events", "database/sql"}, "extract links nothing of act but plan"},
	{"/extract/rules", []string{module + "/act", module + "/fetch", module + "/pipeline/local", module + "/events", "database/sql"}, "an extractor is part of extract"},
	{"/extract/cascade", []string{module + "/act", module + "/fetch", module + "/pipeline/local", module + "/events", "net/http", "database/sql"}, "an extractor is part of extract"},
	{"/extract/replay", []string{module + "/act", module + "/fetch", module + "/pipeline/local", module + "/events", "net/http", "database/sql"}, "an extractor is part of extract"},
	{"/extract/command", []string{module + "/act", module + "/fetch", module + "/pipeline/local", module + "/events", "database/sql"}, "an extractor is part of extract, and is told of its sandbox by nobody"},
	{"/extract/openai", modelsDeny, "an extractor is part of extract"},
	{"/extract/bedrock", modelsDeny, "an extractor is part of extract"},
	{"/extract/internal/attempt", []string{module + "/"}, "it asks again whatever is asked"},
	{"/extract/learned", []string{module + "/act", module + "/fetch", module + "/pipeline/local", module + "/events", "database/sql"}, "an extractor is part of extract"},
	{"/fetch", []string{module + "/act", module + "/extract/rules", module + "/pipeline/local", "database/sql"}, "fetch starts no run and writes nothing but raw text"},
	{"/pipeline/local/clock", []string{module + "/act", module + "/fence", module + "/fetch", module + "/extract", module + "/pipeline/local", "…/intake", "database/sql"}, "a clock holds nothing but the time"},
	{"/fetch/web", []string{module + "/act", module + "/extract", module + "/fence", module + "/fetch", module + "/events", module + "/pipeline/local", module + "/pipeline/aws", "os/exec", "database/sql"}, "what reads the network reads nothing else"},
	{"/fetch/feed", []string{module + "/act", module + "/extract/rules", module + "/events", module + "/pipeline/local", "os/exec", "database/sql"}, "a feed is part of fetch"},
	{"/fetch/htmltext", []string{module + "/", "net/http", "os/exec", "database/sql"}, "a text is made of bytes alone"},
	{"/pipeline/runcontext", append([]string{"net/http"}, readersDeny...), "a context is built from a bundle and an envelope alone"},
	{"/pipeline/contextapi", readersDeny, "the context API reads what was gathered, and does nothing else"},
	{"/pipeline/local/server", []string{module + "/act", module + "/fence", module + "/fetch", module + "/extract", module + "/pipeline/local", "…/intake", "database/sql"}, "the ingress holds no table and reads no text"},
	{"/pipeline/aws/machine", phasesDeny, "the definition is generated from codes alone"},
	{"/internal/pages", []string{module + "/act", module + "/fence", module + "/fetch", module + "/extract", module + "/events", module + "/pipeline/local", "…/intake", "database/sql"}, "a page shows what it is given"},
	{"/internal/public", []string{module + "/", "net", "net/http"}, "a list of addresses opens no connection"},
	{"/internal/pointer", []string{module + "/", "net", "net/http", "os/exec"}, "a pointer reads the bytes that it is given"},
	{"/internal/hostile", []string{module + "/act", module + "/fetch", module + "/extract", module + "/pipeline", module + "/events", "net", "net/http", "os/exec", "database/sql"}, "an extractor that was taken over has what the extract child has, and no more"},
	{"/infra/authority", []string{module + "/"}, "the proof rests on the template alone"},
	{"/events", []string{module + "/act", module + "/extract/rules", module + "/fence", module + "/fetch", module + "/pipeline/local", "database/sql"}, "ingress holds no table"},
}

var phasesDeny = []string{
	module + "/fence", module + "/fetch", module + "/extract/rules", module + "/events", module + "/pipeline/local",
	"github.com/google/go-github/v82", "github.com/aws/aws-sdk-go-v2/service/s3", "net/http",
}

// modelsDeny is what an extractor that asks a model must not link: what other
// phases hold, and another extractor.
var modelsDeny = []string{
	module + "/act", module + "/fetch", module + "/events", module + "/recipes", module + "/pipeline/local", module + "/pipeline/aws", module + "/extract/rules",
	"database/sql", "os/exec", "github.com/aws/aws-sdk-go-v2/config", "github.com/aws/aws-sdk-go-v2/service/s3", "github.com/aws/aws-sdk-go-v2/service/dynamodb",
}

// sinksDeny is phasesDeny for sinks that are reached by HTTP.
var sinksDeny = []string{
	module + "/fence", module + "/fetch", module + "/extract/rules", module + "/events", module + "/pipeline/local", "…/intake",
	"github.com/aws/aws-sdk-go-v2", "database/sql",
}

var readersDeny = []string{
	module + "/act", module + "/fetch", module + "/extract", module + "/events", module + "/pipeline/local", "…/intake", "database/sql",
	"github.com/google/go-github/v82", "github.com/aws/aws-sdk-go-v2",
}

// allowed are exceptions: what the pure packages below a phase bring along.
var allowed = map[string][]string{
	"/pipeline/approval":        {module + "/act/plan", module + "/extract/shape"},
	"/act/credential":           {module + "/act/credential"},
	"/act":                      {module + "/act/plan", module + "/act/table", module + "/extract/shape"},
	"/extract":                  {module + "/act/plan"},
	"/extract/cascade":          {module + "/act/plan"},
	"/extract/replay":           {module + "/act/plan"},
	"/extract/rules":            {module + "/act/plan"},
	"/extract/command":          {module + "/act/plan"},
	"/extract/openai":           {module + "/act/plan"},
	"/extract/bedrock":          {module + "/act/plan"},
	"/extract/internal/attempt": {module + "/extract/internal/attempt"},
	"/fetch":                    {module + "/act/plan"},
	"/fetch/feed":               {module + "/act/plan"},
	"/pipeline/local/clock":     {module + "/act/plan", module + "/extract/shape", module + "/pipeline/local/clock"},
	"/fetch/web":                {module + "/act/plan", module + "/extract/shape", module + "/fetch/web"},
	"/fetch/htmltext":           {module + "/fetch/htmltext"},
	"/events":                   {module + "/act/plan"},
	"/fence":                    {module + "/fence"},
	"/fence/conformance":        {module + "/fence", module + "/fence/conformance"},
	"/infra/authority":          {module + "/infra/authority"},
	"/extract/shape":            {module + "/extract/shape"},
	"/recipes/inbox":            {module + "/recipes/inbox"},
	"/fetch/mail":               {module + "/act/plan"},
	"/recipes/advisories":       {module + "/recipes/advisories"},
	"/examples/orders/source":   {module + "/act/plan", module + "/extract/shape"},
	"/recipes/issues":           {module + "/recipes/issues"},
	"/pipeline/local/server":    {module + "/act/plan", module + "/extract/shape", module + "/pipeline/local/server"},
	"/pipeline/runcontext":      {module + "/act/plan", module + "/extract/shape"},
	"/pipeline/contextapi":      {module + "/act/plan", module + "/extract/shape"},
	"/internal/pages":           {module + "/act/plan", module + "/extract/shape"},
	"/internal/public":          {module + "/internal/public"},
	"/extract/learned":          {module + "/act/plan"},
	"/internal/pointer":         {module + "/internal/pointer"},
	"/internal/hostile":         {module + "/internal/hostile"},
	"/act/render":               {module + "/act/plan", module + "/act/render", module + "/extract/shape"},
	"/act/internal/wire":        {module + "/act/internal/wire"},
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	for _, rule := range forbidden {
		t.Run(rule.pkg, func(t *testing.T) {
			t.Parallel()
			all := deps(t, module+rule.pkg)
			var left []string
			for _, d := range all {
				if !slices.Contains(allowed[rule.pkg], d) {
					left = append(left, d)
				}
			}
			for _, deny := range rule.deny {
				if deny == "…/intake" {
					for _, d := range left {
						if strings.HasPrefix(d, module+"/recipes/") && strings.HasSuffix(d, "/intake") {
							t.Errorf("links %s: %s", d, rule.why)
						}
					}
					continue
				}
				if d := links(left, strings.TrimSuffix(deny, "/")); d != "" {
					t.Errorf("links %s: %s", d, rule.why)
				}
			}
		})
	}
}

// Every package of the module stands in the rules or in a list of those that
// may link anything, so that a new one is a decision.
func TestEveryPackageHasARule(t *testing.T) {
	t.Parallel()
	free := []string{
		"", "/cli", "/tests", "/pipeline/local", "/pipeline/local/broker", "/pipeline/local/sandbox", "/pipeline/local/store",
		"/recipes/advisories/intake", "/recipes/inbox/intake", "/recipes/issues/intake", "/examples/orders/intake", "/infra", "/infra/app", "/internal/attack", "/internal/escape", "/internal/inputs", "/internal/terminal",
	}
	// What the functions link is ruled in functions/architecture_test.go.
	below := []string{"/functions", "/pipeline/aws", "/internal/conformance"}
	out, err := exec.Command("go", "list", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		name := strings.TrimPrefix(pkg, module)
		ruled := slices.ContainsFunc(forbidden, func(r struct {
			pkg  string
			deny []string
			why  string
		}) bool {
			return r.pkg == name
		})
		elsewhere := slices.ContainsFunc(below, func(root string) bool { return name == root || strings.HasPrefix(name, root+"/") })
		if !ruled && !elsewhere && !slices.Contains(free, name) {
			t.Errorf("%s: want a rule of what it may not link", pkg)
		}
	}
}
