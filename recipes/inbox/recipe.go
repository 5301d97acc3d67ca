// Package inbox is the recipe that sorts the mail of a shop's customers: what
// they want, how urgent it is, in which language, and about which order; with a
// row for each mail, and a message to the queue of the people or the program
// that answers, which names the template to answer with or hands over.
//
// It holds the shape, the plan and the policy. What may read a mail's text
// stands in package intake, which act does not link.
package inbox

import (
	_ "embed"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
)

// The intents.
const (
	IntentOrder     = "order_status"
	IntentReturn    = "return"
	IntentRefund    = "refund"
	IntentInvoice   = "invoice"
	IntentComplaint = "complaint"
	IntentQuestion  = "question"
	IntentOther     = "other"
)

// Request is all that may be known of a mail.
type Request struct {
	Intent   string       `json:"intent"   jsonschema:"enum=order_status,enum=return,enum=refund,enum=invoice,enum=complaint,enum=question,enum=other"`
	Urgency  int          `json:"urgency"  jsonschema:"minimum=0,maximum=2"`
	Language string       `json:"language" jsonschema:"enum=en,enum=de,enum=fr,enum=es,enum=other"`
	Order    *shape.Token `json:"order,omitempty" jsonschema:"pattern=^[A-Z]{0\\,3}-?[0-9]{5\\,10}$"`
	Quote    *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=160"`
}

//go:embed outcomes.json
var outcomes []byte

// Recipe is the inbox recipe.
var Recipe = pipeline.New(pipeline.Spec[Request]{
	Name: "inbox", Plan: decide, Policy: policy, Outcomes: outcomes,
	Events: []pipeline.Event{{Name: "mail.received", Reads: pipeline.OthersWords}},
	Budgets: []plan.Budget{
		{Measure: plan.Runs, Per: plan.PerSource, Window: time.Hour, Limit: 2000},
		{Measure: plan.CarriedBits, Per: plan.PerSource, Window: 24 * time.Hour, Limit: 32 << 20},
	},
	MaxDecide: 12, MaxCarry: 3300, // bits: 160 characters of any script are 3,214
})

var policy = plan.Policy{
	plan.KindTableRow:  plan.Always(plan.Auto),
	plan.KindQueueSend: plan.Always(plan.Auto),
}

// decide is the plan: a row for each mail; and to the queue of replies the
// template to answer with, where a template can answer, and otherwise to that
// of people. A message names the row by its place and repeats nothing of it, so
// that the list of outcomes stays one that a person reads.
func decide(r Request, at plan.Target) []plan.Action {
	row := plan.TableRow{Table: "inbox", Key: at.Ref(), Columns: []plan.Column{
		plan.Text("intent", r.Intent), plan.Int("urgency", r.Urgency), plan.Text("language", r.Language),
		plan.Token("order", r.Order), plan.Quote("quote", r.Quote),
	}}
	if t := template(r); t != "" {
		return []plan.Action{row, plan.QueueSend{Queue: "replies", Columns: []plan.Column{plan.Text("template", t)}}}
	}
	return []plan.Action{row, plan.QueueSend{Queue: "people", Columns: []plan.Column{plan.Text("template", "none")}}}
}

// template is the answer that needs no person: none for a mail that is urgent,
// of a language without templates, or about an order that it does not name.
func template(r Request) string {
	switch {
	case r.Urgency > 1 || r.Language == "other":
		return ""
	case r.Intent == IntentOrder && r.Order != nil:
		return "order_status"
	case r.Intent == IntentOrder || r.Intent == IntentReturn && r.Order == nil:
		return "ask_order_number"
	case r.Intent == IntentReturn:
		return "return_label"
	case r.Intent == IntentInvoice && r.Order != nil:
		return "invoice_copy"
	default:
		return ""
	}
}
