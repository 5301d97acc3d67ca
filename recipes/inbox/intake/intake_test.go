package intake

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/recipes/inbox"
)

// sorted is a candidate, read loosely: the strict decoder is asked too.
type sorted struct {
	Intent   string `json:"intent"`
	Urgency  int    `json:"urgency"`
	Language string `json:"language"`
	Order    string `json:"order"`
	Quote    string `json:"quote"`
}

func sort(t *testing.T, raw string) sorted {
	t.Helper()
	b, err := Intake.Elements(pipeline.Envelope{}, []byte(strings.ReplaceAll(raw, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Rules().Extract(context.Background(), extract.Request{Context: fence.RunContext{Elements: b.Elements}, Shape: inbox.Recipe.Shape()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inbox.Recipe.Shape().Decode(a.Candidate); err != nil {
		t.Fatalf("candidate does not decode: %v", err)
	}
	var out sorted
	if err := json.Unmarshal(a.Candidate, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMailsOfFourLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		subject, body string
		want          sorted
	}{
		{"Where is my order?", "Hello, my order AB-4711002 has not arrived. Please tell me when you have sent it.", sorted{Intent: inbox.IntentOrder, Language: "en", Order: "AB-4711002"}},
		{"Refund", "I want my money back today, this is the second mail. I have been charged twice for order 4711004.", sorted{Intent: inbox.IntentRefund, Urgency: 2, Language: "en", Order: "4711004"}},
		{"Bestellung 4711005", "Guten Tag, meine Bestellung ist nicht angekommen. Bitte schreiben Sie mir, wann die Lieferung kommt.", sorted{Intent: inbox.IntentOrder, Language: "de", Order: "4711005"}},
		{"Rechnung", "Ich brauche bitte die Rechnung für meine Bestellung, sie ist nicht in der Sendung.", sorted{Intent: inbox.IntentInvoice, Language: "de"}},
		{"Retour", "Bonjour, je voudrais retourner une robe. Merci, elle est trop petite et je ne la porte pas.", sorted{Intent: inbox.IntentReturn, Language: "fr"}},
		{"Factura", "Hola, necesito la factura de mi pedido 4711006. Gracias por los datos que está en el correo.", sorted{Intent: inbox.IntentInvoice, Language: "es", Order: "4711006"}},
		{"Beschwerde", "Die Lampe ist kaputt und ich bin enttäuscht. Sie ist nicht zu gebrauchen und bitte melden Sie sich sofort.", sorted{Intent: inbox.IntentComplaint, Urgency: 2, Language: "de"}},
		{"Привет", "Где мой заказ?", sorted{Intent: inbox.IntentOther, Language: "other"}},
	} {
		got := sort(t, "Subject: =?utf-8?q?"+strings.NewReplacer(" ", "_", "?", "=3F").Replace(c.subject)+"?=\nContent-Type: text/plain; charset=utf-8\n\n"+c.body+"\n")
		if got.Quote = ""; got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.subject, got, c.want)
		}
	}
}

// What a reader does not see, what a file is called and what a mail quotes
// speak for nothing.
func TestTheSamplesAreSortedByTheirOwnWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]sorted{
		"mail-order-status.eml": {Intent: inbox.IntentOrder, Language: "en", Order: "AB-4711002", Quote: "I ordered a kettle three weeks ago and it has not arrived."},
		"mail-hidden-text.eml":  {Intent: inbox.IntentReturn, Language: "de", Order: "4711003", Quote: "Guten Tag, ich möchte die Schuhe zurücksenden."},
	} {
		raw, err := os.ReadFile("../../../events/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := sort(t, string(raw)); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
