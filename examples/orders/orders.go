// Package orders is an example: the recipe of a shop whose contact form posts
// webhooks. A message becomes a row, and one that asks for money back also a
// message to whoever pays it, once a person has said yes.
//
// It holds the shape, the plan and the policy. Who sends the webhooks stands in
// package source, and what may read their text in package intake.
package orders

import (
	_ "embed"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
)

// Message is all that may be known of a message.
type Message struct {
	Intent string       `json:"intent" jsonschema:"enum=refund,enum=delivery,enum=question,enum=other"`
	Order  *shape.Token `json:"order,omitempty" jsonschema:"pattern=^[0-9]{4\\,9}$"`
}

//go:embed outcomes.json
var outcomes []byte

// Recipe is the recipe of messages.
var Recipe = pipeline.New(pipeline.Spec[Message]{
	Name: "orders", Plan: decide, Policy: policy, Outcomes: outcomes,
	Events: []pipeline.Event{{Name: "message.received"}, {Name: "message.edited"}},
	Budgets: []plan.Budget{
		{Measure: plan.Runs, Per: plan.PerSource, Window: time.Hour, Limit: 500},
	},
	MaxDecide: 7, MaxCarry: 31, // bits: a number of 4 to 9 digits, or none, is 30.05
})

var policy = plan.Policy{
	plan.KindTableRow:  plan.Always(plan.Auto),
	plan.KindQueueSend: plan.Always(plan.Ask),
}

func decide(m Message, at plan.Target) []plan.Action {
	columns := []plan.Column{plan.Text("intent", m.Intent), plan.Token("order", m.Order)}
	actions := []plan.Action{plan.TableRow{Table: "messages", Key: at.Ref(), Columns: columns}}
	if m.Intent == "refund" && m.Order != nil {
		actions = append(actions, plan.QueueSend{Queue: "refunds", Columns: columns})
	}
	return actions
}
