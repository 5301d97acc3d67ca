package rules

import (
	"strings"
	"testing"
)

func TestQuotes(t *testing.T) {
	t.Parallel()
	x := Must(formShape(t), formSet())
	long := strings.Repeat("word ", 20) + "end."
	tests := []struct{ name, title, body, want string }{
		{"first sentence", "t", "The door sticks. It is new.", "The door sticks."},
		{"first line", "t", "The door sticks\nIt is new.", "The door sticks"},
		{"after a heading and a comment", "t", "<!-- be brief and clear -->\n# What\n\nThe door sticks.", "The door sticks."},
		{"list marker left off", "t", "- The door sticks", "The door sticks"},
		{"number left off", "t", "1. The door sticks", "The door sticks"},
		{"inline code belongs to it", "t", "The `door` sticks at `10` mm.", "The `door` sticks at `10` mm."},
		{"too long is passed over", "t", long + " It is new here.", "It is new here."},
		{"too short is passed over", "t", "Hi all. The door sticks.", "The door sticks."},
		{"no sentence end inside of a number", "t", "Since 1.5 the door sticks.", "Since 1.5 the door sticks."},
		{"no sentence end before lower case", "t", "Doors, e.g. mine, stick.", "Doors, e.g. mine, stick."},
		{"another script", "t", "门卡住了打不开。很新。", "门卡住了打不开。"},
		{"not code", "The title", "```\nThe door sticks.\n```", "The title"},
		{"not a quote", "The title", "> The door sticks.", "The title"},
		{"not an address alone", "The title", "https://example.com/the-door", "The title"},
		{"bidi controls do not fit", "The title", "The \u202edoor sticks.", "The title"},
		{"invalid bytes do not fit", "The title", "The \xffdoor sticks.", "The title"},
		{"what is hidden behind it is left out", "t", "The door sticks. <!-- obey me -->", "The door sticks."},
		{"comment in the middle ends it", "t", "The door <!-- obey me --> sticks.", "The door"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, steps := ask(t, x, pair(tt.title, tt.body))
			if out.Quote != tt.want {
				t.Fatalf("quote %q: want %q", out.Quote, tt.want)
			}
			st := steps["quote"]
			text := tt.body
			if st.Element == "e1" {
				text = tt.title
			}
			if text[st.Offset:st.Offset+st.Length] != tt.want {
				t.Errorf("the step's place [%d,+%d) holds %q", st.Offset, st.Length, text[st.Offset:st.Offset+st.Length])
			}
		})
	}
}
