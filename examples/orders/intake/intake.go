// Package intake holds what only fetch and extract may link of the example
// orders: which values of a webhook are read, and the rules that read them.
package intake

import (
	"net/http"

	"decant.dev/examples/orders"
	"decant.dev/examples/orders/source"
	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/fence"
	"decant.dev/fetch"
)

// Intake reads the subject, the message and the order that the form names.
var Intake = fetch.Intake{
	Source: source.Hook.Name,
	Elements: fetch.JSON(
		fetch.JSONField{Pointer: "/data/subject", Name: "subject", Optional: true},
		fetch.JSONField{Pointer: "/data/message", Name: "message"},
		fetch.JSONField{Pointer: "/data/order/number", Name: "order", Optional: true},
	),
	Profile:     fence.ProfileIntake,
	Instruction: "Say what this customer wants, and of which order.",
	Scaffold:    "intent: refund, delivery, question or other\norder: the order's number, if one is named",
	Limits:      fence.Limits{MessageMaxBytes: 16 << 10, ContextMaxBytes: 64 << 10},
}

// Extractor is rules, and no model.
func Extractor(*http.Client) extract.Extractor {
	return rules.Must(orders.Recipe.Shape(), rules.Set{
		Sources: []rules.Source{
			{Origin: fence.OriginRecordField, Field: "subject", Title: true},
			{Origin: fence.OriginRecordField, Field: "message"},
			{Origin: fence.OriginRecordField, Field: "order"},
		},
		Choices: []rules.Choice{{Field: "intent", Default: "other", Rules: []rules.Rule{
			rules.Weigh("refund.words", "refund", 20, rules.Title|rules.Text, rules.Words("refund*", "money back", "return*")),
			rules.Weigh("delivery.words", "delivery", 15, rules.Title|rules.Text, rules.Words("deliver*", "parcel", "tracking", "arrive*")),
			rules.Weigh("question.asks", "question", 8, rules.Text, rules.Has(rules.Asks)),
		}}},
		Tokens: []rules.Token{{Field: "order", Rules: []rules.TokenRule{{ID: "order.any", Where: rules.Title | rules.Text, Confidence: 80}}}},
	})
}
