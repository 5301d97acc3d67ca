package infra

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"decant.dev/events"
)

// Every mapping of a queue to a function, over every template: the function
// names what failed, a message waits out the function's retries, and what
// fails too often is set aside.
func TestEveryQueueMappingReportsWhatFailed(t *testing.T) {
	mappings := 0
	everyVariant(t, func(t *testing.T, v *variant) {
		ids := v.of("AWS::Lambda::EventSourceMapping")
		if (len(ids) == 1) != v.props.DeliveryQueue {
			t.Fatalf("got %d mappings", len(ids))
		}
		for _, id := range ids {
			mappings++
			p := v.template.Resources[id].Properties
			if !reflect.DeepEqual(p["FunctionResponseTypes"], []any{"ReportBatchItemFailures"}) {
				t.Errorf("%s: response types %v", id, p["FunctionResponseTypes"])
			}
			if p["BatchSize"] != 10.0 || !reflect.DeepEqual(p["ScalingConfig"], map[string]any{"MaximumConcurrency": 10.0}) || p["FilterCriteria"] != nil {
				t.Errorf("%s: %v", id, p)
			}
			function := v.template.Resources[p["FunctionName"].(map[string]any)["Ref"].(string)].Properties
			queue := v.template.Resources[p["EventSourceArn"].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)].Properties
			if queue["VisibilityTimeout"].(float64) < 6*function["Timeout"].(float64) {
				t.Errorf("%s: a message is hidden for %v s, the function takes %v s", id, queue["VisibilityTimeout"], function["Timeout"])
			}
			redrive := queue["RedrivePolicy"].(map[string]any)
			dead := v.template.Resources[redrive["deadLetterTargetArn"].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)]
			if redrive["maxReceiveCount"] != 5.0 || dead.Type != "AWS::SQS::Queue" || dead.Properties["RedrivePolicy"] != nil {
				t.Errorf("%s: redrive is %v", id, redrive)
			}
		}
	})
	if mappings == 0 {
		t.Error("no template has a mapping: nothing was looked at")
	}
}

// Every schedule fires at its instant, in its zone, and what cannot be
// delivered is in the failure queue.
func TestEveryScheduleFiresExactlyAndIsNotLost(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		ids := v.of("AWS::Scheduler::Schedule")
		if len(ids) != len(v.props.Schedules)+1 {
			t.Fatalf("got %d schedules, want one for each and the sweep's", len(ids))
		}
		inputs := map[string][2]string{}
		for _, id := range ids {
			p := v.template.Resources[id].Properties
			target := p["Target"].(map[string]any)
			if !reflect.DeepEqual(p["FlexibleTimeWindow"], map[string]any{"Mode": "OFF"}) || p["State"] != "ENABLED" {
				t.Errorf("%s: window %v, state %v", id, p["FlexibleTimeWindow"], p["State"])
			}
			if !strings.Contains(text(target["RoleArn"]), "SchedulerRole") || !strings.Contains(text(target["DeadLetterConfig"]), "FailureQueue") ||
				!reflect.DeepEqual(target["RetryPolicy"], map[string]any{"MaximumEventAgeInSeconds": 3600.0, "MaximumRetryAttempts": 10.0}) {
				t.Errorf("%s: %v", id, target)
			}
			on := "Ingress"
			if target["Input"] == "{}" {
				on = "Sweep"
			}
			if !strings.Contains(text(target["Arn"]), on) {
				t.Errorf("%s fires %s", id, text(target["Arn"]))
			}
			inputs[target["Input"].(string)] = [2]string{p["ScheduleExpression"].(string), p["ScheduleExpressionTimezone"].(string)}
		}
		want := map[string][2]string{"{}": {"rate(15 minutes)", "UTC"}}
		for _, s := range completeSchedules(v.props.Schedules) {
			want[`{"tick":{"recipe":"`+s.Recipe+`","schedule":"`+s.Name+`","instant":"<aws.scheduler.scheduled-time>"}}`] = [2]string{s.Expression, s.TimeZone}
		}
		if !reflect.DeepEqual(inputs, want) {
			t.Errorf("fires %v, want %v", inputs, want)
		}
	})
}

// What a schedule sends is a tick, once Scheduler has put in the instant as it
// documents.
func TestAScheduleSendsATick(t *testing.T) {
	v := synthesized(t, "full")
	ticks := 0
	for _, id := range v.of("AWS::Scheduler::Schedule") {
		sent := v.template.Resources[id].Properties["Target"].(map[string]any)["Input"].(string)
		if sent == "{}" {
			continue
		}
		var in struct{ Tick json.RawMessage }
		if err := json.Unmarshal([]byte(strings.Replace(sent, "<aws.scheduler.scheduled-time>", "2022-03-22T18:59:43Z", 1)), &in); err != nil {
			t.Fatal(err)
		}
		tick, err := events.ParseTick(in.Tick)
		if err != nil || tick.Recipe != "advisories" || tick.Instant.Year() != 2022 {
			t.Errorf("%s: got %+v, %v", sent, tick, err)
		}
		ticks++
	}
	if ticks != 2 {
		t.Errorf("got %d ticks, want 2", ticks)
	}
}

func TestMarkersAreKeptAWeekAndManifestsAsLongAsText(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		props, err := v.props.complete()
		if err != nil {
			t.Fatal(err)
		}
		bucket := v.template.Resources[v.of("AWS::S3::Bucket")[0]].Properties
		days := map[string]float64{}
		for _, r := range bucket["LifecycleConfiguration"].(map[string]any)["Rules"].([]any) {
			rule := r.(map[string]any)
			days[rule["Prefix"].(string)] = rule["ExpirationInDays"].(float64)
		}
		want := map[string]float64{"raw/": props.TextDays, "prompt/": props.TextDays, "bundle/": props.TextDays, "manifest/": props.TextDays, "cursor/": props.TextDays, "start/": min(7, props.TextDays)}
		if !reflect.DeepEqual(days, want) {
			t.Errorf("objects are kept %v days, want %v", days, want)
		}
	})
}

// The machine of batches reads manifests and no other object; only its own
// executions does it start or stop.
func TestTheMachineOfBatchesReadsManifestsAlone(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		for id, r := range v.template.Resources {
			if r.Type != "AWS::IAM::Role" || !strings.Contains(id, "BatchRole") {
				continue
			}
			for _, s := range r.Properties["Policies"].([]any)[0].(map[string]any)["PolicyDocument"].(map[string]any)["Statement"].([]any) {
				s := s.(map[string]any)
				if strings.Contains(text(s["Action"]), "s3:") && s["Effect"] == "Allow" && (s["Action"] != "s3:GetObject" || !strings.Contains(text(s["Resource"]), `"/manifest/*"`)) {
					t.Errorf("may %v on %v", s["Action"], s["Resource"])
				}
			}
		}
	})
}
