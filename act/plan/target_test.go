package plan

import "testing"

// An audit learns whether a plan looked at the event, and only by its looking.
func TestTargetTellsWhetherAPlanLookedAtTheEvent(t *testing.T) {
	t.Parallel()
	asked := false
	at := NewTarget("issues.opened", &asked)
	if got := string(at.Ref().value().AppendJSON(nil)); got != `"@target"` || asked {
		t.Errorf("the handle is %s, asked %t", got, asked)
	}
	if at.Event() != "issues.opened" || !asked {
		t.Errorf("event %q, asked %t", at.Event(), asked)
	}
	if (Target{}).Event() != "" {
		t.Error("a target of no event names one")
	}
}
