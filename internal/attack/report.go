package attack

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"decant.dev/pipeline"
)

// Report is what came of an attack.
type Report struct {
	Recipe   string
	Outcomes string // how many the list has
	Kinds    int    // kinds of near miss among the malformed
	Classes  []Class
	Escapes  Escapes
	Example  *Example // the smallest write off the list, nil where there is none
}

// Class is the runs of one class.
type Class struct {
	Class string         `json:"class"`
	Runs  int            `json:"runs"`
	Wrote int            `json:"wrote"` // runs that wrote anything
	Off   int            `json:"off"`   // runs with a write that is not on the list
	Ended map[string]int `json:"ended"` // code, or "done" → runs
}

// Escapes is the tries to get out of the extract child.
type Escapes struct {
	Tried int      `json:"tried"`
	Out   []string `json:"out"` // names of those that got out
}

// Example is one run whose write is not on the list.
type Example struct {
	Class     string `json:"class"`
	Run       string `json:"run"`
	Why       string `json:"why"`
	Structure string `json:"structure"` // of foreign origin
}

// Off is how many runs wrote what is not on the list.
func (r Report) Off() int {
	n := 0
	for _, c := range r.Classes {
		n += c.Off
	}
	return n
}

// Runs is how many runs there were.
func (r Report) Runs() int {
	n := 0
	for _, c := range r.Classes {
		n += c.Runs
	}
	return n
}

// Held reports whether no write left the list and nothing got out.
func (r Report) Held() bool { return r.Off() == 0 && len(r.Escapes.Out) == 0 }

// tried is an error where no structure got as far as policy: then nothing was
// tried, whatever the rest says.
func (r Report) tried() error {
	for _, c := range r.Classes {
		if c.Class != classStructures {
			continue
		}
		for code := range c.Ended {
			switch pipeline.Code(code) {
			case pipeline.ApprovalNeeded, pipeline.PolicyNever, pipeline.Code(pipeline.Done):
				return nil
			}
		}
		return fmt.Errorf("want structures to reach policy: all %d ended as %s", c.Runs, strings.Join(slices.Sorted(maps.Keys(c.Ended)), ", "))
	}
	return errors.New("want structures, got none")
}

func (r *Report) count(rec record, w written, why string) {
	at := slices.IndexFunc(r.Classes, func(c Class) bool { return c.Class == rec.class })
	if at < 0 {
		at = len(r.Classes)
		r.Classes = append(r.Classes, Class{Class: rec.class, Ended: map[string]int{}})
	}
	c := &r.Classes[at]
	c.Runs++
	c.Ended[cmp.Or(string(rec.code), string(pipeline.Done))]++
	if len(w.receipts)+len(w.rows) > 0 {
		c.Wrote++
	}
	if why == "" {
		return
	}
	c.Off++
	if r.Example == nil || len(w.structure) < len(r.Example.Structure) {
		r.Example = &Example{Class: rec.class, Run: rec.run, Why: why, Structure: string(w.structure)}
	}
}
