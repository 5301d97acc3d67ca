// Package intake holds what only fetch and extract may link of the inbox
// recipe: how a mail is read, the recipe author's own words to a model, and the
// rules that read a mail without one.
package intake

import (
	"net/http"

	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/fetch/mail"
	"decant.dev/recipes/inbox"
)

// Intake reads mails as a server received them.
var Intake = fetch.Intake{
	Source:      "mail",
	Elements:    mail.Elements,
	Profile:     fence.ProfileIntake,
	Instruction: "Sort this mail of a customer: say what they want, how urgent it is, in which language they write, and about which order.",
	Scaffold: `Fill these fields:
intent: order_status, return, refund, invoice, complaint, question or other
urgency: 2 cannot wait, 1 should not wait, 0 can wait
language: en, de, fr, es or other
order: the number of the order, if the mail names one
quote: the sentence that says best what they want, word for word, at most 160 characters`,
	Limits: fence.Limits{MessageMaxBytes: 16 << 10, ContextMaxBytes: 64 << 10},
}

// Extractor is the recipe's default: rules, and no model.
func Extractor(*http.Client) extract.Extractor { return Rules() }

// Rules is the default extractor: no model, and every decision has the name of
// a rule below. Weights are tenths of a bit, set by hand.
func Rules() *rules.Extractor {
	return rules.Must(inbox.Recipe.Shape(), rules.Set{
		Sources: []rules.Source{
			{Origin: fence.OriginMailHeader, Title: true},
			{Origin: fence.OriginMailBody},
		},
		Tokens:  []rules.Token{order},
		Quotes:  []rules.Quotation{quote},
		Choices: []rules.Choice{intent, urgency, language},
	})
}

var order = rules.Token{Field: "order", Rules: []rules.TokenRule{
	{ID: "order.labelled", Where: rules.Text | rules.Title, Confidence: 90, Near: []string{
		"order*", "bestell*", "auftrag*", "commande*", "pedido*", "ref*", "number", "nummer", "numéro", "número", "no", "nr"}},
}}

var quote = rules.Quotation{Field: "quote", Rules: []rules.Sentence{
	{ID: "quote.prose", Where: rules.Prose, Min: 16},
	{ID: "quote.title", Where: rules.Title, Min: 1},
}}

var intent = rules.Choice{Field: "intent", Default: inbox.IntentOther, Threshold: 6, Rules: []rules.Rule{
	rules.Weigh("order.words", inbox.IntentOrder, 20, rules.Text|rules.Title, rules.Words(
		"where is my order", "where is my package", "where is my parcel", "has not arrived", "hasn't arrived", "not arrived", "tracking", "delivery status", "order status", "shipped", "when will",
		"wo ist meine bestellung", "nicht angekommen", "sendungsverfolgung", "lieferstatus", "lieferung", "wo bleibt",
		"où est ma commande", "pas arrivé*", "pas reçu", "suivi", "livraison", "dónde está mi pedido", "no ha llegado", "seguimiento", "envío")),
	rules.Weigh("return.words", inbox.IntentReturn, 24, rules.Text|rules.Title, rules.Words(
		"return", "send back", "send it back", "exchange", "wrong size", "zurückschicken", "zurücksenden", "rücksendung", "retoure", "umtausch*", "retourner", "renvoyer", "échange*",
		"devolver", "devolución", "cambiar")),
	rules.Weigh("refund.words", inbox.IntentRefund, 30, rules.Text|rules.Title, rules.Words(
		"refund*", "money back", "charged twice", "erstattung", "geld zurück", "doppelt abgebucht", "remboursement", "remboursé*", "reembolso", "devuelvan el dinero")),
	rules.Weigh("invoice.words", inbox.IntentInvoice, 26, rules.Text|rules.Title, rules.Words(
		"invoice", "receipt", "vat", "rechnung", "beleg", "mwst", "facture", "tva", "factura", "iva")),
	rules.Weigh("complaint.words", inbox.IntentComplaint, 22, rules.Text|rules.Title, rules.Words(
		"complain*", "unacceptable", "disappointed", "terrible", "broken", "damaged", "beschwerde", "enttäuscht", "kaputt", "beschädigt", "unverschämt", "réclamation", "déçu*", "cassé*",
		"endommagé*", "queja", "decepcionad*", "roto", "dañado")),
	rules.Weigh("question.words", inbox.IntentQuestion, 10, rules.Text|rules.Title, rules.Words(
		"how do", "how can", "do you", "is it possible", "question", "frage", "wie kann", "haben sie", "question*", "est-ce que", "comment", "pregunta", "cómo", "tienen")),
}}

var urgency = rules.Choice{Field: "urgency", Default: "0", Threshold: 6, Rules: []rules.Rule{
	rules.Weigh("urgency.now", "2", 24, rules.Text|rules.Title, rules.Words(
		"urgent*", "immediately", "asap", "today", "lawyer", "dringend", "sofort", "heute", "anwalt", "immédiatement", "aujourd'hui", "avocat", "urgente*", "inmediatamente", "hoy", "abogado")),
	rules.Weigh("urgency.soon", "1", 14, rules.Text|rules.Title, rules.Words(
		"soon", "tomorrow", "this week", "still", "again", "bald", "morgen", "diese woche", "immer noch", "bientôt", "demain", "toujours", "pronto", "mañana", "todavía")),
}}

var language = rules.Choice{Field: "language", Default: "other", Threshold: 6, Rules: []rules.Rule{
	rules.Weigh("language.en", "en", 12, rules.Text, rules.Words("the", "and", "my", "is", "you", "have", "please")),
	rules.Weigh("language.de", "de", 14, rules.Text, rules.Words("ich", "und", "die", "der", "nicht", "bitte", "meine", "ist", "sie")),
	rules.Weigh("language.fr", "fr", 14, rules.Text, rules.Words("je", "ma", "mon", "est", "vous", "pas", "merci", "bonjour", "une")),
	rules.Weigh("language.es", "es", 14, rules.Text, rules.Words("mi", "el", "los", "una", "por", "gracias", "hola", "que", "está")),
}}
