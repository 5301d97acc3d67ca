package local

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"decant.dev/extract"
	"decant.dev/pipeline/local/broker"
)

// models is what the engine's extractors need beside a prompt: hosts to reach
// and variables to read. Extract children are given it, and no other phase is.
type models struct {
	hosts       []string
	environment []string
}

// variableForm is a name that an extractor may declare. What an engine sets
// for its children, and what changes how a program runs, is none.
var (
	variableForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,127}$`)
	reserved     = []string{"DECANT_", "GO", "LD_", "PATH", "TZ"} // the beginnings of names
)

// add takes over what a pipeline's extractor declares.
func (m *models) add(p Pipeline, x extract.Extractor) error {
	hosts := append(slices.Clone(p.Hosts), extract.HostsOf(x)...)
	if err := (&broker.Broker{Hosts: hosts}).Validate(); err != nil {
		return fmt.Errorf("pipeline %s: %w", p.Recipe.Name(), err)
	}
	for _, host := range hosts {
		if !slices.Contains(m.hosts, host) {
			m.hosts = append(m.hosts, host)
		}
	}
	for _, name := range extract.EnvironmentOf(x) {
		if !variableForm.MatchString(name) || slices.ContainsFunc(reserved, func(r string) bool { return strings.HasPrefix(name, r) }) {
			return fmt.Errorf("pipeline %s: the extractor's variable %.64q: want %s, and none that begins with %s",
				p.Recipe.Name(), name, variableForm, strings.Join(reserved, ", "))
		}
		if !slices.Contains(m.environment, name) {
			m.environment = append(m.environment, name)
		}
	}
	return nil
}

// near lists those of the hosts that are an address of this machine, as
// numbers: a model may run here. A name is judged by what it resolves to, and
// that has to be public.
func (m *models) near() []string {
	var near []string
	for _, host := range m.hosts {
		if at, err := netip.ParseAddrPort(host); err == nil && at.Addr().IsLoopback() {
			near = append(near, host)
		}
	}
	return near
}

// keys gives a phase's children the variables that are set, as they are now.
func (p *phase) keys(names []string, lookup func(string) (string, bool)) {
	for _, name := range names {
		if value, set := lookup(name); set {
			p.env = append(p.env[:len(p.env):len(p.env)], name+"="+value)
		}
	}
}
