package broker

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"code.dny.dev/ssrf"

	"decant.dev/internal/public"
	"pgregory.net/rapid"
)

func TestPublicRefusesEverySpecialAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.31.0.1", "192.0.0.8", "192.0.2.1",
		"192.88.99.1", "192.168.1.1", "198.19.0.1", "198.51.100.9", "203.0.113.9", "224.0.0.251", "240.0.0.1",
		"255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a9fe:a9fe",
		"64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:20::1", "2001:db8::1", "2002:a9fe:a9fe::1", "3fff::1",
		"5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2620:4f:8000::1",
	} {
		if err := Public(netip.AddrPortFrom(netip.MustParseAddr(text), 443)); !errors.Is(err, AddressRefused) {
			t.Errorf("%s: want it refused, got %v", text, err)
		}
	}
	for _, target := range []netip.AddrPort{
		{}, netip.AddrPortFrom(netip.MustParseAddr("8.8.8.8"), 0), netip.MustParseAddrPort("[2606:4700::1%1]:443"),
	} {
		if err := Public(target); !errors.Is(err, AddressRefused) {
			t.Errorf("%s: want it refused, got %v", target, err)
		}
	}
}

func TestPublicLetsPublicHostsPass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1.1.1.1", "140.82.121.4", "100.63.255.255", "100.128.0.0", "::ffff:1.1.1.1", "2606:4700::1111", "2a00::1"} {
		if err := Public(netip.AddrPortFrom(netip.MustParseAddr(text), 443)); err != nil {
			t.Errorf("%s: want it to pass, got %v", text, err)
		}
	}
}

// An independent list of the same registries never refuses what Public lets pass.
func TestPublicIsNoWiderThanAnotherList(t *testing.T) {
	t.Parallel()
	other := ssrf.New(ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6"))
	edges := slices.Concat(public.Special(), ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes)
	rapid.Check(t, func(t *rapid.T) {
		var addr netip.Addr
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			addr = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4")))
		case 1:
			addr = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6")))
		default:
			prefix := rapid.SampledFrom(edges).Draw(t, "prefix")
			addr = rapid.SampledFrom([]netip.Addr{prefix.Addr(), prefix.Addr().Prev(), prefix.Addr().Next()}).Draw(t, "near")
		}
		if !addr.IsValid() {
			return
		}
		target := netip.AddrPortFrom(addr.Unmap(), 443)
		network := "tcp4"
		if target.Addr().Is6() {
			network = "tcp6"
		}
		if Public(target) == nil && other.Safe(network, target.String(), nil) != nil {
			t.Fatalf("%s passes here and not there", target)
		}
	})
}

// fake is a world in which only names and addresses that it knows exist.
type fake struct {
	names   map[string][]string
	asked   []string
	dialled []netip.AddrPort
	answers func(netip.AddrPort) (net.Conn, error)
}

func (f *fake) broker(hosts ...string) *Broker {
	return &Broker{
		Hosts: hosts,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			f.asked = append(f.asked, host)
			var addrs []netip.Addr
			for _, text := range f.names[host] {
				addrs = append(addrs, netip.MustParseAddr(text))
			}
			if addrs == nil {
				return nil, errors.New("no such host")
			}
			return addrs, nil
		},
		Dial: func(_ context.Context, target netip.AddrPort) (net.Conn, error) {
			f.dialled = append(f.dialled, target)
			if f.answers != nil {
				return f.answers(target)
			}
			return connTo{addr: target}, nil
		},
	}
}

// connTo is a connection that says whom it is connected to, and no more.
type connTo struct {
	net.Conn
	addr netip.AddrPort
}

func (c connTo) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.addr) }
func (c connTo) Close() error         { return nil }

func TestConnectDecides(t *testing.T) {
	t.Parallel()
	names := map[string][]string{
		"good.example":  {"93.184.215.14"},
		"mixed.example": {"10.0.0.1", "::ffff:93.184.215.14"},
		"inner.example": {"10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe"},
	}
	public := netip.MustParseAddrPort("93.184.215.14:443")
	for _, test := range []struct {
		name, address string
		answers       func(netip.AddrPort) (net.Conn, error)
		want          error
		dialled       []netip.AddrPort
	}{
		{name: "declared", address: "good.example:443", dialled: []netip.AddrPort{public}},
		{name: "declared in upper case", address: "GOOD.example:443", dialled: []netip.AddrPort{public}},
		{name: "public address among special ones", address: "mixed.example:443", dialled: []netip.AddrPort{public}},
		{name: "another port", address: "good.example:80", want: HostNotDeclared},
		{name: "a subdomain", address: "a.good.example:443", want: HostNotDeclared},
		{name: "a longer name", address: "good.example.evil.example:443", want: HostNotDeclared},
		{name: "a trailing dot", address: "good.example.:443", want: HostNotDeclared},
		{name: "the address of a declared host", address: "93.184.215.14:443", want: HostNotDeclared},
		{name: "special addresses alone", address: "inner.example:443", want: AddressRefused},
		{name: "a declared special address", address: "127.0.0.1:443", want: AddressRefused},
		{name: "a declared mapped address", address: "[::ffff:127.0.0.1]:443", want: AddressRefused},
		{name: "no address", address: "gone.example:443", want: Unresolvable},
		{name: "no answer", address: "good.example:443", want: Unreachable, dialled: []netip.AddrPort{public},
			answers: func(netip.AddrPort) (net.Conn, error) { return nil, errors.New("timed out") }},
		{name: "connected to someone else", address: "good.example:443", want: AddressRefused, dialled: []netip.AddrPort{public},
			answers: func(netip.AddrPort) (net.Conn, error) {
				return connTo{addr: netip.MustParseAddrPort("10.0.0.1:443")}, nil
			}},
		{name: "no port", address: "good.example", want: Malformed},
		{name: "port 0", address: "good.example:0", want: Malformed},
		{name: "port with a sign", address: "good.example:+443", want: Malformed},
		{name: "port with zeros", address: "good.example:0443", want: Malformed},
		{name: "a space", address: "good.example :443", want: Malformed},
		{name: "a zone", address: "[fe80::1%eth0]:443", want: Malformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := &fake{names: names, answers: test.answers}
			broker := world.broker("good.example:443", "mixed.example:443", "inner.example:443", "gone.example:443",
				"127.0.0.1:443", "[::ffff:127.0.0.1]:443")
			if err := broker.Validate(); err != nil {
				t.Fatal(err)
			}
			_, err := broker.DialContext(t.Context(), "tcp", test.address)
			if !errors.Is(err, test.want) {
				t.Errorf("want %v, got %v", test.want, err)
			}
			if !slices.Equal(world.dialled, test.dialled) {
				t.Errorf("want %v dialled, got %v", test.dialled, world.dialled)
			}
			if len(world.asked) > 1 {
				t.Errorf("want a name resolved once at most, got %v", world.asked)
			}
		})
	}
}

func TestAnUndeclaredHostIsNotEvenResolved(t *testing.T) {
	t.Parallel()
	world := &fake{names: map[string][]string{"secret.evil.example": {"93.184.215.14"}}}
	_, err := world.broker("good.example:443").DialContext(t.Context(), "tcp", "secret.evil.example:443")
	if !errors.Is(err, HostNotDeclared) || len(world.asked) != 0 {
		t.Errorf("want %v and no question, got %v and %v", HostNotDeclared, err, world.asked)
	}
}

// Whoever changes the answer between two lookups gains nothing: there is one lookup, and its address is dialled.
func TestRebindingReachesNoSpecialAddress(t *testing.T) {
	t.Parallel()
	answers := []string{"93.184.215.14", "127.0.0.1"}
	var dialled []netip.AddrPort
	broker := &Broker{
		Hosts: []string{"turns.example:443"},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			addr := netip.MustParseAddr(answers[0])
			answers = append(answers[1:], answers[0])
			return []netip.Addr{addr}, nil
		},
		Dial: func(_ context.Context, target netip.AddrPort) (net.Conn, error) {
			dialled = append(dialled, target)
			return connTo{addr: target}, nil
		},
	}
	for range 10 {
		_, _ = broker.DialContext(t.Context(), "tcp", "turns.example:443")
	}
	if len(dialled) != 5 {
		t.Errorf("want every second request dialled, got %d of 10", len(dialled))
	}
	for _, target := range dialled {
		if Public(target) != nil {
			t.Errorf("want public addresses dialled, got %s", target)
		}
	}
}

// The system's dialler is asked again at the moment of connecting.
func TestAllowIsAskedAgainAsTheSystemConnects(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked := 0
	broker := &Broker{Hosts: []string{listener.Addr().String()}, Allow: func(netip.AddrPort) error {
		if asked++; asked > 1 {
			return AddressRefused
		}
		return nil
	}}
	_, err = broker.DialContext(t.Context(), "tcp", listener.Addr().String())
	if !errors.Is(err, AddressRefused) || asked != 2 {
		t.Errorf("want the second answer to refuse, got %v after %d", err, asked)
	}
}

func TestTheZeroBrokerRefusesAll(t *testing.T) {
	t.Parallel()
	if _, err := new(Broker).DialContext(t.Context(), "tcp", "good.example:443"); !errors.Is(err, HostNotDeclared) {
		t.Errorf("want %v, got %v", HostNotDeclared, err)
	}
}

func TestValidateRefusesAHostNoRequestCouldMatch(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"", "example.com", "Example.com:443", "example.com:https", "*.example.com:443 ", "*.example.com:443",
		"https://example.com:443", "::1:443", "[::1]", "[0::1]:443", "[::1%lo]:443", "example.com:70000", ":443", "a/b:443"} {
		if err := (&Broker{Hosts: []string{host}}).Validate(); err == nil {
			t.Errorf("%q: want it refused", host)
		}
	}
}

// handClock stands still but for the waits asked of it.
type handClock struct {
	now    time.Time
	waited []time.Duration
}

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) Wait(_ context.Context, d time.Duration) error {
	c.waited = append(c.waited, d)
	c.now = c.now.Add(d)
	return nil
}

func TestRateGivesABurstAndThenOneAtATime(t *testing.T) {
	t.Parallel()
	clock := &handClock{now: time.Unix(1000, 0)}
	rate := (&Broker{Burst: 3, Every: time.Second, clock: clock}).rate()
	take := func(times, waits int) {
		t.Helper()
		clock.waited = nil
		for range times {
			if err := rate.take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want := slices.Repeat([]time.Duration{time.Second}, waits)
		if !slices.Equal(clock.waited, want) {
			t.Errorf("want waits %v, got %v", want, clock.waited)
		}
	}
	take(3, 0)
	take(2, 2)
	clock.now = clock.now.Add(time.Hour) // however long it rested, a burst is a burst
	take(5, 2)
}
