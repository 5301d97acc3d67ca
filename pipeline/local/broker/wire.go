package broker

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// maxRequest and maxReply bound a packet in bytes. The longest host name is 253 bytes (RFC 1035, section 2.3.4).
const (
	maxRequest = 512
	maxReply   = 64
)

// Code is why the broker gave no connection. It is an error, compared with errors.Is.
type Code string

// The codes, all of them.
const (
	HostNotDeclared Code = "host_not_declared" // not one of Broker.Hosts
	AddressRefused  Code = "address_refused"   // it has no address that Allow lets pass
	Unresolvable    Code = "unresolvable"      // no address was found
	Unreachable     Code = "unreachable"       // no address answered in time
	Malformed       Code = "malformed"         // the request was not one
)

// Valid says whether c is one of the codes.
func (c Code) Valid() bool {
	switch c {
	case HostNotDeclared, AddressRefused, Unresolvable, Unreachable, Malformed:
		return true
	default:
		return false
	}
}

// Refused reports whether it was the broker that would not connect, and not the
// network that did not.
func (c Code) Refused() bool {
	switch c {
	case HostNotDeclared, AddressRefused, Malformed:
		return true
	default:
		return false
	}
}

// Error is the code in words of our own; never a host's name.
func (c Code) Error() string {
	if !c.Valid() {
		return "broker: unknown code"
	}
	return "broker: " + string(c)
}

type request struct {
	Host string `json:"host"`
	Port uint16 `json:"port"`
}

type reply struct {
	OK   bool `json:"ok,omitzero"`
	Code Code `json:"code,omitzero"`
}

// hostName is a name in lower case, as Go and DNS write it, or an address; what exactly it is, the declared list decides.
var hostName = regexp.MustCompile(`^[a-z0-9_.:-]{1,253}$`)

func (r request) valid() bool { return hostName.MatchString(r.Host) && r.Port != 0 }

// target is the request as "host:port", in brackets where the host is an IPv6 address: the spelling of Broker.Hosts.
func (r request) target() string { return joinHostPort(r.Host, r.Port) }

func joinHostPort(host string, port uint16) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(port))
}

// parseTarget reads "host:port" in the one spelling that target writes.
func parseTarget(target string) (request, error) {
	host, digits, ok := cutLast(target, ":")
	port, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return request{}, errors.New(`want "host:port"`)
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		if inner, bracketed = strings.CutSuffix(inner, "]"); !bracketed {
			return request{}, errors.New(`want "[address]:port"`)
		}
		if addr, err := netip.ParseAddr(inner); err != nil || addr.String() != inner {
			return request{}, errors.New("want an address in brackets, in its shortest form")
		}
		host = inner
	}
	r := request{Host: host, Port: uint16(port)}
	if !r.valid() || r.target() != target {
		return request{}, errors.New(`want "host:port" in lower case, with a port from 1 to 65535`)
	}
	return r, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}

// decodeRequest refuses everything but the one spelling of a request.
func decodeRequest(packet []byte) (request, error) {
	var r request
	if len(packet) > maxRequest {
		return request{}, Malformed
	}
	if err := json.Unmarshal(packet, &r, json.RejectUnknownMembers(true)); err != nil || !r.valid() {
		return request{}, Malformed
	}
	if canonical, err := json.Marshal(r); err != nil || !bytes.Equal(canonical, packet) {
		return request{}, Malformed
	}
	return r, nil
}

// decodeReply refuses a reply that is neither a success nor a known code.
func decodeReply(packet []byte) (reply, error) {
	var r reply
	if err := json.Unmarshal(packet, &r, json.RejectUnknownMembers(true)); err != nil {
		return reply{}, fmt.Errorf("broker: want a reply, got %d bytes that are none", len(packet))
	}
	if r.OK == r.Code.Valid() || (r.OK && r.Code != "") {
		return reply{}, errors.New("broker: want either ok or a known code in a reply")
	}
	return r, nil
}
