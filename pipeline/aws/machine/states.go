package machine

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/pipeline"
)

// definition, state and their parts are the subset of the States Language
// that the machine uses.
type definition struct {
	Comment        string
	QueryLanguage  string
	StartAt        string
	TimeoutSeconds int
	States         map[string]state
}

type state struct {
	Type           string
	Resource       string         `json:",omitzero"`
	Parameters     any            `json:",omitzero"`
	ResultPath     jsontext.Value `json:",omitzero"`
	TimeoutSeconds int            `json:",omitzero"`
	Retry          []retrier      `json:",omitempty"`
	Catch          []catcher      `json:",omitempty"`
	Choices        []choice       `json:",omitempty"`
	Default        string         `json:",omitzero"`
	Error          string         `json:",omitzero"`
	OutputPath     jsontext.Value `json:",omitzero"`
	Next           string         `json:",omitzero"`

	// Of a Map.
	Label                      string     `json:",omitzero"`
	ItemReader                 *reader    `json:",omitzero"`
	ItemSelector               object     `json:",omitzero"`
	ItemProcessor              *processor `json:",omitzero"`
	MaxConcurrency             int        `json:",omitzero"`
	ToleratedFailurePercentage int        `json:",omitzero"`
}

// reader says where a Map's items stand, processor what is done with each.
type reader struct {
	Resource     string
	ReaderConfig object
	Parameters   object
}

type processor struct {
	ProcessorConfig object
	StartAt         string
	States          map[string]state
}

type retrier struct {
	ErrorEquals     []string
	IntervalSeconds int
	BackoffRate     float64
	MaxAttempts     int
	MaxDelaySeconds int
	JitterStrategy  string
}

type catcher struct {
	ErrorEquals []string
	ResultPath  jsontext.Value // always null: the error is thrown away
	Next        string
}

// test is one condition; choice is a condition with where it leads.
type test struct {
	Variable      string  `json:",omitzero"`
	IsPresent     *bool   `json:",omitzero"`
	IsString      *bool   `json:",omitzero"`
	IsNumeric     *bool   `json:",omitzero"`
	StringEquals  *string `json:",omitzero"`
	NumericEquals *int    `json:",omitzero"`
	AtLeast       *int    `json:"NumericGreaterThanEquals,omitzero"`
	And           []test  `json:",omitempty"`
	Or            []test  `json:",omitempty"`
	Not           *test   `json:",omitzero"`
}

type choice struct {
	test `json:",inline"`
	Next string
}

var (
	null   = jsontext.Value("null")
	answer = jsontext.Value(`"$.answer"`)
)

func present(path string) test { yes := true; return test{Variable: path, IsPresent: &yes} }
func isString(path string) test {
	yes := true
	return test{Variable: path, IsString: &yes}
}
func isNumber(path string) test {
	yes := true
	return test{Variable: path, IsNumeric: &yes}
}
func isCount(path string, n int) test { return test{Variable: path, NumericEquals: &n} }
func atLeast(path string, n int) test { return test{Variable: path, AtLeast: &n} }
func equals(path, word string) test   { return test{Variable: path, StringEquals: &word} }
func not(t test) test                 { return test{Not: &t} }

// and holds where all hold; tests are made in order, so that a path is looked
// at only after its presence and type.
func and(tests ...test) test { return test{And: tests} }

// oneOf holds where path is one of the words.
func oneOf[W ~string](path string, words []W) test {
	if len(words) == 1 {
		return equals(path, string(words[0]))
	}
	var or []test
	for _, w := range words {
		or = append(or, equals(path, string(w)))
	}
	return test{Or: or}
}

// The retry classes. What is not named here is never retried: a denial or a
// failure to parse comes back the same.
var (
	// transient are throttling and faults of the services themselves, and the
	// one error that our handlers return.
	transient = []string{
		"Lambda.TooManyRequestsException", "Lambda.ServiceException", "Lambda.SdkClientException", "RetryableError",
	}
	// throttled are the same of a table; the optimized integration prefixes
	// them so (docs.aws.amazon.com/step-functions/latest/dg/connect-ddb.html).
	throttled = []string{
		"DynamoDB.ProvisionedThroughputExceededException", "DynamoDB.RequestLimitExceeded", "DynamoDB.ThrottlingException",
	}
	// timedOut recur when they must, so they are tried once more and no
	// oftener. The second is a function's own limit.
	timedOut = []string{"States.Timeout", "Sandbox.Timedout"}
)

// MaxAsked is how often a phase is asked about one run: once, and again by each
// class of retry.
const MaxAsked = 1 + maxTransient + maxTimedOut

const (
	maxTransient = 4
	maxTimedOut  = 1
	maxDelay     = 20 * time.Second
	serviceLimit = 30 * time.Second
	serviceTasks = 5 // on the longest way: journal, announce twice, record, enqueue
)

func retry(errors []string, attempts int) retrier {
	return retrier{
		ErrorEquals: errors, IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: attempts,
		MaxDelaySeconds: int(maxDelay / time.Second), JitterStrategy: "FULL",
	}
}

// caught sends every error onward without what it said.
func caught(next string) catcher {
	return catcher{ErrorEquals: []string{"States.ALL"}, ResultPath: null, Next: next}
}

func sorted(codes []pipeline.Code) []pipeline.Code {
	slices.Sort(codes)
	return codes
}
