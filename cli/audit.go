package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/infra/authority"
	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
)

const auditUsage = `Usage: decant audit [--json] [--write] [RECIPE...]

Audit computes all that a recipe could ever do: its fields, how many bits its
structure can say, and every outcome of its plan, with what policy decides for
each label. It exits with 1 on a breach: a shape over its limits, an action
that policy does not name, a text in an automatic action that speaks, a handle
in an address, a sink that more can read than the sources, or an outcome list
that is empty or stale. Where the list is stale, the page says what could newly
happen and what no longer could.

  --json    print one audit.v1 object a line
  --template FILE
            instead, print who may do what by a synthesized CloudFormation
            template of decant's, and exit with 1 where that is more or less
            than the phases are to hold
  --model ARN
            with --template: a model, inference profile or guardrail of
            Bedrock that extract is to ask; once for each
  --hook NAME
            with --template: a webhook beside GitHub's, as NAME:unsigned where
            it has no secret; once for each
  --write   write outcomes.json beside the recipe, for review; act enforces
            the list that was built in, so a rebuild is due

Example:
  decant audit issues
`

// auditReport is audit.v1.
type auditReport struct {
	Schema     string               `json:"schema"`
	Recipe     string               `json:"recipe"`
	Bits       auditBits            `json:"bits"`
	MaxBytes   int                  `json:"max_bytes"`
	Outcomes   int64                `json:"outcomes"`
	Fields     []auditField         `json:"fields"`
	Violations []pipeline.Violation `json:"violations"`

	list  *plan.List // as computed now; nil where it cannot be
	built *plan.List // as built in, in force or not; nil where it cannot be read
	fresh bool       // the two are the same
}

type auditBits struct {
	Decide float64 `json:"decide"`
	Carry  float64 `json:"carry"`
	Total  float64 `json:"total"`
}

type auditField struct {
	Name string  `json:"name"`
	Kind string  `json:"kind"`
	Bits float64 `json:"bits"`
}

func (a *App) audit(_ context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("audit", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	write := flags.Bool("write", false, "")
	template := flags.String("template", "", "")
	var models []string
	flags.Func("model", "", func(arn string) error { models = append(models, arn); return nil })
	var hooks []authority.Hook
	flags.Func("hook", "", func(word string) error {
		name, unsigned := strings.CutSuffix(word, ":unsigned")
		if !events.IsHookName(name) {
			return errors.New("want a webhook's name, or that and :unsigned")
		}
		hooks = append(hooks, authority.Hook{Name: name, Unsigned: unsigned})
		return nil
	})
	names, err := a.parse(flags, auditUsage, args)
	if err != nil {
		return 0, err
	}
	if *template != "" {
		if len(names) > 0 || *asJSON || *write {
			return 0, usagef("audit: --template stands alone")
		}
		return a.auditTemplate(*template, models, hooks)
	}
	if len(models)+len(hooks) > 0 {
		return 0, usagef("audit: --model and --hook go with --template")
	}
	recipes, err := a.recipes(names)
	if err != nil {
		return 0, err
	}
	code := exitOK
	all := enumerated(recipes)
	for i, r := range recipes {
		list, violations := all[i].list, all[i].violations
		if *write && list != nil {
			if err := a.writeList(r, list); err != nil {
				return 0, err
			}
		} else {
			violations = append(violations, listViolations(r, list)...)
		}
		report := reportOf(r, list, violations)
		if len(violations) > 0 {
			code = exitFailed
		}
		if *asJSON {
			b, err := json.Marshal(report)
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(a.Stdout, "%s\n", b)
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		page{a.Stdout, r, a.pipelineOf(r), report}.print()
	}
	return code, nil
}

// enumeration is what a recipe could ever do.
type enumeration struct {
	list       *plan.List
	violations []pipeline.Violation
}

// enumerated computes what recipes could ever do, of several at once. Most of
// what is allocated on the way is forgotten at once, so the collector may wait.
func enumerated(recipes []*pipeline.Recipe) []enumeration {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	all := make([]enumeration, len(recipes))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var under sync.WaitGroup
	for i, r := range recipes {
		under.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			all[i].list, all[i].violations = r.Enumerate()
		})
	}
	under.Wait()
	return all
}

// auditTemplate prints the authority that a template gives, and how it differs
// from what each phase is to hold.
func (a *App) auditTemplate(file string, models []string, hooks []authority.Hook) (int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("audit: %w", err)
	}
	table, err := authority.Compute(b)
	if err != nil {
		return 0, fmt.Errorf("audit: %s: %w", terminal.Line(file), err)
	}
	fmt.Fprint(a.Stdout, authority.Render(table))
	violations := table.Compare(authority.Decant(models...).WithHooks(hooks...))
	for _, v := range violations {
		fmt.Fprintf(a.Stdout, "breach: %s\n", v)
	}
	if len(violations) > 0 {
		return exitFailed, nil
	}
	fmt.Fprintln(a.Stdout, "no breach")
	return exitOK, nil
}

// recipes are those of the names, or all.
func (a *App) recipes(names []string) ([]*pipeline.Recipe, error) {
	var out []*pipeline.Recipe
	known := make([]string, 0, len(a.Pipelines))
	for _, p := range a.Pipelines {
		known = append(known, p.Recipe.Name())
		if len(names) == 0 || slices.Contains(names, p.Recipe.Name()) {
			out = append(out, p.Recipe)
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, usagef("audit: no recipe %.64q: want one of %s", n, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// pipelineOf returns the pipeline of a recipe.
func (a *App) pipelineOf(r *pipeline.Recipe) Pipeline {
	for _, p := range a.Pipelines {
		if p.Recipe == r {
			return p
		}
	}
	return Pipeline{}
}

// listViolations compares the list that was built in with the one computed
// now.
func listViolations(r *pipeline.Recipe, list *plan.List) []pipeline.Violation {
	if list == nil {
		return nil
	}
	const mend = ": run decant audit --write, review the difference, and rebuild"
	stale := func(code pipeline.Code, what string) []pipeline.Violation {
		return []pipeline.Violation{{Rule: string(code), Where: "outcomes.json", Mend: what + mend}}
	}
	built, err := plan.DecodeList(r.OutcomesFile())
	switch {
	case errors.Is(err, plan.ErrEmptyList):
		return stale(pipeline.OutcomesEmpty, "the list was never written")
	case err != nil:
		return stale(pipeline.OutcomesStale, "the list is malformed")
	case !bytes.Equal(built.Encode(), list.Encode()):
		return stale(pipeline.OutcomesStale, fmt.Sprintf("the list has %s outcomes and the plan gives %s", built.Outcomes(), list.Outcomes()))
	}
	return nil
}

// writeList writes outcomes.json into the folder of the recipe's package,
// which the go command knows.
func (a *App) writeList(r *pipeline.Recipe, list *plan.List) error {
	pkg := r.Package()
	if pkg == "main" { // the go command knows no package by that path: the program is the one of this folder
		pkg = "."
	}
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return fmt.Errorf("audit: find the folder of %s: want the go command in its module: %w", pkg, err)
	}
	file := filepath.Join(strings.TrimSpace(string(out)), "outcomes.json")
	encoded := list.Encode()
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, encoded) {
		fmt.Fprintf(a.Stderr, "decant: %s: up to date\n", file)
		return nil
	}
	if err := os.WriteFile(file, encoded, 0o644); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	fmt.Fprintf(a.Stderr, "decant: wrote %s: review it; act enforces it once it is rebuilt, which is due\n", file)
	return nil
}

func reportOf(r *pipeline.Recipe, list *plan.List, violations []pipeline.Violation) auditReport {
	up := func(x float64) float64 { return math.Ceil(x*100) / 100 }
	b := r.Bits()
	report := auditReport{
		Schema: "audit.v1", Recipe: r.Name(), Bits: auditBits{up(b.Decide), up(b.Carry), up(b.Total)},
		Fields: []auditField{}, Violations: violations, list: list,
	}
	if violations == nil {
		report.Violations = []pipeline.Violation{}
	}
	if list != nil {
		report.Outcomes = list.Outcomes().Int64() // at most MaxSkeletons for each event
	}
	if built, err := plan.DecodeList(r.OutcomesFile()); err == nil {
		report.built = built
		report.fresh = list != nil && bytes.Equal(built.Encode(), list.Encode())
	}
	if s := r.Shape(); s != nil {
		report.MaxBytes = s.MaxBytes()
		for _, f := range s.Fields() {
			report.Fields = append(report.Fields, auditField{f.Name, f.Kind.String(), up(f.Bits)})
		}
	}
	return report
}
