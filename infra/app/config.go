package main

import (
	"fmt"
	"io/fs"
	"maps"

	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/infra"
	"decant.dev/pipeline/aws/machine"
)

// stage is one entry of the context key "decant:stages", with the defaults of
// infra.Props where a member is left out.
type stage struct {
	Region              string                  `json:"region"`  // empty: the CLI's own
	Account             string                  `json:"account"` // empty: the CLI's own
	Live                bool                    `json:"live"`
	Kinds               []string                `json:"kinds"`
	OwnIdentities       []string                `json:"ownIdentities"`
	ContextAPI          bool                    `json:"contextAPI"`
	Network             infra.Network           `json:"network"`
	Model               model                   `json:"model"`
	ReservedConcurrency map[infra.Phase]float64 `json:"reservedConcurrency"`
	RequestsPerSecond   float64                 `json:"requestsPerSecond"`
	Burst               float64                 `json:"burst"`
	TextDays            float64                 `json:"textDays"`
	LogDays             float64                 `json:"logDays"`
	ApprovalHours       int64                   `json:"approvalHours"`
	Schedules           []schedule              `json:"schedules"`
	BatchItems          int                     `json:"batchItems"`
	BatchConcurrency    int                     `json:"batchConcurrency"`
	Hooks               []hook                  `json:"hooks"`
	DeliveryQueue       bool                    `json:"deliveryQueue"`
	PermissionsBoundary string                  `json:"permissionsBoundary"`
	AlarmTopicArn       string                  `json:"alarmTopicArn"`
}

// model is a stage's model.
type model struct {
	ID        string   `json:"id"`
	Invoke    []string `json:"invoke"`
	Guardrail string   `json:"guardrail"`
}

// schedule is one member of a stage's schedules.
type schedule struct {
	Name       string `json:"name"`
	Recipe     string `json:"recipe"`
	Expression string `json:"expression"`
	TimeZone   string `json:"timeZone"` // empty: UTC
}

// hook is one member of a stage's hooks.
type hook struct {
	Name     string `json:"name"`
	Unsigned string `json:"unsigned"` // empty: it has a secret
}

// The context keys that are ours.
const (
	stageKey  = "decant:stage"
	stagesKey = "decant:stages"
)

// config is what the program deploys.
type config struct {
	name  string // of the stage
	stage stage
}

// configure reads the context: which stage, and what it is like. Keys of ours
// that are not known are errors, since a misspelt one would go unheeded.
func configure(context map[string]jsontext.Value) (config, error) {
	c := config{name: "dev"}
	for _, key := range slices.Sorted(maps.Keys(context)) {
		if strings.HasPrefix(key, "decant:") && key != stageKey && key != stagesKey {
			return config{}, fmt.Errorf("context: %.64q: want %s or %s", key, stageKey, stagesKey)
		}
	}
	if raw, ok := context[stageKey]; ok {
		if err := json.Unmarshal(raw, &c.name); err != nil {
			return config{}, fmt.Errorf("context: %s: want a string", stageKey)
		}
	}
	stages := map[string]jsontext.Value{}
	if raw, ok := context[stagesKey]; ok {
		if err := json.Unmarshal(raw, &stages); err != nil {
			return config{}, fmt.Errorf("context: %s: want an object of stages", stagesKey)
		}
	}
	raw, ok := stages[c.name]
	switch {
	case ok:
		if err := json.Unmarshal(raw, &c.stage, json.RejectUnknownMembers(true)); err != nil {
			return config{}, fmt.Errorf("context: %s: stage %.64q: %w", stagesKey, c.name, err)
		}
	case len(stages) > 0:
		return config{}, fmt.Errorf("context: %s: want one of %s, got %.64q", stageKey, strings.Join(slices.Sorted(maps.Keys(stages)), ", "), c.name)
	}
	if c.stage.ApprovalHours < 0 || c.stage.ApprovalHours > int64(machine.MaxApproval/time.Hour) {
		return config{}, fmt.Errorf("context: stage %s: approvalHours: want 1 to %d, got %d", c.name, machine.MaxApproval/time.Hour, c.stage.ApprovalHours)
	}
	if err := c.props().Check(); err != nil {
		return config{}, fmt.Errorf("context: stage %.64q: %w", c.name, err)
	}
	return c, nil
}

func (c config) props() *infra.Props {
	s := c.stage
	var schedules []infra.Schedule
	for _, one := range s.Schedules {
		schedules = append(schedules, infra.Schedule(one))
	}
	var hooks []infra.Hook
	for _, one := range s.Hooks {
		hooks = append(hooks, infra.Hook(one))
	}
	return &infra.Props{
		Hooks: hooks, Schedules: schedules, DeliveryQueue: s.DeliveryQueue, Batches: machine.Batches{Items: s.BatchItems, Concurrency: s.BatchConcurrency},
		Stage: c.name, Live: s.Live, Kinds: s.Kinds, OwnIdentities: s.OwnIdentities, Network: s.Network, Model: infra.Model(s.Model), ContextAPI: s.ContextAPI,
		ReservedConcurrency: s.ReservedConcurrency, RequestsPerSecond: s.RequestsPerSecond, Burst: s.Burst,
		TextDays: s.TextDays, LogDays: s.LogDays, PermissionsBoundary: s.PermissionsBoundary, AlarmTopicArn: s.AlarmTopicArn,
		Limits: machine.Limits{Approval: time.Duration(s.ApprovalHours) * time.Hour},
	}
}

// context returns the context that the CDK command passes on, or, where the
// program is run by itself, that of cdk.json.
func context(lookup func(string) (string, bool), dir fs.FS) (map[string]jsontext.Value, error) {
	all := map[string]jsontext.Value{}
	if given, ok := lookup("CDK_CONTEXT_JSON"); ok {
		if err := json.Unmarshal([]byte(given), &all); err != nil {
			return nil, fmt.Errorf("CDK_CONTEXT_JSON: %w", err)
		}
		return all, nil
	}
	b, err := fs.ReadFile(dir, "cdk.json")
	if err != nil {
		return nil, fmt.Errorf("context: %w: run from the folder of cdk.json", err)
	}
	var file struct {
		Context map[string]jsontext.Value `json:"context"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("cdk.json: %w", err)
	}
	return file.Context, nil
}
