// Package local is the engine of one machine: it runs each phase as a child
// process of the same binary, restricted to what the phase holds, and keeps
// what must not be lost in SQLite.
//
// The parent is the ingress and the orchestrator. It verifies events, carries
// the envelope around the phases, ties each answer to its run, and makes
// every step durable before the next phase begins. A phase that is taken over
// can answer wrongly for the runs it is given; it cannot reach the other
// phases' data, another host, or another label class.
//
// Not promised: protection from whoever controls the parent's account.
package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"

	"decant.dev/events"
	"decant.dev/extract"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/broker"
)

// Pipeline is a recipe with its intake and its extractor: all that one engine
// needs to run it.
type Pipeline struct {
	Recipe    *pipeline.Recipe
	Intake    fetch.Intake
	Extractor func(*http.Client) extract.Extractor // called in each extract child with a client that reaches Hosts only, and in the parent with nil
	Hook      events.Hook                          // the webhook that the Intake's Source is; zero where it is GitHub's, or none
	Hosts     []string                             // "host:port" that the extractor may reach beside those that it declares (extract.Reaching)
}

// check reports what the engine cannot run without.
func (p Pipeline) check() error {
	switch {
	case p.Recipe == nil:
		return errors.New("pipeline: want a Recipe")
	case p.Intake.Elements == nil || p.Intake.Source == "":
		return fmt.Errorf("pipeline %s: want an Intake with a Source and Elements", p.Recipe.Name())
	case len(p.Recipe.Schedules()) > 0 && p.Intake.List == nil:
		return fmt.Errorf("pipeline %s: want an Intake with a List, since the recipe has schedules", p.Recipe.Name())
	case p.Extractor == nil:
		return fmt.Errorf("pipeline %s: want an Extractor", p.Recipe.Name())
	}
	if err := p.checkHook(); err != nil {
		return fmt.Errorf("pipeline %s: %w", p.Recipe.Name(), err)
	}
	for _, hosts := range [][]string{p.Intake.Hosts, p.Hosts} {
		if err := (&broker.Broker{Hosts: hosts}).Validate(); err != nil {
			return fmt.Errorf("pipeline %s: %w", p.Recipe.Name(), err)
		}
	}
	return nil
}

// checkHook reports a hook that starts nothing of the pipeline.
func (p Pipeline) checkHook() error {
	if p.Hook.Name == "" && p.Hook.Scheme == nil {
		return nil
	}
	switch err := p.Hook.Check(); {
	case err != nil:
		return err
	case p.Intake.Source != p.Hook.Name:
		return fmt.Errorf("hook %s: want it the Intake's Source, got %.32q", p.Hook.Name, p.Intake.Source)
	case !slices.ContainsFunc(p.Hook.Events(), p.Recipe.Handles):
		return fmt.Errorf("hook %s: want an event of it among the recipe's", p.Hook.Name)
	}
	return nil
}

// Hooks lists the hooks of pipelines, each once, in their order. Two that
// share a name have to be the same: a delivery is proved once.
func Hooks(pipelines ...Pipeline) ([]events.Hook, error) {
	var all []events.Hook
	for _, p := range pipelines {
		if p.Hook.Name == "" {
			continue
		}
		switch i := slices.IndexFunc(all, func(k events.Hook) bool { return k.Name == p.Hook.Name }); {
		case i < 0:
			all = append(all, p.Hook)
		case !reflect.DeepEqual(all[i], p.Hook):
			return nil, fmt.Errorf("hook %s: want it the same in every pipeline", p.Hook.Name)
		}
	}
	return all, nil
}

// digest is the recipe digest that envelopes bear: of what act knows and of
// what fetch and extract know.
func (p Pipeline) digest(x extract.Extractor) string {
	h := sha256.New()
	fmt.Fprintf(h, "decant pipeline digest v1\n%s\n%s\n%s\n", p.Recipe.Digest(), p.Intake.Digest(), extract.DigestOf(x))
	return hex.EncodeToString(h.Sum(nil))
}

// readFileLimit reads a file of at most limit bytes; a longer one is an
// error and is not read.
func readFileLimit(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("file exceeds %d bytes", limit)
	}
	return b, nil
}
