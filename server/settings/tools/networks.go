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

// closedHost is a host of a URL that no call reaches, because no network that the configuration allows holds it.
type closedHost struct {
	What     string         // 127.0.0.1 is a loopback address
	networks []netip.Prefix // to allow
}

// hostOf is the host of a URL; "" for a text that is none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// isLocalhost reports whether a name always leads to this machine.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// ClosedHostOf judges the host of a URL by its text. Nil: it may be dialled, or its address is found out only when it is dialled.
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

// nameTime is how long the addresses of all names together may take to be found.
const nameTime = 3 * time.Second

// closedNameOf judges the host of a URL by the addresses that its name leads to by now. Nil: it may be dialled, it is no name
// or it leads nowhere.
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

// ClosedBy is the host that a call of a URL did not reach because of its address; nil where err has another cause. The error may
// know a host that was redirected to.
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

// closedAddresses judges the addresses of a host, which is named unless it is "" or an address. Nil: one of them may be dialled.
func closedAddresses(host string, addresses []netip.Addr, allow []netip.Prefix) *closedHost {
	if len(addresses) == 0 {
		return nil
	}
	label := host + " leads to "
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		label = ""
	}
	client := httptool.NewClient(httptool.ClientConfig{Allow: allow})
	closed := &closedHost{}
	for _, addr := range slices.SortedFunc(slices.Values(addresses), netip.Addr.Compare) { // resolvers give them in any order
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

// Remedy is the line to add.
func (h *closedHost) Remedy(allow []netip.Prefix) string {
	return fmt.Sprintf("write allow_networks: [%s] in catalog", NetworkTexts(slices.Concat(allow, h.networks)))
}

// Why says the same of a tool that cannot be called.
func (h *closedHost) Why(allow []netip.Prefix) string {
	return h.What + ", and Patterngate does not dial it; " + h.Remedy(allow)
}

// NamedURL is where a tool or server is reached over HTTP.
type NamedURL struct {
	Name   string // of the tool, or the server
	Place  string // in the file
	url    string
	Server bool // it is a server
}

// urls are where the tools and servers in force are reached over HTTP.
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

// ClosedName is a tool or server whose host's name leads to addresses only that are not dialled.
type ClosedName struct {
	NamedURL
	Why string
}

// ClosedNames looks up the names of all hosts. It finds nothing out about those that take too long.
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

// NetworkTexts are networks as the file has them.
func NetworkTexts(list []netip.Prefix) string {
	texts := make([]string, len(list))
	for i, network := range list {
		texts[i] = yamldoc.Written(network.String())
	}
	return strings.Join(texts, ", ")
}
