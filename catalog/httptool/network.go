package httptool

import (
	"fmt"
	"net/netip"
)

// AddressError reports that an address is not dialled. It is found before anything is sent.
type AddressError struct {
	Addr  netip.Addr
	Class string // the kind of address: loopback, private ...
}

// Error returns the address and the setting that would allow it.
func (e *AddressError) Error() string {
	return networkRefused(e.Addr, e.Class)
}

// Local reports that Patterngate, not the server, caused the fault: no circuit breaker counts it.
func (e *AddressError) Local() bool { return true }

// HostError reports that no address of a host may be dialled. It is found before anything is sent.
type HostError struct {
	Host    string
	Refused []*AddressError // one for each address
}

// Error returns the host and the error of its first address.
func (e *HostError) Error() string { return fmt.Sprintf("%s: %v", e.Host, e.Refused[0]) }

// Unwrap returns the error of each address.
func (e *HostError) Unwrap() []error {
	list := make([]error, len(e.Refused))
	for i, refused := range e.Refused {
		list[i] = refused
	}
	return list
}

// Local reports that Patterngate caused the fault, as for an [AddressError].
func (e *HostError) Local() bool { return true }

// network is a part of the address space that is not dialled unless the configuration allows it.
type network struct {
	prefix netip.Prefix
	class  string
}

// closed are the networks outside of the public internet. If several contain an address, the first gives its class.
var closed = []network{
	{netip.MustParsePrefix("169.254.169.254/32"), metadataService},
	{netip.MustParsePrefix("169.254.170.2/32"), metadataService},
	{netip.MustParsePrefix("100.100.100.200/32"), metadataService},
	{netip.MustParsePrefix("168.63.129.16/32"), metadataService},
	{netip.MustParsePrefix("192.0.0.192/32"), metadataService},
	{netip.MustParsePrefix("fd00:ec2::/32"), metadataService},
	{netip.MustParsePrefix("fd20:ce::254/128"), metadataService},
	{netip.MustParsePrefix("0.0.0.0/8"), unspecifiedAddress},
	{netip.MustParsePrefix("127.0.0.0/8"), loopbackAddress},
	{netip.MustParsePrefix("10.0.0.0/8"), privateAddress},
	{netip.MustParsePrefix("172.16.0.0/12"), privateAddress},
	{netip.MustParsePrefix("192.168.0.0/16"), privateAddress},
	{netip.MustParsePrefix("100.64.0.0/10"), carrierAddress},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocalAddress},
	{netip.MustParsePrefix("192.0.0.0/24"), reservedAddress},
	{netip.MustParsePrefix("198.18.0.0/15"), reservedAddress},
	{netip.MustParsePrefix("224.0.0.0/4"), multicastAddress},
	{netip.MustParsePrefix("240.0.0.0/4"), reservedAddress},
	{netip.MustParsePrefix("::/128"), unspecifiedAddress},
	{netip.MustParsePrefix("::1/128"), loopbackAddress},
	{netip.MustParsePrefix("fc00::/7"), privateAddress},
	{netip.MustParsePrefix("fe80::/10"), linkLocalAddress},
	{netip.MustParsePrefix("fec0::/10"), privateAddress},
	{netip.MustParsePrefix("ff00::/8"), multicastAddress},
	{netip.MustParsePrefix("64:ff9b:1::/48"), privateAddress}, // translated by rules of its network
}

// carriers are IPv6 networks that contain an IPv4 address, and the byte at which it begins. Teredo inverts the address.
var carriers = []struct {
	prefix   netip.Prefix
	at       int
	inverted bool
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12, false},    // NAT64
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, false}, // IPv4-translated
	{netip.MustParsePrefix("2002::/16"), 2, false},        // 6to4
	{netip.MustParsePrefix("2001::/32"), 12, true},        // Teredo
	{netip.MustParsePrefix("::/96"), 12, false},           // IPv4-compatible; :: and ::1 are checked before
}

// Judge returns an *[AddressError] for an address that is not dialled, unless [ClientConfig.Allow] contains it. These
// are loopback, private, shared, link-local, metadata, multicast, unspecified and reserved addresses. An IPv4 address
// inside an IPv6 one counts as IPv4. The zero Addr is rejected.
func (c *Client) Judge(addr netip.Addr) error {
	if err := c.judge(addr); err != nil {
		return err
	}
	return nil
}

func (c *Client) judge(addr netip.Addr) *AddressError {
	if !addr.IsValid() {
		return &AddressError{addr, noAddress}
	}
	addr = addr.Unmap().WithZone("")
	if c.allows(addr) {
		return nil
	}
	if class := classOf(addr); class != "" {
		return &AddressError{addr, class}
	}
	inner, ok := carried(addr)
	if !ok || c.allows(inner) {
		return nil
	}
	if class := classOf(inner); class != "" {
		return &AddressError{addr, class}
	}
	return nil
}

// allows reports whether the configuration allows the address.
func (c *Client) allows(addr netip.Addr) bool {
	for _, p := range c.allow {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// classOf returns the class of the closed network that contains an address, or "".
func classOf(addr netip.Addr) string {
	for _, n := range closed {
		if n.prefix.Contains(addr) {
			return n.class
		}
	}
	return ""
}

// carried returns the IPv4 address inside an IPv6 one.
func carried(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	bytes := addr.As16()
	for _, c := range carriers {
		if !c.prefix.Contains(addr) {
			continue
		}
		inner := [4]byte(bytes[c.at : c.at+4])
		if c.inverted {
			for i := range inner {
				inner[i] = ^inner[i]
			}
		}
		return netip.AddrFrom4(inner), true
	}
	return netip.Addr{}, false
}
