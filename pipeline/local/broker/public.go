package broker

import (
	"net/netip"

	"decant.dev/internal/public"
)

// Public is the default of Broker.Allow: it answers AddressRefused for an address that is not a single host of the public
// internet.
func Public(target netip.AddrPort) error {
	if !public.Is(target) {
		return AddressRefused
	}
	return nil
}
