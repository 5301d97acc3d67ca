package infra

import (
	"testing"

	"decant.dev/infra/authority"
)

func TestTemplateMatchesTheGoldenFile(t *testing.T) {
	golden(t, "template.golden.json", synthesized(t, "default").raw)
}

// The proof holds for every form that a pipeline can be deployed in.
func TestEveryVariantGivesEachPhaseOnlyWhatItMayHold(t *testing.T) {
	for name := range variants {
		table, err := authority.Compute(synthesized(t, name).raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, violation := range table.Compare(authority.Decant(variants[name].props.Model.Resources()...)) {
			t.Errorf("%s: %s", name, violation)
		}
	}
}
