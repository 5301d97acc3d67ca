package rules_test

import (
	"context"
	"fmt"

	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/extract/shape"
	"decant.dev/fence"
)

type request struct {
	Topic string       `json:"topic" jsonschema:"enum=billing,enum=access,enum=other"`
	Order *shape.Token `json:"order,omitempty" jsonschema:"pattern=^A-[0-9]{6}$"`
}

func ExampleNew() {
	s, err := shape.Of[request]()
	if err != nil {
		fmt.Println(err)
		return
	}
	x := rules.Must(s, rules.Set{
		Sources: []rules.Source{{Origin: fence.OriginMailBody}},
		Choices: []rules.Choice{{Field: "topic", Default: "other", Rules: []rules.Rule{
			rules.Weigh("billing.words", "billing", 20, rules.Text, rules.Words("invoice*", "refund*", "rechnung*")),
			rules.Weigh("access.words", "access", 20, rules.Text, rules.Words("password", "log in", "locked out")),
		}}},
		Tokens: []rules.Token{{Field: "order", Rules: []rules.TokenRule{{ID: "order.any", Where: rules.Text, Confidence: 90}}}},
	})
	mail := fence.Element{ID: "m1", Origin: fence.OriginMailBody, Text: "Hello,\n\nthe invoices for a-004711 are wrong.\n\n> reset your password here"}
	a, err := x.Extract(context.Background(), extract.Request{Shape: s, Context: fence.RunContext{Elements: []fence.Element{mail}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(a.Candidate))
	for _, st := range a.Steps {
		fmt.Println(st.Field, st.Rule, st.Confidence, st.Element, st.Offset, st.Length)
	}
	// Output:
	// {"topic":"billing","order":"A-004711"}
	// topic billing.words 66 m1 12 7
	// order order.any 90 m1 25 8
}
