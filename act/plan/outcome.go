package plan

import (
	"errors"
	"fmt"
	"reflect"
)

// MaxActions is the largest number of actions in one outcome.
const MaxActions = 32

// Outcome is the actions of one run with handles unresolved: what a list
// admits or not.
type Outcome struct {
	Actions []Listed
	actions []Action
}

// Listed is one action as a list spells it: kind and parameters, each value
// in its canonical JSON.
type Listed struct {
	Kind   Kind
	Params []Param
	values []string
}

// NewOutcome turns what a plan returned into an outcome. Errors name the
// action's index, kind and parameter.
func NewOutcome(actions []Action) (Outcome, error) {
	if len(actions) > MaxActions {
		return Outcome{}, fmt.Errorf("outcome of %d actions: want at most %d", len(actions), MaxActions)
	}
	o := Outcome{Actions: make([]Listed, 0, len(actions)), actions: actions}
	var buf []byte
	for i, a := range actions {
		params, err := Params(a)
		if !actionTypes[reflect.TypeOf(a)] && !errors.Is(err, ErrHandleInAddress) {
			return Outcome{}, fmt.Errorf("action %d is a %T: want a value, no pointer, of one of this package's types", i, a)
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("action %d: %w", i, err)
		}
		l := Listed{Kind: a.Kind(), Params: params, values: make([]string, len(params))}
		for j, p := range params {
			buf = p.Value.AppendJSON(buf[:0])
			l.values[j] = string(buf)
		}
		o.Actions = append(o.Actions, l)
	}
	return o, nil
}

// Action returns the typed action at an index of o.Actions.
func (o Outcome) Action(i int) Action { return o.actions[i] }

// signature is equal for outcomes of the same kinds with the same parameters.
func (o Outcome) signature() string { return string(o.appendSignature(nil)) }

func (o Outcome) appendSignature(dst []byte) []byte {
	for _, a := range o.Actions {
		dst = append(dst, a.Kind...)
		for _, p := range a.Params {
			dst = append(dst, ' ', "?ac"[p.Place])
			dst = append(dst, p.Name...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// AppendKey appends what is equal for equal outcomes and for no others: no
// canonical JSON value contains an unescaped line feed.
func (o Outcome) AppendKey(dst []byte) []byte {
	dst = o.appendSignature(dst)
	for _, a := range o.Actions {
		for _, v := range a.values {
			dst = append(append(dst, '\n'), v...)
		}
	}
	return dst
}

// Key is equal for equal outcomes and for no others.
func (o Outcome) Key() string { return string(o.AppendKey(nil)) }
