package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// reviewed is outcomes.json as a person reads it. It is parsed here anew, and
// not by the package whose promise is tried.
type reviewed struct {
	outcomes string
	classes  [][]reviewedAction
}

type reviewedAction struct {
	kind   string
	params map[string][]any // name → the values it may have, with handles unresolved
}

func readList(b []byte) (*reviewed, error) {
	var file struct {
		Outcomes json.Number `json:"outcomes"`
		Actions  map[string]struct {
			Address map[string]any `json:"address"`
			Content map[string]any `json:"content"`
		} `json:"actions"`
		Classes []struct {
			Actions []string `json:"actions"`
		} `json:"classes"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return nil, errors.New("outcomes.json: want a list that decant audit --write wrote")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || len(file.Classes) == 0 {
		return nil, errors.New("outcomes.json: want one list, of at least one class")
	}
	actions := map[string]reviewedAction{}
	for name, a := range file.Actions {
		kind, _, _ := strings.Cut(name, " ")
		parsed := reviewedAction{kind: kind, params: map[string][]any{}}
		for _, place := range []map[string]any{a.Address, a.Content} {
			for param, v := range place {
				parsed.params[param] = oneOf(v)
			}
		}
		actions[name] = parsed
	}
	l := &reviewed{outcomes: file.Outcomes.String()}
	for i, c := range file.Classes {
		class := []reviewedAction{}
		for _, name := range c.Actions {
			a, ok := actions[name]
			if !ok {
				return nil, fmt.Errorf("outcomes.json: class %d names an action that is not there", i)
			}
			class = append(class, a)
		}
		l.classes = append(l.classes, class)
	}
	return l, nil
}

func oneOf(v any) []any {
	if m, ok := v.(map[string]any); ok {
		values, _ := m["oneof"].([]any)
		return values
	}
	return []any{v}
}

// resolve is a listed value as a sink writes it, and false where it has no
// such form: a string, an int64, a bool or nil.
func resolve(v any, place string, structure any) (any, bool) {
	switch v := v.(type) {
	case nil, bool:
		return v, true
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	case string:
		return resolvePart(v, place, structure)
	case []any:
		var whole strings.Builder
		for _, part := range v {
			s, ok := part.(string)
			if !ok {
				return nil, false
			}
			if s, ok = resolvePart(s, place, structure); !ok {
				return nil, false
			}
			whole.WriteString(s)
		}
		return whole.String(), true
	default:
		return nil, false
	}
}

// resolvePart reads "@@x" as the constant "@x", "@target" as the place, and
// "@path" as what the structure holds at that path.
func resolvePart(s, place string, structure any) (string, bool) {
	path, handle := strings.CutPrefix(s, "@")
	switch {
	case !handle:
		return s, true
	case strings.HasPrefix(path, "@"):
		return path, true
	case path == "target":
		return place, true
	}
	v := structure
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return "", false
			}
			v = x[i]
		default:
			return "", false
		}
	}
	text, ok := v.(string)
	return text, ok
}
