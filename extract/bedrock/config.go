package bedrock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"decant.dev/extract"
	"decant.dev/extract/internal/attempt"
	"decant.dev/extract/shape"
)

// Held says how a model is held to the schema. Which models take what is
// configuration: docs.aws.amazon.com/bedrock/latest/userguide, "Structured
// output". The zero Held is none.
type Held string

// The ways.
const (
	ByFormat Held = "format" // the schema is the format of the output
	ByTool   Held = "tool"   // the schema is the input of a strict tool, which the model has to call; its properties are sent in no order
)

// Guardrail is one of Bedrock's, which judges the question and the answer. The
// zero value is none.
type Guardrail struct {
	ID      string // id or ARN
	Version string // a number, or "DRAFT"
}

// Config is one model, and how it is asked.
type Config struct {
	Region string // "eu-central-1"
	Model  string // id of a model, or id or ARN of an inference profile
	Held   Held   // ByFormat or ByTool
	Cache  bool   // the model takes a cache point, and one is set after the preamble

	// Schema is what the model takes of JSON Schema; the zero value is
	// shape.Bedrock.
	Schema shape.Provider

	Guardrail   Guardrail
	MaxTokens   int            // most tokens of an answer, reasoning included, 1 to 65536; 0 is DefaultMaxTokens
	Temperature *float32       // 0 to 1; nil leaves it to the model
	Times       Times          // of a question; zero are the defaults
	Prices      extract.Prices // zero: none known

	// Endpoint is another base URL than the region's own: of an interface
	// endpoint, or of a local server. https, or http to an address of this
	// machine; no user, path, query or fragment.
	Endpoint string

	// Client makes the requests; nil is one that reaches the endpoint's host
	// and no other. Its transport is used, its other settings are not.
	Client *http.Client
}

// Times bound one question: Each an attempt, to the last byte of its answer,
// by default 40 s; Total all three and the waits between, by default 50 s, at
// most 10 minutes. A run asks at most two questions, and its engine gives the
// extract phase 120 s for both. Bedrock may take minutes for the first use of
// a schema: such a run ends without an answer, and is tried again later.
type Times = attempt.Times

// DefaultMaxTokens is room for a structure of some thousand characters.
const DefaultMaxTokens = 4096

const maxMaxTokens = 65536

var (
	regionForm           = regexp.MustCompile(`^[a-z]{2}(-[a-z]{1,12}){1,3}-[0-9]{1,2}$`)
	modelForm            = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,511}$`)
	guardrailForm        = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:/_-]{0,511}$`)
	guardrailVersionForm = regexp.MustCompile(`^([1-9][0-9]{0,7}|DRAFT)$`)
)

// complete puts the defaults in, finds the host, and reports all that is out
// of bounds.
func (c Config) complete() (Config, string, error) {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("bedrock: "+format, args...))
		}
	}
	regional := regionForm.MatchString(c.Region)
	fault(regional, "region: want %s, got %.64q", regionForm, c.Region)
	fault(modelForm.MatchString(c.Model), "model: want %s, got %.64q", modelForm, c.Model)
	fault(c.Held == ByFormat || c.Held == ByTool, "held: want %q or %q, got %.64q", ByFormat, ByTool, c.Held)
	if c.Guardrail != (Guardrail{}) {
		fault(guardrailForm.MatchString(c.Guardrail.ID) && guardrailVersionForm.MatchString(c.Guardrail.Version), "guardrail: want an id or ARN, and a version or DRAFT")
	}
	if c.Schema == (shape.Provider{}) {
		c.Schema = shape.Bedrock()
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = DefaultMaxTokens
	}
	fault(c.MaxTokens >= 1 && c.MaxTokens <= maxMaxTokens, "max tokens: want 1 to %d, got %d", maxMaxTokens, c.MaxTokens)
	fault(c.Temperature == nil || *c.Temperature >= 0 && *c.Temperature <= 1, "temperature: want 0 to 1")
	var err error
	if c.Times, err = c.Times.Complete(); err != nil {
		fault(false, "%w", err)
	}
	if err := c.Prices.Check(); err != nil {
		fault(false, "%w", err)
	}
	host := ""
	switch {
	case c.Endpoint != "":
		if host, err = hostOf(c.Endpoint); err != nil {
			fault(false, "endpoint: %w", err)
		}
	case regional:
		at, err := bedrockruntime.NewDefaultEndpointResolverV2().ResolveEndpoint(context.Background(), bedrockruntime.EndpointParameters{Region: &c.Region})
		if err != nil {
			fault(false, "region %s: want one with an endpoint of Bedrock", c.Region)
			break
		}
		host = at.URI.Hostname() + ":443"
	}
	return c, host, errors.Join(faults...)
}

// hostOf takes https to any host, and http to an address of this machine.
func hostOf(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(endpoint, "?#") {
		return "", errors.New(`want "https://host" without a user, a path or a query`)
	}
	port := u.Port()
	switch u.Scheme {
	case "https":
		if port == "" {
			port = "443"
		}
	case "http":
		if addr, err := netip.ParseAddr(u.Hostname()); err != nil || !addr.IsLoopback() || addr.Zone() != "" || port == "" {
			return "", errors.New("want https, or http to an address and port of this machine alone")
		}
	default:
		return "", errors.New("want https, or http to an address and port of this machine alone")
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}
