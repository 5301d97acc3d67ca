package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/act/plan"
	"decant.dev/infra/authority"
	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
)

const auditUsage = `Usage: decant audit [--json] [--write] [RECIPE...]

Audit computes all that a recipe could ever do: its fields, how many bits its
structure can say, and every outcome of its plan, with what policy decides for
each label. It exits with 1 on a breach: a shape over its limits, an action
that policy does not name, a text in an automatic action that speaks, or an
outcome list that is empty or stale.

  --json    print one audit.v1 object a line
  --template FILE
            instead, print who may do what by a synthesized CloudFormation
            template of decant's, and exit with 1 where that is more or less
            than the phases are to hold
  --model ARN
            with --template: a model, inference profile or guardrail of
            Bedrock that extract is to ask; once for each
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

	list *plan.List
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
	names, err := a.parse(flags, auditUsage, args)
	if err != nil {
		return 0, err
	}
	if *template != "" {
		if len(names) > 0 || *asJSON || *write {
			return 0, usagef("audit: --template stands alone")
		}
		return a.auditTemplate(*template, models)
	}
	if len(models) > 0 {
		return 0, usagef("audit: --model goes with --template")
	}
	recipes, err := a.recipes(names)
	if err != nil {
		return 0, err
	}
	code := exitOK
	for i, r := range recipes {
		list, violations := r.Enumerate()
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
		a.printReport(r, report)
	}
	return code, nil
}

// auditTemplate prints the authority that a template gives, and how it differs
// from what each phase is to hold.
func (a *App) auditTemplate(file string, models []string) (int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("audit: %w", err)
	}
	table, err := authority.Compute(b)
	if err != nil {
		return 0, fmt.Errorf("audit: %s: %w", terminal.Line(file), err)
	}
	fmt.Fprint(a.Stdout, authority.Render(table))
	violations := table.Compare(authority.Decant(models...))
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

// listViolations compares the list that was built in with the one computed
// now.
func listViolations(r *pipeline.Recipe, list *plan.List) []pipeline.Violation {
	if list == nil {
		return nil
	}
	built, code := r.List()
	switch {
	case code != pipeline.OK:
		return []pipeline.Violation{{Rule: string(code), Where: "outcomes.json", Mend: "the list is empty, malformed or for another version of the recipe: run decant audit --write and review it"}}
	case !bytes.Equal(built.Encode(), list.Encode()):
		return []pipeline.Violation{{Rule: string(pipeline.OutcomesStale), Where: "outcomes.json",
			Mend: fmt.Sprintf("the list has %s outcomes and the plan gives %s: run decant audit --write and review the difference", built.Outcomes(), list.Outcomes())}}
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
	fmt.Fprintf(a.Stderr, "decant: wrote %s: review it, then rebuild\n", file)
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
	if s := r.Shape(); s != nil {
		report.MaxBytes = s.MaxBytes()
		for _, f := range s.Fields() {
			report.Fields = append(report.Fields, auditField{f.Name, f.Kind.String(), up(f.Bits)})
		}
	}
	return report
}

func (a *App) printReport(r *pipeline.Recipe, report auditReport) {
	fmt.Fprintf(a.Stdout, "recipe %s\n", report.Recipe)
	fmt.Fprintf(a.Stdout, "  fields\n")
	for _, f := range report.Fields {
		fmt.Fprintf(a.Stdout, "    %-20s %-8s %10.2f bits\n", f.Name, f.Kind, f.Bits)
	}
	fmt.Fprintf(a.Stdout, "  a structure decides %.2f bits, carries %.2f, says %.2f in all, in %d bytes\n", report.Bits.Decide, report.Bits.Carry, report.Bits.Total, report.MaxBytes)
	if report.list != nil {
		fmt.Fprintf(a.Stdout, "  outcomes %d, in %d classes\n", report.Outcomes, report.list.Classes())
	}
	fmt.Fprintf(a.Stdout, "  policy %23s %12s %12s %12s\n", "system", "trigger", "authorized", "unverified")
	for _, k := range r.Policy().Kinds() {
		row := r.Policy()[k]
		fmt.Fprintf(a.Stdout, "    %-20s", k)
		for _, l := range plan.Labels() {
			fmt.Fprintf(a.Stdout, " %-12s", row.For(l))
		}
		fmt.Fprintln(a.Stdout)
	}
	a.printBudgets(r)
	if len(report.Violations) == 0 {
		fmt.Fprintln(a.Stdout, "  no breach")
		return
	}
	for _, v := range report.Violations {
		fmt.Fprintf(a.Stdout, "  breach: %s\n", v)
	}
}

// printBudgets says what bounds how much a recipe does.
func (a *App) printBudgets(r *pipeline.Recipe) {
	if len(r.Budgets()) == 0 {
		fmt.Fprintln(a.Stdout, "  budgets: none, so nothing bounds how often it acts")
		return
	}
	fmt.Fprintln(a.Stdout, "  budgets")
	for _, b := range r.Budgets() {
		most, shares, _ := strings.Cut(b.String(), ", of which ")
		fmt.Fprintf(a.Stdout, "    %s\n", most)
		if shares != "" {
			fmt.Fprintf(a.Stdout, "      of which %s\n", shares)
		}
	}
	if cost := r.RunCost(); cost > 0 {
		fmt.Fprintf(a.Stdout, "    a run may cost %d millionths of a dollar\n", cost)
	}
}
