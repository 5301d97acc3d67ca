package authority

import (
	"slices"
	"strings"
)

// Pattern names resources. Where ID is not empty, it is the logical id of a
// resource of the template, and Rest what follows its ARN ("/raw/*").
// Otherwise Rest is "*", or an ARN with CloudFormation's pseudo parameters
// ("arn:${AWS::Partition}:…"), of a resource outside the template. Both parts
// may hold IAM's wildcards in Rest.
type Pattern struct{ ID, Rest string }

// String is the pattern as the table shows it.
func (p Pattern) String() string { return p.ID + p.Rest }

// Covers reports whether every resource that o names is named by p, as far as
// the template tells: the names that a deployment gives are not known, so a
// pattern of the one kind covers none of the other, except "*", which covers
// all.
func (p Pattern) Covers(o Pattern) bool {
	if p == everything {
		return true
	}
	return p.ID == o.ID && covers(p.Rest, o.Rest)
}

// mayOverlap reports whether p and o may name a resource in common. It is true
// wherever the template does not tell.
func (p Pattern) mayOverlap(o Pattern) bool {
	switch {
	case p.ID == o.ID:
		return overlaps(p.Rest, o.Rest)
	case p.ID == "" || o.ID == "":
		return true
	}
	open := func(rest string) bool { return strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "?") }
	return open(p.Rest) || open(o.Rest)
}

var everything = Pattern{Rest: "*"}

// pattern resolves n to the resources that a statement names.
func (t *template) pattern(n *node) (Pattern, error) {
	parts, err := t.parts(n)
	if err != nil {
		return Pattern{}, err
	}
	if len(parts) == 0 {
		return Pattern{}, n.failf("want the ARN of a resource, got nothing")
	}
	if head := parts[0]; head.id != "" {
		typ := t.resources[head.id].typ
		suffix, ok := known[typ].arns[head.attr]
		if !ok {
			return Pattern{}, n.failf("want the ARN of %s, got another attribute", head.id)
		}
		return finish(n, head.id, suffix, parts[1:])
	}
	if len(parts) == 1 {
		if head := parts[0].text; head == "*" || strings.HasPrefix(head, "arn:") && len(fields(head)) >= 6 {
			return Pattern{Rest: head}, nil
		}
		return Pattern{}, n.failf("want an ARN or *")
	}
	// A name within an ARN that is written out.
	ref := parts[1]
	kind := known[t.resources[ref.id].typ]
	if kind.inner != "" && sameARN(parts[0].text, kind.inner) && ref.attr == kind.nameAttr && len(parts) == 3 && parts[2].id == "" {
		return Pattern{ref.id, kind.innerName + parts[2].text}, nil
	}
	if kind.prefix == "" || !sameARN(parts[0].text, kind.prefix) || ref.attr != kind.nameAttr && (ref.attr != "Ref" || kind.nameAttr != "") {
		return Pattern{}, n.failf("want the ARN of %s, got what cannot be resolved to it", ref.id)
	}
	return finish(n, ref.id, "", parts[2:])
}

func finish(n *node, id, suffix string, tail []part) (Pattern, error) {
	switch {
	case len(tail) == 0:
		return Pattern{id, suffix}, nil
	case len(tail) == 1 && tail[0].id == "" && suffix == "":
		return Pattern{id, tail[0].text}, nil
	}
	return Pattern{}, n.failf("want the ARN of %s and plain text after it", id)
}

// sameARN reports whether the beginning of an ARN is that of a kind of
// resource. Partition, region and account may be written out.
func sameARN(got, want string) bool {
	g, w := fields(got), fields(want)
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		switch {
		case g[i] == w[i]:
		case i == 1 && slices.Contains([]string{"aws", "aws-cn", "aws-us-gov"}, g[i]):
		case i == 3 && w[i] != "" && g[i] != "" && !strings.ContainsAny(g[i], "*?${}"):
		case i == 4 && w[i] != "" && account(g[i]):
		default:
			return false
		}
	}
	return true
}

// fields splits an ARN, in which the names of pseudo parameters have colons.
func fields(arn string) []string {
	return strings.Split(strings.ReplaceAll(arn, "AWS::", ""), ":")
}

func account(s string) bool {
	return len(s) == 12 && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// starActions are the actions that may be allowed on "*", since AWS knows no
// narrower resource for them: tracing (Service Authorization Reference, "AWS
// X-Ray"), log delivery of a state machine (Step Functions Developer Guide,
// "Using CloudWatch Logs to log execution history") and the network
// interfaces of a function in subnets (Lambda Developer Guide, "Required IAM
// permissions" for VPC access).
var starActions = map[string]bool{
	"xray:puttracesegments": true, "xray:puttelemetryrecords": true,
	"xray:getsamplingrules": true, "xray:getsamplingtargets": true,
	"logs:createlogdelivery": true, "logs:getlogdelivery": true, "logs:updatelogdelivery": true,
	"logs:deletelogdelivery": true, "logs:listlogdeliveries": true, "logs:putresourcepolicy": true,
	"logs:describeresourcepolicies": true, "logs:describeloggroups": true,
	"ec2:createnetworkinterface": true, "ec2:describenetworkinterfaces": true, "ec2:describesubnets": true,
	"ec2:deletenetworkinterface": true, "ec2:assignprivateipaddresses": true, "ec2:unassignprivateipaddresses": true,
}

// narrow checks that what a statement allows is as exact as it can be: no
// wildcard but those of a closed list.
func (t *template) narrow(n *node, actions []string, p Pattern) error {
	if !wild(p.Rest) {
		return nil
	}
	if p == everything {
		for _, a := range actions {
			if !starActions[strings.ToLower(a)] {
				return n.failf("want an exact resource for %s, got *", a)
			}
		}
		return nil
	}
	fixed, _ := strings.CutSuffix(p.Rest, "*")
	switch {
	case wild(strings.TrimSuffix(fixed, "-??????")):
	case p.ID == "":
		// The random end that Secrets Manager gives to the name of a secret.
		if strings.Contains(p.Rest, ":secretsmanager:") && strings.HasSuffix(p.Rest, "-??????") {
			return nil
		}
	case t.resources[p.ID].typ == "AWS::S3::Bucket":
		if len(fixed) > 2 && fixed[0] == '/' && fixed[1] != '/' && fixed[len(fixed)-1] == '/' && fixed != p.Rest {
			return nil
		}
	case t.resources[p.ID].typ == "AWS::StepFunctions::StateMachine":
		if p.Rest == "/execution:*" { // of this machine, and named only when it starts
			return nil
		}
	case t.resources[p.ID].typ == "AWS::Logs::LogGroup":
		if fixed == ":" || fixed == ":log-stream:" {
			return nil
		}
	}
	return n.failf("want a resource without wildcards, or the objects below one prefix of a bucket, got %s", p)
}
