package cli

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"patterngate/catalog/httptool"
)

// closedHost is a host of a URL that no call reaches, because no network that the configuration allows holds it.
type closedHost struct {
	what     string         // 127.0.0.1 is a loopback address
	networks []netip.Prefix // to allow
}

// closedHostOf judges the host of a URL by its text. Nil: it may be dialled, or its address is found out only when it is dialled.
func closedHostOf(raw string, allow []netip.Prefix) *closedHost {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addresses, label := []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, host+" leads to "
	if host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return nil
		}
		addresses, label = []netip.Addr{addr.Unmap().WithZone("")}, ""
	}
	client := httptool.NewClient(httptool.ClientConfig{Allow: allow})
	closed := &closedHost{}
	for _, addr := range addresses {
		refused, ok := errors.AsType[*httptool.AddressError](client.Judge(addr))
		if !ok {
			return nil
		}
		if closed.what == "" {
			closed.what = fmt.Sprintf("%s%s, %s", label, addr, refused.Class)
			if label == "" {
				closed.what = fmt.Sprintf("%s is %s", addr, refused.Class)
			}
		}
		closed.networks = append(closed.networks, netip.PrefixFrom(addr, addr.BitLen()))
	}
	return closed
}

// remedy is the line to add.
func (h *closedHost) remedy(allow []netip.Prefix) string {
	return fmt.Sprintf("write allow_networks: [%s] in catalog", networkTexts(slices.Concat(allow, h.networks)))
}

// why says the same of a tool that cannot be called.
func (h *closedHost) why(allow []netip.Prefix) string {
	return h.what + ", and Patterngate does not dial it; " + h.remedy(allow)
}

// acrossNetworks warns of tools and servers at addresses that no call of them reaches.
func (r *configReader) acrossNetworks(c *Config) {
	at := (*keyPath)(nil).key("catalog")
	warn := func(raw string, path *keyPath) {
		if closed := closedHostOf(raw, c.Catalog.AllowNetworks); closed != nil {
			r.faults.warn(r.at(path), path, Fault{
				Reason: closed.what + ", and Patterngate does not dial it, so every call fails", Want: closed.remedy(c.Catalog.AllowNetworks),
			})
		}
	}
	for _, s := range c.Catalog.Servers {
		if s.Enabled && s.HTTP != nil {
			warn(s.HTTP.URL, at.key("servers").key(s.Name).key("http").key("url"))
		}
	}
	for _, t := range c.Catalog.HTTP {
		if t.Enabled {
			warn(t.Request.URL, at.key("http").key(t.Name).key("request").key("url"))
		}
	}
}
