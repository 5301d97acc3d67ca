package authority

import (
	"regexp"
	"slices"
	"strings"
)

var hash = regexp.MustCompile(`^(.+)[0-9A-F]{8}$`)

// candidates are the resources of a type whose id ends so, sorted.
func (c *comparison) candidates(typ, end string) []string {
	var ids []string
	for id, ty := range c.table.types {
		if ty == typ && (strings.HasSuffix(id, end) || strings.HasSuffix(hash.ReplaceAllString(id, "$1"), end)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (c *comparison) set(name, id string) {
	c.ids[name] = id
	c.names[id] = name
}

// bind gives each name of the expectation its resource.
func (c *comparison) bind() {
	c.outside = map[string]string{}
	for _, r := range c.want.Roles {
		c.bindName(Name{Name: r.Name, Type: "AWS::IAM::Role", Ends: []string{r.Name}, Optional: r.Optional})
	}
	for _, n := range c.want.Names {
		c.bindName(n)
	}
	for _, rule := range c.want.Roles {
		role := c.role(c.ids[rule.Name])
		if role == nil {
			continue
		}
		if rule.Many && len(role.Holders) > 0 && !slices.ContainsFunc(role.Holders, func(id string) bool { return c.table.types[id] != rule.Type }) {
			continue
		}
		if rule.Many {
			c.violation(role.ID, "", "want it held by %ss alone, got %d: %s", rule.Type, len(role.Holders), strings.Join(role.Holders, ", "))
			continue
		}
		if len(role.Holders) != 1 || c.table.types[role.Holders[0]] != rule.Type {
			c.violation(role.ID, "", "want it held by one %s, got %d: %s", rule.Type, len(role.Holders), strings.Join(role.Holders, ", "))
			continue
		}
		c.set(rule.Holder, role.Holders[0])
		if group := c.table.logs[role.Holders[0]]; group != "" {
			if other, taken := c.names[group]; taken {
				c.violation(role.ID, "", "want a log group of its own, got that of %s", strings.TrimSuffix(other, "Logs"))
				continue
			}
			c.set(rule.Holder+"Logs", group)
		}
	}
}

func (c *comparison) bindName(n Name) {
	for _, end := range n.Ends {
		ids := c.candidates(n.Type, end)
		switch len(ids) {
		case 0:
			continue
		case 1:
			c.set(n.Name, ids[0])
		default:
			c.violation(n.Name, "", "want one %s of that name, got %s", n.Type, strings.Join(ids, ", "))
		}
		return
	}
	if n.Outside != "" {
		var found []string
		for _, r := range c.table.Rights {
			if r.Resource.ID == "" && covers(n.Outside, r.Resource.Rest) && !slices.Contains(found, r.Resource.Rest) {
				found = append(found, r.Resource.Rest)
			}
		}
		if len(found) == 1 {
			c.outside[found[0]] = n.Name
			return
		}
	}
	if !n.Optional {
		c.violation(n.Name, "", "want one %s of that name, got none", n.Type)
	}
}

func (c *comparison) role(id string) *Role {
	for i, r := range c.table.Roles {
		if r.ID == id {
			return &c.table.Roles[i]
		}
	}
	return nil
}
