// Package message writes what a queue or a webhook is given of one action:
// its named values as one JSON object, with where they came from.
//
// Texts stand in it as they are, as JSON strings: whoever reads the message
// renders them for its own place.
package message

import (
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// Schema is the schema field of a message.
const Schema = "message.v1"

// MaxBytes bounds a message. It is what SQS took for many years (256 KiB), and
// eight times the largest structure.
const MaxBytes = 256 << 10

// Message is one action as it is handed on. Its key is the same at each
// attempt, so that a reader can tell what it has seen.
type Message struct {
	Schema  string         `json:"schema"`
	Key     string         `json:"key"` // 32 hex digits
	Run     string         `json:"run"`
	Source  string         `json:"source"`
	Label   plan.Label     `json:"label,omitzero"`
	Place   string         `json:"place"` // the target, as "owner/name#12"
	Columns map[string]any `json:"columns"`
}

var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Encode writes a job's message, on one line and without a line end: fields in
// the order of Message, columns by name. address is the job's one parameter
// that says where it goes; the others are its columns.
//
// It is an error for the address to be no name, for key or run to lack their
// form, for a value to be of another type than a job's and for the message to
// be longer than MaxBytes. No error holds a value.
func Encode(j act.Job, address string) (to string, line []byte, err error) {
	to, _ = j.Params[address].(string)
	switch {
	case !plan.IsName(to):
		return "", nil, fmt.Errorf("message: %s: want %s", address, plan.NameForm)
	case !keyForm.MatchString(j.Key):
		return "", nil, fmt.Errorf("message: key: want %s", keyForm)
	case !pipeline.IsRunID(j.Run):
		return "", nil, fmt.Errorf("message: run: want 32 hex digits")
	}
	columns := make(map[string]any, len(j.Params))
	for name, v := range j.Params {
		switch v.(type) {
		case string, int64, bool, nil:
		default:
			return "", nil, fmt.Errorf("message: column %.64q: want a string, an int64, a bool or nil", name)
		}
		if name != address {
			columns[name] = v
		}
	}
	m := Message{Schema: Schema, Key: j.Key, Run: j.Run, Source: j.Source, Label: j.Label, Place: j.Place, Columns: columns}
	line, err = json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return "", nil, fmt.Errorf("message: want valid UTF-8 in each value")
	}
	if len(line) > MaxBytes {
		return "", nil, fmt.Errorf("message of %d bytes: want at most %d", len(line), MaxBytes)
	}
	return to, line, nil
}

// Begins is how each message of a key begins, whatever else it holds. No value
// can make a line begin so: within a JSON string there is no line end.
func Begins(key string) []byte {
	return []byte(`{"schema":"` + Schema + `","key":"` + key + `",`)
}
