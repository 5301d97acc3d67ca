package function

import (
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Count is one metric of a handler's own: how often something was so. Its
// words come from the code, never from an event.
type Count struct {
	Name      string // as "SignatureMatched"
	Dimension string // as "secret"
	Value     string // as "current"
	Times     int    // zero is once
}

// The metrics of every invocation. Names of metrics are in Pascal case and
// names of dimensions in snake case, as Powertools writes them.
const (
	verdicts  = "Verdicts"  // one for each invocation, by service, and by service and code
	duration  = "Duration"  // of the handler
	coldStart = "ColdStart" // one for the first invocation of a process
)

// metric is one metric's declaration.
type metric struct {
	Name string
	Unit string
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []metric
}

// measure writes one line in CloudWatch's embedded metric format for each set
// of dimensions
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
func (f *Function) measure(word string, took time.Duration, counts []Count) {
	f.emit([][]string{{"service"}, {"service", "code"}}, []metric{{verdicts, "Count"}, {duration, "Milliseconds"}},
		map[string]any{"service": f.Service, "code": word, verdicts: 1, duration: milliseconds(took)})
	for _, c := range counts {
		f.emit([][]string{{"service", c.Dimension}}, []metric{{c.Name, "Count"}},
			map[string]any{"service": f.Service, c.Dimension: c.Value, c.Name: max(c.Times, 1)})
	}
	if !f.warm {
		f.emit([][]string{{"service", "function_name"}}, []metric{{coldStart, "Count"}},
			map[string]any{"service": f.Service, "function_name": os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), coldStart: 1})
	}
}

func (f *Function) emit(dimensions [][]string, metrics []metric, members map[string]any) {
	members["_aws"] = struct {
		Timestamp         int64
		CloudWatchMetrics []directive
	}{f.Clock().UnixMilli(), []directive{{f.Namespace, dimensions, metrics}}}
	line, err := json.Marshal(members, json.Deterministic(true), jsontext.Multiline(false))
	if err != nil {
		return // numbers and our own words always encode
	}
	_, _ = f.Out.Write(append(line, '\n')) // a metric that is lost changes no answer
}
