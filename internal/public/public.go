// Package public tells the addresses of single hosts of the public internet
// from all others: those of this machine, of its network, of a cloud's
// metadata, and what carries any of these inside.
//
// The threat is a name that a stranger chose, or that changed its address
// between a check and a connection; so an address is judged when it is dialled
// and not when it is named.
package public

import "net/netip"

// The special-purpose address registries of IANA, and what else is not one host of the public internet. Go's IsPrivate
// and IsGlobalUnicast are no substitute: they let 169.254.169.254, 100.64.0.0/10 and NAT64 pass.
//
// https://www.iana.org/assignments/iana-ipv4-special-registry
// https://www.iana.org/assignments/iana-ipv6-special-registry
var (
	specialIPv4 = prefixes(
		"0.0.0.0/8",       // this network, RFC 791
		"10.0.0.0/8",      // private, RFC 1918
		"100.64.0.0/10",   // shared by carriers, RFC 6598
		"127.0.0.0/8",     // loopback, RFC 1122
		"169.254.0.0/16",  // link-local, RFC 3927; metadata services of clouds
		"172.16.0.0/12",   // private, RFC 1918
		"192.0.0.0/24",    // protocol assignments, RFC 6890
		"192.0.2.0/24",    // documentation, RFC 5737
		"192.31.196.0/24", // AS112, RFC 7535
		"192.52.193.0/24", // AMT, RFC 7450
		"192.88.99.0/24",  // 6to4 relays, RFC 7526
		"192.168.0.0/16",  // private, RFC 1918
		"192.175.48.0/24", // AS112, RFC 7534
		"198.18.0.0/15",   // benchmarks, RFC 2544
		"198.51.100.0/24", // documentation, RFC 5737
		"203.0.113.0/24",  // documentation, RFC 5737
		"224.0.0.0/4",     // multicast, RFC 5771
		"240.0.0.0/4",     // reserved and broadcast, RFC 1112
	)

	// What IANA has assigned as global unicast. Whatever is outside is special: loopback, mapped and translated IPv4
	// (64:ff9b::/96, 64:ff9b:1::/48), discard, unique local, link-local, multicast, segment routing.
	globalIPv6 = netip.MustParsePrefix("2000::/3")

	specialIPv6 = prefixes(
		"2001::/23",         // protocol assignments with Teredo and ORCHID, RFC 2928
		"2001:db8::/32",     // documentation, RFC 3849
		"2002::/16",         // 6to4, which carries an IPv4 address, RFC 3056
		"2620:4f:8000::/48", // AS112, RFC 7534
		"3fff::/20",         // documentation, RFC 9637
	)
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// Is reports whether target is one host of the public internet, with a port.
// An IPv4 address that is mapped into IPv6 is judged as the IPv4 address,
// which is what a system connects to.
func Is(target netip.AddrPort) bool {
	addr := target.Addr().Unmap()
	if !addr.IsValid() || addr.Zone() != "" || target.Port() == 0 {
		return false
	}
	special := specialIPv4
	if addr.Is6() {
		if !globalIPv6.Contains(addr) {
			return false
		}
		special = specialIPv6
	}
	for _, prefix := range special {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}

// Special lists the prefixes that Is refuses, beside all of IPv6 that is not
// global unicast.
func Special() []netip.Prefix {
	return append(append([]netip.Prefix(nil), specialIPv4...), specialIPv6...)
}
