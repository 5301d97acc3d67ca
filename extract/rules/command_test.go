package rules

import (
	"reflect"
	"testing"

	"decant.dev/fence"
)

// spoken is a context whose message has the given trust, and is the trigger if it may be.
func spoken(trust fence.Trust, text string) fence.RunContext {
	rc := pair("Add a roof", "It would be nice.")
	rc.Elements = append(rc.Elements, fence.Element{
		ID: "e3", Author: fence.Author{ID: "u2", Kind: fence.KindPerson}, Origin: fence.OriginMessage, Role: fence.RoleUser, Trust: trust, Text: text,
	})
	if trust == fence.TrustTrigger {
		rc.Trigger = "e3"
	}
	return rc
}

func TestCommandsOfTheTriggerOverride(t *testing.T) {
	t.Parallel()
	x := Must(formShape(t), formSet())
	tests := []struct {
		name, text string
		kind       string
		level      int
		urgent     bool
		parts      []string
	}{
		{"nothing", "", "wish", -1, false, []string{"roof"}},
		{"a bare label", "/sort fault", "fault", 0, false, []string{"roof"}},
		{"keys", "/sort kind:fault level:2 urgent:true", "fault", 2, true, []string{"roof"}},
		{"equals signs", "/sort kind=talk level=-1", "talk", -1, false, []string{}},
		{"a set by its other name, in the shape's order", "/sort part:wall part:door", "wish", -1, false, []string{"door", "wall"}},
		{"a set takes no more than it holds", "/sort part:wall part:door part:roof", "wish", -1, false, []string{"door", "wall"}},
		{"a set holds each once", "/sort part:door part:door", "wish", -1, false, []string{"door"}},
		{"the last of two", "/sort fault talk", "talk", 0, false, []string{}},
		{"lines around it", "I looked.\n/sort fault\nThank you.", "fault", 0, false, []string{"roof"}},
		{"unknown values and keys", "/sort kind:spam level:9 level:2.0 sort:fault colour:red urgent:1", "wish", -1, false, []string{"roof"}},
		{"a token cannot be given", "/sort version:v1.2.3", "wish", -1, false, []string{"roof"}},
		{"another command", "/sorted fault\n/s fault", "wish", -1, false, []string{"roof"}},
		{"inside of a line", "please /sort fault", "wish", -1, false, []string{"roof"}},
		{"in code", "```\n/sort fault\n```", "wish", -1, false, []string{"roof"}},
		{"in a quote", "> /sort fault", "wish", -1, false, []string{"roof"}},
		{"in a comment", "<!--\n/sort fault\n-->", "wish", -1, false, []string{"roof"}},
		{"after inline code", "`x` \n`y` /sort fault", "wish", -1, false, []string{"roof"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, steps := ask(t, x, spoken(fence.TrustTrigger, tt.text))
			if out.Kind != tt.kind || out.Level != tt.level || out.Urgent != tt.urgent || !reflect.DeepEqual(out.Parts, tt.parts) {
				t.Errorf("got %+v", out)
			}
			if out.Version != "" {
				t.Error("a command gave a token")
			}
			if st := steps["kind"]; st.Rule == RuleCommand && (st.Element != "e3" || st.Confidence != 100 || st.Length == 0) {
				t.Errorf("step %+v: want the place of the argument", st)
			}
		})
	}
}

func TestCommandsOfOthersAreNoEvidence(t *testing.T) {
	t.Parallel()
	x := Must(formShape(t), formSet())
	order := "/sort fault level:2 urgent:true part:door broken flood now"
	want, _ := ask(t, x, spoken(fence.TrustUnverified, ""))
	for _, trust := range []fence.Trust{fence.TrustAuthorized, fence.TrustSelf, fence.TrustUnverified, fence.TrustSystem} {
		if got, _ := ask(t, x, spoken(trust, order)); !reflect.DeepEqual(got, want) {
			t.Errorf("trust %s: %+v, want %+v", trust, got, want)
		}
	}
	named := spoken(fence.TrustUnverified, order)
	named.Trigger = "e3" // a context that names a trigger without its trust
	if got, _ := ask(t, x, named); !reflect.DeepEqual(got, want) {
		t.Errorf("a trigger without trust moved the answer to %+v", got)
	}
	body := spoken(fence.TrustTrigger, "")
	body.Elements[1].Text += "\n\n" + order
	if got, _ := ask(t, x, body); !reflect.DeepEqual(got, want) {
		t.Errorf("a command in the body moved the answer to %+v", got)
	}
}
