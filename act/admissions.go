package act

import (
	"context"
	"sync"

	"decant.dev/act/plan"
)

// Admissions remembers between act's two answers about a run the label of the
// first, so that the second can be no higher.
type Admissions interface {
	// Admit records the label, in place of an earlier attempt's.
	Admit(ctx context.Context, run string, l plan.Label) error
	// Admitted returns what was recorded, and false where nothing was.
	Admitted(ctx context.Context, run string) (plan.Label, bool, error)
}

// maxRemembered bounds the rememberer of an act that outlives many runs which
// never came back to it. Forgetting costs such a run one more admission.
const maxRemembered = 1 << 14

// rememberer is Admissions for an act whose process answers both questions, or
// is asked both again.
type rememberer struct {
	mu     sync.Mutex
	labels map[string]plan.Label
}

// NewAdmissions remembers in this process alone.
func NewAdmissions() Admissions { return &rememberer{labels: map[string]plan.Label{}} }

func (m *rememberer) Admit(_ context.Context, run string, l plan.Label) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.labels) >= maxRemembered {
		clear(m.labels)
	}
	m.labels[run] = l
	return nil
}

func (m *rememberer) Admitted(_ context.Context, run string) (plan.Label, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.labels[run]
	return l, ok, nil
}
