package extractors

import (
	"fmt"
	"regexp"
	"strings"

	"decant.dev/extract"
	"decant.dev/pipeline"
)

const (
	good   = `{"kind":"bug","severity":2,"version":"1.2.3","note":"noted","quote":"ALPHA went wrong"}`
	absent = `{"kind":"bug","severity":2,"version":null,"note":null,"quote":null}`
	bare   = `{"kind":"bug","severity":2}`

	canonical = `{"kind":"bug","note":"noted","quote":"ALPHA went wrong","severity":2,"version":"1.2.3"}` // of good
)

// always answers every question alike.
func always(m Manner, text string) func(int, string) Turn {
	return func(int, string) Turn { return Turn{m, text} }
}

// first answers n questions in one way, and every later one well.
func first(n int, m Manner, text string) func(int, string) Turn {
	return func(i int, _ string) Turn {
		if i <= n {
			return Turn{m, text}
		}
		return Turn{Answers, good}
	}
}

var token = regexp.MustCompile(`token=([0-9a-f]{32})`)

// echo answers with a part of the boundary that it was shown.
func echo(from, to int, change func(string) string) func(int, string) Turn {
	return func(_ int, shown string) Turn {
		m := token.FindStringSubmatch(shown)
		if m == nil {
			return Turn{Answers, "no boundary was shown"}
		}
		return Turn{Answers, `{"kind":"bug","severity":2,"note":"` + change(m[1][from:to]) + `"}`}
	}
}

func escaped(s string) string {
	var sb strings.Builder
	for _, r := range s {
		fmt.Fprintf(&sb, `\u%04x`, r)
	}
	return sb.String()
}

func same(s string) string { return s }

// one is a case: how the source answers, how the run ends, and how many
// questions that takes at most.
type one struct {
	name   string
	needs  Manner
	answer func(int, string) Turn
	want   pipeline.Code
	asked  int
}

func (k Kit) cases() []one {
	list := []one{
		{"honest", Answers, always(Answers, good), pipeline.OK, 1},
		{"honest, without what may be absent", Answers, always(Answers, bare), pipeline.OK, 1},
		{"honest, in another spelling", Answers, always(Answers, "\n {\"severity\":2 ,\"kind\":\"b\\u0075g\"}\t"), pipeline.OK, 1},
		{"nonsense, then honest", Answers, first(1, Answers, `{"kind":"`+Secret+`","severity":2}`), pipeline.OK, 2},
		{"a quote that nobody wrote", Answers, always(Answers, `{"kind":"bug","severity":2,"quote":"`+Secret+`"}`), pipeline.Ungrounded, 1},
		{"a quote of the instruction", Answers, always(Answers, `{"kind":"bug","severity":2,"quote":"Read the report."}`), pipeline.Ungrounded, 1},
		{"boundary", Answers, echo(0, 32, same), pipeline.BoundaryEchoed, 1},
		{"16 digits of the boundary", Answers, echo(9, 25, strings.ToUpper), pipeline.BoundaryEchoed, 1},
		{"boundary in escapes", Answers, echo(0, 32, escaped), pipeline.BoundaryEchoed, 1},
		{"15 digits of the boundary", Answers, echo(0, 15, same), pipeline.OK, 1},

		{"late", Late, always(Late, good), pipeline.OK, 1},
		{"cut off, and said so", Cut, always(Cut, good[:40]), pipeline.NoAnswer, 1},
		{"said to be cut off, yet whole", Cut, always(Cut, good), pipeline.NoAnswer, 1},
		{"refusal", Refuses, always(Refuses, "I cannot help with "+Secret), pipeline.NoAnswer, 1},
		{"nothing", Nothing, always(Nothing, ""), pipeline.NoAnswer, 1},
		{"denied", Denies, always(Denies, Secret), pipeline.NoAnswer, 1},
		{"fails, then answers", Fails, first(k.Attempts-1, Fails, Secret), pipeline.OK, k.Attempts},
		{"fails for ever", Fails, always(Fails, Secret), pipeline.NoAnswer, k.Attempts},
		{"nonsense, then fails", Fails, func(n int, _ string) Turn {
			if n == 1 {
				return Turn{Answers, Secret}
			}
			return Turn{Fails, Secret}
		}, pipeline.NoAnswer, 1 + k.Attempts},
		{"never answers", Hangs, always(Hangs, ""), pipeline.NoAnswer, max(k.Attempts, 1)},
		{"never ends", Endless, always(Endless, Secret), pipeline.NoAnswer, 1},
	}
	nulls := pipeline.Undecodable
	if k.Projected {
		nulls = pipeline.OK
	}
	for name, text := range nonsense() {
		list = append(list, one{name, Answers, always(Answers, text), pipeline.Undecodable, extract.MaxTurns})
	}
	return append(list, one{"null for what is absent", Answers, always(Answers, absent), nulls, extract.MaxTurns})
}

// nonsense are answers that are no value of the shape.
func nonsense() map[string]string {
	with := func(member string) string { return `{"kind":"bug","severity":2,` + member + `}` }
	return map[string]string{
		"empty":                   ``,
		"white space":             " \n",
		"null":                    `null`,
		"empty object":            `{}`,
		"array":                   `[` + bare + `]`,
		"string":                  `"{}"`,
		"malformed":               `{"kind":"bug","severity":}`,
		"cut off":                 good[:len(good)/2],
		"cut off at its end":      good[:len(good)-1],
		"over-long text":          with(`"note":"` + strings.Repeat("x", 81) + `"`),
		"over-long answer":        with(`"note":"` + strings.Repeat("x", 1<<20) + `"`),
		"over-long white space":   bare + strings.Repeat(" ", 1<<20),
		"deep":                    strings.Repeat("[", 10_000),
		"wrong type":              `{"kind":"bug","severity":"2"}`,
		"wrong label":             `{"kind":"` + Secret + `","severity":2}`,
		"out of range":            `{"kind":"bug","severity":4}`,
		"fraction":                `{"kind":"bug","severity":2.0}`,
		"huge number":             `{"kind":"bug","severity":1e1000000}`,
		"missing":                 `{"kind":"bug"}`,
		"null for what must be":   `{"kind":null,"severity":2}`,
		"extra key":               with(`"` + Secret + `":true`),
		"key in another case":     with(`"NOTE":"x"`),
		"duplicate key":           with(`"kind":"feature"`),
		"pattern":                 with(`"version":"1.2.3` + strings.Repeat("3", 9) + `"`),
		"surrogate":               with(`"note":"\ud800"`),
		"line feed in a text":     with(`"note":"a\nb"`),
		"bidi control in a text":  with(`"note":"a\u202eb"`),
		"prose before":            "Sure, here it is: " + bare,
		"prose after":             bare + " I hope that helps.",
		"prose alone":             "It is a bug. " + Secret,
		"markdown fence":          "```json\n" + bare + "\n```",
		"two values":              bare + bare,
		"comment":                 "// ok\n" + bare,
		"a reasoning in the text": "<think>" + Secret + "</think>" + bare,
	}
}
