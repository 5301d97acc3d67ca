// Package queue is the sink of queues on AWS: it sends messages to the SQS
// queues that whoever operates decant configured by name.
//
// SQS cannot be asked whether it has a message. A send whose answer was lost
// stays unknown, unless the queue's readers are declared to take each key
// once: then it is sent again. To a queue whose URL ends in ".fifo" a lost
// answer is asked for once more within the same call: SQS takes a
// deduplication id once in five minutes
// (docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html),
// and a call is over long before.
package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"decant.dev/act"
	"decant.dev/act/message"
	"decant.dev/act/plan"
	"decant.dev/pipeline/aws/client"
)

// DefaultLimit bounds one Send.
const DefaultLimit = 15 * time.Second

// The waits where SQS names none.
const (
	throttledFor    = 2 * time.Second
	unauthorizedFor = time.Minute
)

const (
	maxAnswer = 64 << 10
	fifo      = ".fifo"
	fifoSends = 3 // at most, within the limit of one call
)

// Queue is one queue.
type Queue struct {
	URL string // as SQS gives it
	// Idempotent says that the queue's readers perform each key once, however
	// often it is sent. It is the operator's word, and nothing checks it.
	Idempotent bool
}

// Config is what the sink needs.
type Config struct {
	Region   string
	Endpoint string           // empty is the service's own
	Queues   map[string]Queue // by name, of plan.NameForm
	Limit    time.Duration    // zero is DefaultLimit
}

// Sink performs plan.KindQueueSend. It is safe for concurrent use.
type Sink struct {
	api    *sqs.Client
	queues map[string]Queue
	limit  time.Duration
}

var _ act.Sink = (*Sink)(nil)

// New checks a configuration and makes its sink.
func New(c Config) (*Sink, error) {
	switch {
	case c.Region == "":
		return nil, errors.New("queue: want a region")
	case len(c.Queues) == 0:
		return nil, errors.New("queue: want at least one queue")
	case c.Limit < 0 || c.Limit > act.MaxSinkTime:
		return nil, fmt.Errorf("queue: limit %s: want at most %s", c.Limit, act.MaxSinkTime)
	case c.Limit == 0:
		c.Limit = DefaultLimit
	}
	for _, name := range slices.Sorted(maps.Keys(c.Queues)) {
		if !plan.IsName(name) {
			return nil, fmt.Errorf("queue %.64q: want %s", name, plan.NameForm)
		}
		u, err := url.Parse(c.Queues[name].URL)
		if err != nil || u.Scheme != "https" && c.Endpoint == "" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return nil, fmt.Errorf("queue %s: want the https URL that SQS gives", name)
		}
	}
	config := client.Config(c.Region, c.Endpoint, maxAnswer)
	// One request a send: another is made where it is certain to be right.
	config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	return &Sink{api: sqs.NewFromConfig(config), queues: maps.Clone(c.Queues), limit: c.Limit}, nil
}

// Limit is how long one Send takes at most.
func (s *Sink) Limit() time.Duration { return s.limit }

// Send sends a job's message.
func (s *Sink) Send(ctx context.Context, j act.Job) act.Answer {
	name, body, err := message.Encode(j, "queue")
	if err != nil || j.Kind != plan.KindQueueSend {
		return act.Answer{Verdict: act.Rejected, Word: "bad_parameters"}
	}
	q, ok := s.queues[name]
	if !ok { // the next configuration may have it
		return act.Answer{Verdict: act.NotPerformed, Word: "no_queue", After: unauthorizedFor}
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	in := &sqs.SendMessageInput{QueueUrl: &q.URL, MessageBody: aws.String(string(body))}
	if !strings.HasSuffix(q.URL, fifo) {
		return s.send(ctx, in)
	}
	// The messages about one place stay in order.
	group := sha256.Sum256([]byte("decant message group v1\n" + j.Place))
	in.MessageDeduplicationId, in.MessageGroupId = &j.Key, aws.String(hex.EncodeToString(group[:16]))
	unsure := false
	for range fifoSends {
		each, done := context.WithTimeout(ctx, s.limit/fifoSends)
		a := s.send(each, in)
		done()
		switch {
		case a.Verdict == act.Performed:
			return a
		case a.Verdict == act.Unsure:
			unsure = true
		case unsure:
			return act.Answer{} // of an earlier request nobody can say
		default:
			return a
		}
	}
	return act.Answer{}
}

// send makes one request.
func (s *Sink) send(ctx context.Context, in *sqs.SendMessageInput) act.Answer {
	var begun atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { begun.Store(true) }})
	out, err := s.api.SendMessage(ctx, in)
	if err == nil {
		if aws.ToString(out.MessageId) == "" {
			return act.Answer{}
		}
		return act.Answer{Verdict: act.Performed, Word: "sent", Remote: *out.MessageId}
	}
	return judge(err, begun.Load())
}

// words are SQS's codes after which nothing was sent, and what is certain
// then. An expired credential is replaced by the next, so that the job waits.
var words = map[string]act.Answer{
	"RequestThrottled":                        {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"Throttling":                              {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"ThrottlingException":                     {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"ThrottledException":                      {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"RequestThrottledException":               {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"KmsThrottled":                            {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"OverLimit":                               {Verdict: act.NotPerformed, Word: "rate_limited", After: throttledFor},
	"ExpiredToken":                            {Verdict: act.NotPerformed, Word: "unauthorized", After: unauthorizedFor},
	"ExpiredTokenException":                   {Verdict: act.NotPerformed, Word: "unauthorized", After: unauthorizedFor},
	"InvalidClientTokenId":                    {Verdict: act.NotPerformed, Word: "unauthorized", After: unauthorizedFor},
	"UnrecognizedClientException":             {Verdict: act.NotPerformed, Word: "unauthorized", After: unauthorizedFor},
	"InvalidSignatureException":               {Verdict: act.NotPerformed, Word: "unauthorized", After: unauthorizedFor},
	"QueueDoesNotExist":                       {Verdict: act.Rejected, Word: "not_found"},
	"AWS.SimpleQueueService.NonExistentQueue": {Verdict: act.Rejected, Word: "not_found"},
	"AccessDenied":                            {Verdict: act.Rejected, Word: "forbidden"},
	"AccessDeniedException":                   {Verdict: act.Rejected, Word: "forbidden"},
	"KmsAccessDenied":                         {Verdict: act.Rejected, Word: "forbidden"},
	"KmsDisabled":                             {Verdict: act.Rejected, Word: "forbidden"},
	"KmsNotFound":                             {Verdict: act.Rejected, Word: "forbidden"},
	"InvalidMessageContents":                  {Verdict: act.Rejected, Word: "invalid"},
	"InvalidParameterValue":                   {Verdict: act.Rejected, Word: "invalid"},
	"MissingParameter":                        {Verdict: act.Rejected, Word: "invalid"},
	"InvalidAddress":                          {Verdict: act.Rejected, Word: "invalid"},
	"UnsupportedOperation":                    {Verdict: act.Rejected, Word: "invalid"},
	"InvalidSecurity":                         {Verdict: act.Rejected, Word: "invalid"},
}

// judge says what a request that failed is certain to have done. begun is
// whether a byte of it may have reached SQS. A code is certain only with a
// status of 4xx.
func judge(err error, begun bool) act.Answer {
	var api smithy.APIError
	var answer interface{ HTTPStatusCode() int }
	status := 0
	if errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	switch {
	case status >= 300 && status <= 399:
		return act.Answer{Verdict: act.Rejected, Word: "moved"}
	case status >= 400 && status <= 499 && errors.As(err, &api):
		return words[client.Code(err)]
	case !begun:
		return act.Answer{Verdict: act.NotPerformed, Word: "unreachable"}
	}
	return act.Answer{}
}

// Find answers that a job may be sent again where the queue's readers take
// each key once, and otherwise nothing.
func (s *Sink) Find(_ context.Context, j act.Job) act.Answer {
	name, _, err := message.Encode(j, "queue")
	switch {
	case err != nil || j.Kind != plan.KindQueueSend:
		return act.Answer{Verdict: act.Rejected, Word: "bad_parameters"}
	case s.queues[name].Idempotent:
		return act.Answer{Verdict: act.NotPerformed, Word: "repeatable"}
	default:
		return act.Answer{}
	}
}
