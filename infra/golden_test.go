package infra

import (
	"testing"

	"decant.dev/infra/authority"
)

func TestTemplateMatchesTheGoldenFile(t *testing.T) {
	golden(t, "template.golden.json", synthesized(t, "default").raw)
	golden(t, "hooked.golden.json", synthesized(t, "hooked").raw)
}

// The proof holds for every form that a pipeline can be deployed in.
func TestEveryVariantGivesEachPhaseOnlyWhatItMayHold(t *testing.T) {
	for name := range variants {
		table, err := authority.Compute(synthesized(t, name).raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var hooks []authority.Hook
		for _, k := range variants[name].props.Hooks {
			hooks = append(hooks, authority.Hook{Name: k.Name, Unsigned: k.Unsigned != ""})
		}
		for _, violation := range table.Compare(authority.Decant(variants[name].props.Model.Resources()...).WithHooks(hooks...)) {
			t.Errorf("%s: %s", name, violation)
		}
	}
}
