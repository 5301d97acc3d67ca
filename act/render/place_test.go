package render

import (
	"reflect"
	"slices"
	"testing"

	"decant.dev/act/plan"
)

// Every parameter of every kind has a place, found by reflection, so that a
// new kind or a new parameter is a decision.
func TestEveryParameterOfEveryKindHasAPlace(t *testing.T) {
	t.Parallel()
	for _, k := range plan.AllKinds() {
		typ := reflect.TypeOf(k.Trait().New())
		for i := range typ.NumField() {
			f := typ.Field(i)
			for _, tag := range []string{"address", "content"} {
				name, ok := f.Tag.Lookup(tag)
				if !ok {
					continue
				}
				place, ok := For(k, name)
				if !ok || !slices.Contains(Places(), place) {
					t.Errorf("%s: parameter %s has no place", k, name)
				}
				// What a person writes and others read must be rendered.
				if f.Type == reflect.TypeFor[plan.Template]() && k.Trait().Speaks && place == Verbatim {
					t.Errorf("%s: the template %s is not rendered", k, name)
				}
			}
		}
		if place, ok := For(k, "Not a name"); ok {
			t.Errorf("%s: a parameter of no name is written as %s", k, place)
		}
	}
	for _, p := range []struct {
		kind  plan.Kind
		param string
	}{{"", "body"}, {"github.wiki", "body"}, {plan.KindGitHubComment, ""}, {plan.KindGitHubComment, "title"}, {plan.KindGitHubLabel, "reason"}, {plan.KindGitHubClose, "label"}} {
		if place, ok := For(p.kind, p.param); ok {
			t.Errorf("%q of %q is written as %s", p.param, p.kind, place)
		}
	}
	if place, ok := For(plan.KindTableRow, "any_column"); !ok || place != Verbatim {
		t.Errorf("a column is written as %s, %v", place, ok)
	}
}

func TestAPlaceThatDoesNotExistWritesNothing(t *testing.T) {
	t.Parallel()
	for _, p := range []Place{0, InPlain + 1, 255} {
		if s, ok := p.Text("a"); ok || s != "" || p.String() != "invalid" {
			t.Errorf("%d, %s, wrote %q", p, p, s)
		}
		if s, ok := p.Pieces(said("a", "b", "…")); ok || s != "" {
			t.Errorf("%d wrote %q", p, s)
		}
		if s, ok := p.Pieces(said("a", "…")); ok || s != "" {
			t.Errorf("%d wrote %q", p, s)
		}
	}
}

func TestEachPlaceUsesItsRenderer(t *testing.T) {
	t.Parallel()
	const s = "<a> @b \"c\" `d` \x1b ::e"
	seen := map[string]Place{}
	for _, p := range Places() {
		got, ok := p.Text(s)
		if before, twice := seen[got]; !ok || twice {
			t.Errorf("%s writes %q, %v, as %s does", p, got, ok, before)
		}
		seen[got] = p
		alone, ok := p.Pieces(said(s, "…"))
		if !ok || alone != got {
			t.Errorf("%s: alone %q, %v: want %q", p, alone, ok, got)
		}
		beside, ok := p.Pieces(said(s, "so: ", "…", "!"))
		switch p {
		case InCSV, InJSON:
			if ok {
				t.Errorf("%s put a constant beside a whole cell or string: %q", p, beside)
			}
		default:
			if want := "so: " + got + "!"; !ok || p != InMarkdown && beside != want {
				t.Errorf("%s: among constants %q, %v: want %q", p, beside, ok, want)
			}
		}
	}
	if len(seen) != int(InPlain) {
		t.Errorf("%d places: want %d", len(seen), InPlain)
	}
}
