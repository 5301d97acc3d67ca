package cli

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"decant.dev/extract"
	"decant.dev/extract/learned"
	"decant.dev/internal/terminal"
)

// learnedVariable puts learned models over the extractors of recipes:
// "issues=kind.model", with commas between several. The file is read by the
// parent and by extract children, and by no other phase.
const learnedVariable = "LEARNED_MODELS"

// learnedThreshold is the confidence at which such a model's answer counts.
const learnedThreshold = 60

// absolute is the variable's value with every file's whole path: a child's
// working folder is another.
func absolute(value string) (string, error) {
	var pairs []string
	for pair := range strings.SplitSeq(value, ",") {
		name, file, ok := strings.Cut(pair, "=")
		if !ok || strings.ContainsAny(file, "=") {
			return value, nil // which withLearned refuses
		}
		whole, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		pairs = append(pairs, name+"="+whole)
	}
	return strings.Join(pairs, ","), nil
}

// withLearned returns the pipelines with the models that the variable names. In
// a child of another phase the variable is not set, and nothing is read.
func withLearned(pipelines []Pipeline, value string) ([]Pipeline, error) {
	if value == "" {
		return pipelines, nil
	}
	pipelines = slices.Clone(pipelines)
	for pair := range strings.SplitSeq(value, ",") {
		name, file, ok := strings.Cut(pair, "=")
		i := slices.IndexFunc(pipelines, func(p Pipeline) bool { return p.Recipe.Name() == name })
		if !ok || i < 0 {
			return nil, usagef("%s: want RECIPE=FILE of a recipe that is built in, with commas between, got %.64q", learnedVariable, pair)
		}
		model, err := readModel(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", learnedVariable, terminal.Line(file), err)
		}
		p := pipelines[i]
		base, s := p.Extractor, p.Recipe.Shape()
		if _, err := learned.Over(s, base(nil), model, learned.Options{Threshold: learnedThreshold}); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", learnedVariable, terminal.Line(file), err)
		}
		p.Extractor = func(c *http.Client) extract.Extractor {
			x, err := learned.Over(s, base(c), model, learned.Options{Threshold: learnedThreshold})
			if err != nil {
				panic(err) // it was possible above
			}
			return told{x}
		}
		pipelines[i] = p
	}
	return pipelines, nil
}

// told is a learned extractor whose child has to be told of the file too.
type told struct{ *learned.Extractor }

// Environment lists the variable that names the model.
func (told) Environment() []string { return []string{learnedVariable} }
