package tools

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"patterngate/catalog/httptool"
	"patterngate/server/settings/yamldoc"
)

// closedHost is the host of a URL that Patterngate does not dial, because no network in allow_networks contains it.
type closedHost struct {
	What     string         // the reason: 127.0.0.1 is a loopback address
	networks []netip.Prefix // the networks to allow
}

// hostOf returns the host of a URL, or "" for a text that is not a URL.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// isLocalhost reports whether a name always means this machine.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// ClosedHostOf checks the host of a URL by its text. It returns nil if the host can be dialled, or if only a DNS lookup can
// tell.
func ClosedHostOf(raw string, allow []netip.Prefix) *closedHost {
	host := hostOf(raw)
	if isLocalhost(host) {
		return closedAddresses(host, []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, allow)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return closedAddresses("", []netip.Addr{addr}, allow)
}

// nameTime is the time limit for the DNS lookups of all names together.
const nameTime = 3 * time.Second

// closedNameOf checks the host of a URL by the addresses that its name has now. It returns nil if the host can be dialled,
// is not a name or has no address.
func closedNameOf(ctx context.Context, raw string, allow []netip.Prefix) *closedHost {
	host := hostOf(raw)
	if _, err := netip.ParseAddr(host); err == nil || host == "" || isLocalhost(host) {
		return nil
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	return closedAddresses(host, addresses, allow)
}

// ClosedBy returns the host that a call of a URL did not reach because of its address. It returns nil if err has another
// cause. After a redirect, the host comes from the error.
func ClosedBy(err error, raw string, allow []netip.Prefix) *closedHost {
	if refused, ok := errors.AsType[*httptool.HostError](err); ok {
		addresses := make([]netip.Addr, len(refused.Refused))
		for i, r := range refused.Refused {
			addresses[i] = r.Addr
		}
		return closedAddresses(refused.Host, addresses, allow)
	}
	if refused, ok := errors.AsType[*httptool.AddressError](err); ok {
		return closedAddresses(hostOf(raw), []netip.Addr{refused.Addr}, allow)
	}
	return nil
}

// closedAddresses checks the addresses of a host. It returns nil if one of them can be dialled. The reason names the host
// unless it is "" or an address.
func closedAddresses(host string, addresses []netip.Addr, allow []netip.Prefix) *closedHost {
	if len(addresses) == 0 {
		return nil
	}
	label := leadsTo(host)
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		label = ""
	}
	client := httptool.NewClient(httptool.ClientConfig{Allow: allow})
	closed := &closedHost{}
	for _, addr := range slices.SortedFunc(slices.Values(addresses), netip.Addr.Compare) { // resolvers return them in any order
		addr = addr.Unmap().WithZone("")
		refused, ok := errors.AsType[*httptool.AddressError](client.Judge(addr))
		if !ok {
			return nil
		}
		if closed.What == "" {
			closed.What = fmt.Sprintf("%s%s, %s", label, addr, refused.Class)
			if label == "" {
				closed.What = fmt.Sprintf("%s is %s", addr, refused.Class)
			}
		}
		if addr.IsValid() {
			closed.networks = append(closed.networks, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return closed
}

// Remedy returns the line to add to the configuration.
func (h *closedHost) Remedy(allow []netip.Prefix) string {
	return wantAllowed(NetworkTexts(slices.Concat(allow, h.networks)))
}

// Why returns the reason and the remedy for a tool that cannot be called.
func (h *closedHost) Why(allow []netip.Prefix) string {
	return notDialled(h.What, h.Remedy(allow))
}

// NamedURL is a tool or server with its URL.
type NamedURL struct {
	Name   string // of the tool, or the server
	Place  string // in the file
	url    string
	Server bool // a server, not an http tool
}

// urls returns the URLs of the enabled servers and http tools.
func (c *Catalog) urls() (list []NamedURL) {
	for _, s := range c.Servers {
		if s.Enabled && s.HTTP != nil {
			list = append(list, NamedURL{s.Name, "catalog.servers." + s.Name + ".http.url", s.HTTP.URL, true})
		}
	}
	for _, t := range c.HTTP {
		if t.Enabled {
			list = append(list, NamedURL{t.Name, "catalog.http." + t.Name + ".request.url", t.Request.URL, false})
		}
	}
	return list
}

// ClosedName is a tool or server whose host name has only addresses that Patterngate does not dial.
type ClosedName struct {
	NamedURL
	Why string
}

// ClosedNames looks up the names of all hosts. It leaves out those whose lookup takes too long.
func (c *Catalog) ClosedNames(ctx context.Context) (list []ClosedName) {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	all := c.urls()
	found := make([]*closedHost, len(all))
	var looking sync.WaitGroup
	for i, u := range all {
		looking.Go(func() { found[i] = closedNameOf(ctx, u.url, c.AllowNetworks) })
	}
	looking.Wait()
	for i, closed := range found {
		if closed != nil {
			list = append(list, ClosedName{all[i], closed.Why(c.AllowNetworks)})
		}
	}
	return list
}

// NetworkTexts returns networks as the file writes them, separated by commas.
func NetworkTexts(list []netip.Prefix) string {
	texts := make([]string, len(list))
	for i, network := range list {
		texts[i] = yamldoc.Written(network.String())
	}
	return strings.Join(texts, ", ")
}
