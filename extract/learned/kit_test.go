package learned

import (
	"fmt"
	"sync"
	"testing"

	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// ticket is the shape of the tests.
type ticket struct {
	Kind   string      `json:"kind" jsonschema:"enum=fault,enum=wish,enum=talk"`
	Level  int         `json:"level" jsonschema:"minimum=0,maximum=2"`
	Urgent *bool       `json:"urgent,omitempty"`
	Note   *shape.Text `json:"note,omitempty" jsonschema:"maxLength=40"`
}

// reordered has the same choices in another order, other has others, renamed has no such field.
type (
	reordered struct {
		Kind  string `json:"kind" jsonschema:"enum=wish,enum=fault,enum=talk"`
		Level int    `json:"level" jsonschema:"minimum=0,maximum=2"`
	}
	other struct {
		Kind  string `json:"kind" jsonschema:"enum=fault,enum=wish,enum=praise"`
		Level int    `json:"level" jsonschema:"minimum=0,maximum=2"`
	}
	renamed struct {
		Sort  string `json:"sort" jsonschema:"enum=fault,enum=wish,enum=talk"`
		Level int    `json:"level" jsonschema:"minimum=0,maximum=2"`
	}
	carrying struct {
		Kind  *shape.Token `json:"kind,omitempty" jsonschema:"pattern=^[a-z]{1\\,5}$"`
		Level int          `json:"level" jsonschema:"minimum=0,maximum=2"`
	}
)

func shapeOf[T any](tb testing.TB) *shape.Shape {
	tb.Helper()
	s, err := shape.Of[T]()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

var ticketSpec = Spec{Fields: []string{"kind", "level", "urgent"}, Text: []string{"title", "body"}, Group: "box", Folds: 4}

// tickets are rows that a model can learn: each label has words of its own among words that say nothing, but for one row in ten.
func tickets(n int) []Row {
	say := map[string][]string{
		"fault": {"crash", "broken", "wrong"}, "wish": {"please", "add", "support"}, "talk": {"how", "why", "wondering"},
	}
	kinds := []string{"fault", "wish", "talk"}
	var list []Row
	for i := range n {
		kind := kinds[i%3]
		spoken := kind
		if i%10 == 9 {
			spoken = kinds[(i+1)%3]
		}
		w := say[spoken]
		box := "north"
		if i%2 == 1 {
			box = "south"
		}
		level, urgent := fmt.Sprint(i/3%3), fmt.Sprint(i%4 < 2)
		list = append(list, Row{
			Text:   []string{fmt.Sprintf("%s of the lamp %d", w[i%len(w)], i), fmt.Sprintf("the lamp %s on level%s urgent%s\n\n# where\n\nhall %d", w[(i/3)%len(w)], level, urgent, i%7)},
			Group:  box,
			Labels: []string{kind, level, urgent},
		})
	}
	return list
}

// small is a model of tickets, trained once.
var small = sync.OnceValues(func() (*Model, error) {
	s, err := shape.Of[ticket]()
	if err != nil {
		return nil, err
	}
	m, _, err := Train(s, ticketSpec, tickets(120))
	return m, err
})

func smallModel(tb testing.TB) *Model {
	tb.Helper()
	m, err := small()
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// titled is a run's elements.
func titled(title, body string) fence.RunContext {
	stranger := fence.Author{ID: "u1", Kind: fence.KindPerson}
	return fence.RunContext{Elements: []fence.Element{
		{ID: "e1", Author: stranger, Origin: fence.OriginRecordField, Role: fence.RoleUser, Trust: fence.TrustUnverified, Field: "title", Text: title},
		{ID: "e2", Author: stranger, Origin: fence.OriginMessage, Role: fence.RoleUser, Trust: fence.TrustUnverified, Text: body},
	}}
}
