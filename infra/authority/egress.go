package authority

import (
	"slices"
	"strings"
)

// function notes a function's role, its log group and its egress.
func (t *template) function(r *resource) error {
	if err := t.holder(r, r.props.get("Role")); err != nil {
		return err
	}
	if logging := r.props.get("LoggingConfig"); logging != nil {
		if err := logging.object("ApplicationLogLevel", "LogFormat", "LogGroup", "SystemLogLevel"); err != nil {
			return err
		}
		if group := logging.get("LogGroup"); group != nil {
			id, err := t.refer(group, "AWS::Logs::LogGroup")
			if err != nil {
				return err
			}
			t.logs[r.id] = id
		}
	}
	out, err := t.network(r)
	if err != nil {
		return err
	}
	t.egress = append(t.egress, out)
	return nil
}

// network computes where a function may connect to: anywhere, unless all its
// subnets are of the template and no route of the template leaves a network.
func (t *template) network(r *resource) (Egress, error) {
	out := Egress{Function: r.id}
	config := r.props.get("VpcConfig")
	if config == nil {
		return out, nil
	}
	if err := config.object("SecurityGroupIds", "SubnetIds"); err != nil {
		return out, err
	}
	subnets := config.get("SubnetIds")
	if subnets == nil || subnets.kind != '[' || len(subnets.list) == 0 {
		return out, config.failf("want a list of subnets")
	}
	vpcs, outside := map[string]bool{}, false
	for _, item := range subnets.list {
		parts, err := t.parts(item)
		if err != nil {
			return out, err
		}
		if len(parts) == 1 && parts[0].id == "" {
			outside = true
			out.Subnets = append(out.Subnets, parts[0].text)
			continue
		}
		subnet, err := t.refer(item, "AWS::EC2::Subnet")
		if err != nil {
			return out, err
		}
		n := t.resources[subnet].props.get("VpcId")
		if n == nil {
			return out, t.resources[subnet].props.failf("want VpcId")
		}
		vpc, err := t.refer(n, "AWS::EC2::VPC")
		if err != nil {
			return out, err
		}
		vpcs[vpc] = true
		out.Subnets = append(out.Subnets, subnet)
	}
	slices.Sort(out.Subnets)
	out.Enforced = !outside
	for _, id := range t.ids {
		switch other := t.resources[id]; other.typ {
		case "AWS::EC2::Route", "AWS::EC2::VPCGatewayAttachment", "AWS::EC2::NatGateway", "AWS::EC2::InternetGateway":
			out.Enforced = false
		case "AWS::EC2::VPCEndpoint":
			service, err := t.endpoint(other, vpcs)
			if err != nil {
				return out, err
			}
			if service != "" {
				out.Endpoints = append(out.Endpoints, service)
			}
		}
	}
	slices.Sort(out.Endpoints)
	out.Endpoints = slices.Compact(out.Endpoints)
	return out, nil
}

// endpoint is the service that an endpoint leads to, or empty where it is in
// another network.
func (t *template) endpoint(r *resource, vpcs map[string]bool) (string, error) {
	vpc, service := r.props.get("VpcId"), r.props.get("ServiceName")
	if vpc == nil || service == nil {
		return "", r.props.failf("want VpcId and ServiceName")
	}
	id, err := t.refer(vpc, "AWS::EC2::VPC")
	if err != nil || !vpcs[id] {
		return "", err
	}
	parts, err := t.parts(service)
	if err != nil {
		return "", err
	}
	if len(parts) != 1 || parts[0].id != "" {
		return "", service.failf("want the name of a service")
	}
	name := strings.TrimPrefix(parts[0].text, "com.amazonaws.${AWS::Region}.")
	if r.props.get("PolicyDocument") == nil {
		name += " (any of its resources)"
	}
	return name, nil
}
