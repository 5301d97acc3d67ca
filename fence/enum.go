package fence

import (
	"fmt"
	"strconv"
)

// Trust is the mark on an element: how far its author is trusted when the context is built. The zero value is invalid.
type Trust uint8

// The marks. Their order of power is system > trigger > authorized > unverified = self.
const (
	_               Trust = iota
	TrustTrigger          // the person whose message started the run and who holds trigger on that channel now
	TrustAuthorized       // another person who holds trigger there now
	TrustSelf             // this agent's own earlier output
	TrustUnverified       // a person without trigger, other agents, apps, imports
	TrustSystem           // the program itself
)

// Origin is the kind of place that an element came from. The zero value is invalid.
type Origin uint8

// The origins of run_context.v1.
const (
	_ Origin = iota
	OriginMessage
	OriginRecordField
	OriginHistory
	OriginFile
	OriginTranscript
	OriginToolResult
	OriginDenial
	OriginClarification
	OriginFeedItem
	OriginMailBody
	OriginMailHeader
	OriginImported
)

// Role is the part that an element's author has in the conversation. The zero value is invalid.
type Role uint8

// The roles of run_context.v1.
const (
	_ Role = iota
	RoleUser
	RoleAssistant
	RoleOther
)

// AuthorKind is what kind of identity wrote an element. The zero value is invalid.
type AuthorKind uint8

// The kinds of author. Only a person can hold trigger.
const (
	_ AuthorKind = iota
	KindPerson
	KindAgent
	KindApp
	KindImport
	KindSystem
)

// Profile chooses the preamble, the default placement and the label before the voice. The zero value is invalid.
type Profile uint8

// The profiles.
const (
	_              Profile = iota
	ProfileAdapter         // a runtime behind an adapter; data in a second system part by default
	ProfileIntake          // a record is filled from what was written; data before the voice by default
	ProfileDesk            // a person asks about a run; data before the voice by default
)

// Placement is where the data stands. The zero value is invalid in a prompt; in a context it means the profile's default.
type Placement uint8

// The placements. The voice is in the user message in both.
const (
	_               Placement = iota
	PlacementSystem           // in a second system part, after the cached preamble
	PlacementUser             // in the user message, before the voice
)

var (
	trustNames  = []string{"", "trigger", "authorized", "self", "unverified", "system"}
	originNames = []string{"", "message", "record_field", "history", "file", "transcript", "tool_result", "denial",
		"clarification", "feed_item", "mail_body", "mail_header", "imported"}
	roleNames      = []string{"", "user", "assistant", "other"}
	kindNames      = []string{"", "person", "agent", "app", "import", "system"}
	profileNames   = []string{"", "adapter", "intake", "desk"}
	placementNames = []string{"", "system", "user"}
)

// Rank orders the marks by power: system 4, trigger 3, authorized 2, unverified and self 1, an invalid mark 0.
func (t Trust) Rank() int {
	switch t {
	case TrustSystem:
		return 4
	case TrustTrigger:
		return 3
	case TrustAuthorized:
		return 2
	case TrustUnverified, TrustSelf:
		return 1
	default:
		return 0
	}
}

// String gives the mark's word, or "invalid(N)".
func (t Trust) String() string { return nameOf(trustNames, t) }

// String gives the origin's word, or "invalid(N)".
func (o Origin) String() string { return nameOf(originNames, o) }

// String gives the role's word, or "invalid(N)".
func (r Role) String() string { return nameOf(roleNames, r) }

// String gives the kind's word, or "invalid(N)".
func (k AuthorKind) String() string { return nameOf(kindNames, k) }

// String gives the profile's word, or "invalid(N)".
func (p Profile) String() string { return nameOf(profileNames, p) }

// String gives the placement's word, or "invalid(N)".
func (p Placement) String() string { return nameOf(placementNames, p) }

// ParseTrust reads a mark's word exactly; the error does not repeat what came.
func ParseTrust(s string) (Trust, error) { return parseName[Trust]("trust", trustNames, s) }

// ParseOrigin reads an origin's word exactly; the error does not repeat what came.
func ParseOrigin(s string) (Origin, error) { return parseName[Origin]("origin", originNames, s) }

// ParseRole reads a role's word exactly; the error does not repeat what came.
func ParseRole(s string) (Role, error) { return parseName[Role]("role", roleNames, s) }

// ParseAuthorKind reads a kind's word exactly; the error does not repeat what came.
func ParseAuthorKind(s string) (AuthorKind, error) {
	return parseName[AuthorKind]("author kind", kindNames, s)
}

// ParseProfile reads a profile's word exactly; the error does not repeat what came.
func ParseProfile(s string) (Profile, error) { return parseName[Profile]("profile", profileNames, s) }

// ParsePlacement reads a placement's word exactly; the error does not repeat what came.
func ParsePlacement(s string) (Placement, error) {
	return parseName[Placement]("placement", placementNames, s)
}

// MarshalText gives the word; an invalid value is an error. UnmarshalText is the inverse.
func (t Trust) MarshalText() ([]byte, error) { return marshalName("trust", trustNames, t) }

// MarshalText gives the word; an invalid value is an error. UnmarshalText is the inverse.
func (o Origin) MarshalText() ([]byte, error) { return marshalName("origin", originNames, o) }

// MarshalText gives the word; an invalid value is an error. UnmarshalText is the inverse.
func (r Role) MarshalText() ([]byte, error) { return marshalName("role", roleNames, r) }

// MarshalText gives the word; an invalid value is an error. UnmarshalText is the inverse.
func (k AuthorKind) MarshalText() ([]byte, error) { return marshalName("author kind", kindNames, k) }

// MarshalText gives the word; an invalid value is an error. UnmarshalText is the inverse.
func (p Profile) MarshalText() ([]byte, error) { return marshalName("profile", profileNames, p) }

// MarshalText gives the word; an invalid value is an error. UnmarshalText is the inverse.
func (p Placement) MarshalText() ([]byte, error) { return marshalName("placement", placementNames, p) }

// UnmarshalText reads what MarshalText gives, and nothing else.
func (t *Trust) UnmarshalText(b []byte) (err error) { *t, err = ParseTrust(string(b)); return err }

// UnmarshalText reads what MarshalText gives, and nothing else.
func (o *Origin) UnmarshalText(b []byte) (err error) { *o, err = ParseOrigin(string(b)); return err }

// UnmarshalText reads what MarshalText gives, and nothing else.
func (r *Role) UnmarshalText(b []byte) (err error) { *r, err = ParseRole(string(b)); return err }

// UnmarshalText reads what MarshalText gives, and nothing else.
func (k *AuthorKind) UnmarshalText(b []byte) (err error) {
	*k, err = ParseAuthorKind(string(b))
	return err
}

// UnmarshalText reads what MarshalText gives, and nothing else.
func (p *Profile) UnmarshalText(b []byte) (err error) { *p, err = ParseProfile(string(b)); return err }

// UnmarshalText reads what MarshalText gives, and nothing else.
func (p *Placement) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePlacement(string(b))
	return err
}

func valid[E ~uint8](names []string, e E) bool { return e > 0 && int(e) < len(names) }

func nameOf[E ~uint8](names []string, e E) string {
	if !valid(names, e) {
		return "invalid(" + strconv.Itoa(int(e)) + ")"
	}
	return names[e]
}

func parseName[E ~uint8](what string, names []string, s string) (E, error) {
	for i := 1; i < len(names); i++ {
		if names[i] == s {
			return E(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s: want one of %v", what, names[1:])
}

func marshalName[E ~uint8](what string, names []string, e E) ([]byte, error) {
	if !valid(names, e) {
		return nil, fmt.Errorf("invalid %s %d: want one of %v", what, e, names[1:])
	}
	return []byte(names[e]), nil
}
