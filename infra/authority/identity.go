package authority

// resource reads what one resource gives.
func (t *template) resource(r *resource) error {
	switch r.typ {
	case "AWS::IAM::Role":
		return t.role(r)
	case "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy":
		return t.attached(r)
	case "AWS::IAM::RolePolicy":
		return t.rolePolicy(r)
	}
	return t.granting(r)
}

// role reads a role's trust and the policies within it.
func (t *template) role(r *resource) error {
	trust, _, err := t.policy(r.props.get("AssumeRolePolicyDocument"), trustPolicy, "", r.id)
	if err != nil {
		return err
	}
	t.trust = append(t.trust, trust...)
	list := r.props.get("Policies")
	if list != nil {
		for _, item := range list.oneOrMore() {
			if item.kind != '{' {
				return item.failf("want a policy")
			}
			if err := item.object("PolicyName", "PolicyDocument"); err != nil {
				return err
			}
			if err := t.give(item.get("PolicyDocument"), r.id); err != nil {
				return err
			}
		}
	}
	if list = r.props.get("ManagedPolicyArns"); list != nil {
		for _, item := range list.oneOrMore() {
			id, err := t.refer(item, "AWS::IAM::ManagedPolicy")
			if err != nil {
				return err
			}
			if err := t.give(t.resources[id].props.get("PolicyDocument"), r.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// give adds what an identity policy says of a role.
func (t *template) give(document *node, role string) error {
	allows, denies, err := t.policy(document, identityPolicy, role, "")
	if err != nil {
		return err
	}
	for _, a := range allows {
		t.identity[a.Via] = true
	}
	t.allows = append(t.allows, allows...)
	t.denies = append(t.denies, denies...)
	return nil
}

// attached reads a policy that names its roles. A managed policy may name
// none, and be a boundary.
func (t *template) attached(r *resource) error {
	document := r.props.get("PolicyDocument")
	managed := r.typ == "AWS::IAM::ManagedPolicy"
	if managed && t.asBoundary[r.id] {
		allows, denies, err := t.policy(document, boundaryPolicy, r.id, "")
		if err != nil {
			return err
		}
		t.boundaries[r.id] = limits{allows, denies}
		if r.props.get("Roles") == nil && !t.asRole[r.id] {
			return nil
		}
	}
	var roles []string
	if list := r.props.get("Roles"); list != nil {
		for _, item := range list.oneOrMore() {
			id, err := t.refer(item, "AWS::IAM::Role")
			if err != nil {
				return err
			}
			roles = append(roles, id)
		}
	}
	if len(roles) == 0 {
		if !managed {
			return r.props.failf("want the roles that the policy is for")
		}
		// Nobody holds it in the template; it must be readable all the same,
		// since it can be attached at any time.
		_, _, err := t.policy(document, identityPolicy, r.id, "")
		return err
	}
	for _, id := range roles {
		if err := t.give(document, id); err != nil {
			return err
		}
	}
	return nil
}

func (t *template) rolePolicy(r *resource) error {
	name := r.props.get("RoleName")
	if name == nil {
		return r.props.failf("want the role that the policy is for")
	}
	id, err := t.refer(name, "AWS::IAM::Role")
	if err != nil {
		return err
	}
	return t.give(r.props.get("PolicyDocument"), id)
}
