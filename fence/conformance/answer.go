package conformance

import (
	"errors"

	"github.com/go-json-experiment/json"

	"decant.dev/fence"
)

// SchemaTurn is the schema of the simple form of an answer.
const SchemaTurn = "turn.v1"

// MaxAnswerBytes bounds an answer. The largest context has little more than 256 KiB.
const MaxAnswerBytes = 4 << 20

const maxSystemParts = 8

// answer is what an adapter would send to the model.
type answer struct {
	system []string
	user   string
	prompt *fence.ForeignPrompt // for an answer in the form of prompt.v1
}

// parts gives all parts in order; the user message is the last.
func (a answer) parts() []string { return append(append([]string{}, a.system...), a.user) }

var errAnswer = errors.New(`want one turn.v1 ({"schema":"turn.v1","system":["…"],"user":"…"}) or prompt.v1, and nothing else`)

// decodeAnswer reads an answer strictly. The error does not repeat what came.
func decodeAnswer(doc []byte) (answer, error) {
	if len(doc) > MaxAnswerBytes {
		return answer{}, errAnswer
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(doc, &head) != nil {
		return answer{}, errAnswer
	}
	switch head.Schema {
	case fence.SchemaPrompt:
		p, err := fence.DecodeForeignPrompt(doc)
		if err != nil {
			return answer{}, err
		}
		return answer{p.System, p.User, &p}, nil
	case SchemaTurn:
		var w struct {
			Schema string     `json:"schema"`
			System *[]*string `json:"system"`
			User   *string    `json:"user"`
		}
		if json.Unmarshal(doc, &w, json.RejectUnknownMembers(true)) != nil || w.System == nil || w.User == nil || len(*w.System) > maxSystemParts {
			return answer{}, errAnswer
		}
		a := answer{user: *w.User}
		for _, s := range *w.System {
			if s == nil {
				return answer{}, errAnswer
			}
			a.system = append(a.system, *s)
		}
		return a, nil
	default:
		return answer{}, errAnswer
	}
}
