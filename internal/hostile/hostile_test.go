package hostile

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	"decant.dev/fence"
)

const run = "0123456789abcdef0123456789abcdef"

// object is the prompt object of a run whose title is the text.
func object(t *testing.T, text string) []byte {
	t.Helper()
	p, err := fence.Render(fence.RunContext{
		Run: run, Recipe: "issues", Profile: fence.ProfileIntake, Instruction: "Triage.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16},
		Elements: []fence.Element{{
			ID: "e1", Author: fence.Author{ID: "github:1", Kind: fence.KindPerson}, Origin: fence.OriginMessage, Role: fence.RoleUser,
			Trust: fence.TrustUnverified, MediaType: "text/plain", Text: text,
		}},
	}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fence.EncodeObject(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An order is obeyed as it was given, whatever its bytes.
func TestOrdersAreObeyed(t *testing.T) {
	t.Parallel()
	const right = `{"n":3,"run":"` + run + `","answer":{"structure":{"kind":"a"},"trace":{"extractor":"rules"}}}` + "\n"
	for deed, want := range map[Deed]string{
		Reply:          right,
		Line:           `{"kind":"a"}` + "\n",
		"no such deed": `{"kind":"a"}` + "\n",
		OtherRun:       strings.Replace(right, run, strings.Repeat("0", 32), 1),
		OtherQuestion:  strings.Replace(right, `"n":3`, `"n":4`, 1),
		UnknownCode:    `{"n":3,"run":"` + run + `","answer":{"code":"HOSTILEWORD"}}` + "\n",
		ActsCode:       `{"n":3,"run":"` + run + `","answer":{"code":"approval_needed"}}` + "\n",
		ActsAnswer:     `{"n":3,"run":"` + run + `","answer":[{"run":"` + run + `","act":{"status":"done","label":"system","actions":[]}}]}` + "\n",
		NoAnswer:       `{"n":3,"run":"` + run + `"}` + "\n",
		TwoLines:       right + right,
		OwnTrace:       strings.Replace(right, `"rules"`, `"HOSTILEWORD","steps":[{"field":"HOSTILEWORD","rule":"HOSTILEWORD","confidence":1}]`, 1),
	} {
		var out bytes.Buffer
		q := Question{N: 3, Run: run, Object: object(t, Order{deed, []byte(`{"kind":"a"}`)}.Encode())}
		if _, honest := Obey(q, &out); honest || out.String() != want {
			t.Errorf("%s: honest %t, said %q: want %q", deed, honest, out.String(), want)
		}
	}
	anything := []byte("\x00\xff\n\"}{")
	var out bytes.Buffer
	if got, honest := Obey(Question{Object: object(t, Order{Candidate, anything}.Encode())}, &out); !honest || !bytes.Equal(got, anything) || out.Len() > 0 {
		t.Errorf("a candidate became %q, honest %t, with %d bytes beside it", got, honest, out.Len())
	}
	if got, honest := Obey(Question{Object: object(t, Order{Echo, nil}.Encode())}, &out); !honest || len(got) != 32 {
		t.Errorf("an echo is %d bytes, honest %t", len(got), honest)
	}
}

// A text that gives no order makes the extractor say nothing, through the
// honest handler.
func TestWithoutAnOrderNothingIsSaid(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, doc := range [][]byte{nil, object(t, "an honest text"), object(t, orderPrefix+"e30K!"), object(t, orderPrefix+"eyJ4IjoxfQ==")} {
		if got, honest := Obey(Question{N: 1, Run: run, Object: doc}, &out); !honest || got != nil || out.Len() > 0 {
			t.Errorf("said %q, honest %t", got, honest)
		}
	}
}

func TestPanicIsItsOwnWord(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() != Word {
			t.Error("want a panic with the word that nothing may hold")
		}
	}()
	Obey(Question{Object: object(t, Order{Panic, nil}.Encode())}, &bytes.Buffer{})
}

func TestDeedsAreDistinct(t *testing.T) {
	t.Parallel()
	all := slices.Clone(Deeds())
	slices.Sort(all)
	if len(slices.Compact(all)) != len(Deeds()) || slices.Contains(all, "") {
		t.Errorf("deeds %v", Deeds())
	}
}
