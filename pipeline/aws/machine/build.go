package machine

import (
	"time"

	"decant.dev/pipeline"
)

// The names of the states.
const (
	begin             = "Begin"
	admit             = "Admit"
	admitted          = "Admitted"
	unverified        = "Unverified"
	rest              = "Rest"
	fetch             = "Fetch"
	fetched           = "Fetched"
	lower             = "Lower"
	lowered           = "Lowered"
	extractUnverified = "ExtractUnverified"
	extractRest       = "ExtractRest"
	extracted         = "Extracted"
	journal           = "Journal"
	strip             = "Strip"
	act               = "Act"
	acted             = "Acted"
	announce          = "Announce"
	ask               = "Ask"
	approvalExpired   = "ApprovalExpired"
	phaseDied         = "PhaseDied"
	phaseTimeout      = "PhaseTimeout"
	phaseMisbehave    = "PhaseMisbehave"
	storeFailed       = "StoreFailed"
	record            = "Quarantine"
	recorded          = "Quarantined"
	enqueue           = "TellQueue"
	ended             = "Ended"
	lost              = "Lost"
)

type builder struct {
	Resources
	limits Limits
	states map[string]state
}

type object map[string]any

// lambda is a task that asks a function; its answer stands at $.answer.
func (b builder) lambda(name, arn string, limit time.Duration, in object, next string) {
	b.states[name] = state{
		Type: "Task", Resource: arn, Parameters: in, ResultPath: answer, TimeoutSeconds: int((limit + slack) / time.Second),
		Retry: []retrier{retry(transient, maxTransient), retry(timedOut, maxTimedOut)},
		Catch: []catcher{{ErrorEquals: timedOut, ResultPath: null, Next: phaseTimeout}, caught(phaseDied)},
		Next:  next,
	}
}

// service is a task of another service; its answer is thrown away.
func (b builder) service(name, api string, in object, next, failed string) {
	b.states[name] = state{
		Type: "Task", Resource: "arn:" + b.Partition + ":states:::" + api, Parameters: in, ResultPath: null,
		TimeoutSeconds: int(serviceLimit / time.Second),
		Retry:          []retrier{retry(append(append([]string(nil), transient...), throttled...), maxTransient)},
		Catch:          []catcher{caught(failed)}, Next: next,
	}
}

// verdict is the choice after a phase. good are the ways on; each of them
// holds only beside the verdict "ok". The codes of the phase end the run with
// their status, and everything else is a phase that misbehaves.
func (b builder) verdict(name string, p phase, good ...choice) {
	const at = "$.answer.verdict"
	choices := []choice{
		{not(present(at)), phaseMisbehave},
		{not(isString(at)), phaseMisbehave},
	}
	for _, g := range good {
		choices = append(choices, choice{and(append([]test{equals(at, "ok")}, g.And...)...), g.Next})
	}
	for _, s := range pipeline.Statuses() {
		var codes []pipeline.Code
		for _, c := range p.codes() {
			if c.Status() == s {
				codes = append(codes, c)
			}
		}
		if len(codes) > 0 {
			choices = append(choices, choice{oneOf(at, codes), b.settle(s)})
		}
	}
	b.states[name] = state{Type: "Choice", Choices: choices, Default: phaseMisbehave}
}

// settle returns the state that ends a run with the verdict and its status.
// The verdict was compared with the codes of that status before.
func (b builder) settle(s pipeline.Status) string {
	name := "Verdict" + string(s[0]-'a'+'A') + string(s[1:])
	b.states[name] = state{
		Type: "Pass", Parameters: object{"run.$": "$.envelope.run", "status": string(s), "code.$": "$.answer.verdict"}, Next: record,
	}
	return name
}

// fail is the state that ends a run with a code of the machine's own.
func (b builder) fail(name string, c pipeline.Code) {
	b.states[name] = state{
		Type: "Pass", Parameters: object{"run.$": "$.envelope.run", "status": string(c.Status()), "code": string(c)}, Next: record,
	}
}

// begin is the first state: without an envelope there is nothing to record.
func (b builder) begin(next string) {
	b.states[begin] = state{Type: "Choice", Default: lost, Choices: []choice{
		{and(present("$.envelope.run"), isString("$.envelope.run"), present("$.envelope.recipe"), isString("$.envelope.recipe")), next},
	}}
}

// class is the way on for what act admitted to the class.
func class(word, next string) choice {
	return choice{and(present("$.answer.class"), isString("$.answer.class"), equals("$.answer.class", word)), next}
}

func (b builder) phases() {
	b.begin(admit)

	b.lambda(admit, b.Act, b.limits.Act, object{"envelope.$": "$.envelope"}, admitted)
	b.verdict(admitted, admitPhase, class("unverified", unverified), class("rest", rest))
	// The class goes on as a word of the machine's own, and the rest of the
	// answer stays behind.
	for name, word := range map[string]string{unverified: "unverified", rest: "rest"} {
		b.states[name] = state{Type: "Pass", Parameters: object{"envelope.$": "$.envelope", "class": word}, Next: fetch}
	}

	b.lambda(fetch, b.Fetch, b.limits.Fetch, object{"envelope.$": "$.envelope"}, fetched)
	// What fetch found can lower a run and never raise it: act is told of it
	// where there is anything to lower, and says the class anew.
	lowest := func(class, next string) choice {
		return choice{and(present("$.answer.lowest"), isString("$.answer.lowest"), equals("$.class", class)), next}
	}
	b.verdict(fetched, fetchPhase, lowest("unverified", extractUnverified), lowest("rest", lower))
	b.lambda(lower, b.Act, b.limits.Act, object{"envelope.$": "$.envelope", "ceiling.$": "$.answer.lowest"}, lowered)
	b.verdict(lowered, admitPhase, class("unverified", extractUnverified), class("rest", extractRest))

	in := object{"recipe.$": "$.envelope.recipe", "run.$": "$.envelope.run"}
	b.lambda(extractUnverified, b.ExtractUnverified, b.limits.Extract, in, extracted)
	b.lambda(extractRest, b.ExtractRest, b.limits.Extract, in, extracted)
	b.verdict(extracted, extractPhase,
		choice{and(present("$.answer.structure"), present("$.answer.trace")), journal})

	b.update(journal, "SET #trace = :trace, #updated = :updated", "", object{"#trace": "trace", "#updated": "updated"}, object{
		":trace":   object{"S.$": "States.JsonToString($.answer.trace)"},
		":updated": object{"S.$": "$$.State.EnteredTime"},
	}, "$.envelope.run", strip, storeFailed)
	b.states[strip] = state{
		Type: "Pass", Parameters: object{"envelope.$": "$.envelope", "structure.$": "$.answer.structure"}, Next: act,
	}

	b.lambda(act, b.Act, b.limits.Act, actInput(), acted)
	b.verdict(acted, actPhase, over(), choice{and(present("$.answer.status"), isString("$.answer.status"), equals("$.answer.status", string(pipeline.Waiting))), announce})
}

// actInput is all that crosses into act.
func actInput() object {
	return object{"envelope.$": "$.envelope", "structure.$": "$.structure"}
}

// over is act's word that nothing is left to do; act has recorded the run.
func over() choice {
	at := "$.answer.status"
	return choice{and(present(at), isString(at), oneOf(at, []pipeline.Status{pipeline.Staged, pipeline.Done})), ended}
}

// approval waits for a person. What wakes the run carries no data: its answer
// is thrown away, and act reads the record.
func (b builder) approval() {
	b.service(announce, "sns:publish", object{
		"TopicArn": b.ApprovalTopic, "Subject": "decant: a run waits for an answer", "Message.$": "$.envelope.run",
	}, ask, storeFailed)
	b.states[ask] = state{
		Type: "Task", Resource: "arn:" + b.Partition + ":states:::lambda:invoke.waitForTaskToken",
		Parameters: object{"FunctionName": b.Approve, "Payload": object{
			"op": "ask", "run.$": "$.envelope.run", "task_token.$": "$$.Task.Token",
		}},
		ResultPath: null, TimeoutSeconds: int(b.limits.Approval / time.Second),
		Retry: []retrier{retry(transient, maxTransient)},
		Catch: []catcher{{ErrorEquals: []string{"States.Timeout"}, ResultPath: null, Next: approvalExpired}, caught(phaseDied)},
		Next:  act, // which reads the record, and asks anew where something changed meanwhile
	}
	b.fail(approvalExpired, pipeline.ApprovalExpired)
}

// endings record how a run ended where act did not, and tell the queue.
func (b builder) endings() {
	b.fail(phaseDied, pipeline.PhaseDied)
	b.fail(phaseTimeout, pipeline.PhaseTimeout)
	b.fail(phaseMisbehave, pipeline.PhaseMisbehave)
	b.fail(storeFailed, pipeline.StoreFailed)
	// What act recorded as done stays done, also where its answer was lost.
	b.update(record, "SET #status = :status, #code = :code, #updated = :updated",
		"attribute_not_exists(#status) OR #status <> :done",
		object{"#status": "status", "#code": "code", "#updated": "updated"}, object{
			":status": object{"S.$": "$.status"}, ":code": object{"S.$": "$.code"},
			":updated": object{"S.$": "$$.State.EnteredTime"}, ":done": object{"S": string(pipeline.Done)},
		}, "$.run", recorded, enqueue)
	b.states[recorded] = state{Type: "Choice", Default: enqueue, Choices: []choice{
		{oneOf("$.status", []pipeline.Status{pipeline.Dropped, pipeline.Ignored}), ended},
	}}
	b.service(enqueue, "sqs:sendMessage", object{
		"QueueUrl": b.FailureQueue, "MessageBody": object{"run.$": "$.run", "code.$": "$.code"},
	}, ended, lost)
	b.states[ended] = state{Type: "Succeed"}
	// The one way for an execution to fail: nothing could be kept of the run.
	b.states[lost] = state{Type: "Fail", Error: "Lost"}
}

// update writes a run's item.
func (b builder) update(name, expression, condition string, names, values object, run, next, failed string) {
	in := object{
		"TableName": b.RunsTable, "Key": object{"pk": object{"S.$": run}},
		"UpdateExpression": expression, "ExpressionAttributeNames": names, "ExpressionAttributeValues": values,
	}
	if condition != "" {
		in["ConditionExpression"] = condition
	}
	b.service(name, "dynamodb:updateItem", in, next, failed)
}
