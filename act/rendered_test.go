package act

import (
	"testing"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// What a stranger wrote is text where it is put: code in a comment, and as it
// is in a table, beside its source and label.
func TestAQuoteIsRenderedForItsPlace(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	for quote, code := range map[string]string{
		"@octo-org/team closes #12":   "`@octo-org/team closes #12`",
		"[a](https://example.com)":    "`[a](https://example.com)`",
		"` @a <img src=x> `":          "`` ` @a <img src=x> ` ``",
		"${{ github.token }}":         "`$⟦U+007B⟧{ github.token }}`",
		"##[error]it broke":           "`#⟦U+0023⟧[error]it broke`",
		"it fails: v1.2.3, since May": "`it fails: v1.2.3, since May`",
	} {
		h, _ := handlerOf(r, false)
		out := run(t, h, input("own.words", maintainer, `{"kind":"speak","parts":[],"quote":`+spell(quote)+`}`))
		if out.Status != pipeline.Staged || len(out.Actions) != 2 {
			t.Fatalf("%q: %+v", quote, out)
		}
		if got, want := out.Actions[0].Params["body"], "on `octo-org/sample#12` you wrote: "+code; got != want {
			t.Errorf("body %q: want %q", got, want)
		}
		if got := out.Actions[1].Params["quote"]; got != quote {
			t.Errorf("the row holds %q: want %q", got, quote)
		}
	}
}

// A template whose constants would open a text up is refused, whoever runs it,
// and so is a parameter that has no place.
func TestAParameterWithoutAPlaceIsNotWritten(t *testing.T) {
	t.Parallel()
	s := spec()
	s.Plan = func(r report, at plan.Target) []plan.Action {
		if r.Quote == nil {
			return nil
		}
		return []plan.Action{plan.GitHubComment{Issue: at.Ref(), Body: plan.Say("<b title='", r.Quote, "'>")}}
	}
	h, m := handlerOf(listed(t, s), true)
	out := run(t, h, input("own.words", maintainer, `{"kind":"row","parts":[],"quote":"x"}`))
	if out.Status == pipeline.Staged || out.Code != pipeline.PlanFailed || len(out.Actions) != 0 {
		t.Errorf("got %+v", out)
	}
	untouched(t, m)
	for _, k := range []plan.Kind{"github.wiki", plan.KindGitHubComment} {
		if got, _, ok := resolve(k, []plan.Param{{Name: "words"}}, plan.Resolver{}); ok {
			t.Errorf("%s wrote %v", k, got)
		}
	}
}
