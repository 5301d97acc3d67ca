package public

import (
	"net/netip"
	"testing"
)

// Every edge of every prefix is refused, also mapped into IPv6, and its
// neighbours outside follow the rule.
func TestEdgesOfEveryPrefixAreRefused(t *testing.T) {
	t.Parallel()
	last := func(p netip.Prefix) netip.Addr {
		b := p.Addr().AsSlice()
		for i := p.Bits(); i < len(b)*8; i++ {
			b[i/8] |= 1 << (7 - i%8)
		}
		a, _ := netip.AddrFromSlice(b)
		return a
	}
	for _, p := range Special() {
		for _, a := range []netip.Addr{p.Masked().Addr(), last(p)} {
			if Is(netip.AddrPortFrom(a, 443)) {
				t.Errorf("%s of %s is called public", a, p)
			}
			if a.Is4() && Is(netip.AddrPortFrom(netip.AddrFrom16(a.As16()), 443)) {
				t.Errorf("%s of %s is called public where it is mapped", a, p)
			}
		}
	}
}

func TestPublicHostsAndWhatIsNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"140.82.112.3": true, "2606:50c0:8000::153": true, "::ffff:140.82.112.3": true,
		"169.254.169.254": false, "64:ff9b::a9fe:a9fe": false, "::1": false, "fe80::1%eth0": false, "fd00::1": false, "100.64.0.1": false,
	} {
		if got := Is(netip.AddrPortFrom(netip.MustParseAddr(text), 443)); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
	if Is(netip.AddrPort{}) || Is(netip.AddrPortFrom(netip.MustParseAddr("140.82.112.3"), 0)) {
		t.Error("no address, or no port, is called public")
	}
}
