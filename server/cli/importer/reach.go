package importer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"

	"patterngate/catalog/httptool"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// reached holds the address of the last connection to a server.
type reached struct{ at atomic.Pointer[netip.Addr] }

// watch returns a context whose requests record the address that they connect to.
func (r *reached) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if at, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
			addr := at.AddrPort().Addr()
			r.at.Store(&addr)
		}
	}})
}

// allowReached records the address at which a server was reached, if Patterngate does not dial it by default. The client
// dials it already. Without this address in allow_networks, the server would work here but not through Patterngate.
func (s *Server) allowReached(r *reached) {
	u, err := url.Parse(s.url)
	if err != nil || s.url == "" {
		return
	}
	addr, err := netip.ParseAddr(u.Hostname())
	literal := err == nil
	if !literal {
		proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}) // with a proxy, the proxy was reached
		if at := r.at.Load(); at != nil && proxy == nil && err == nil {
			addr = *at
		}
	}
	addr = addr.Unmap().WithZone("")
	refused, closed := errors.AsType[*httptool.AddressError]((&httptool.Client{}).Judge(addr))
	if !closed || !addr.IsValid() {
		return
	}
	s.network = netip.PrefixFrom(addr, addr.BitLen())
	s.leads = addressIs(addr, refused.Class)
	if !literal {
		s.leads = nameLeads(u.Hostname(), addr, refused.Class)
	}
}

// networksOf returns the addresses that allow_networks must name. named are those of servers with a confirmed tool, others
// those of the rest.
func networksOf(servers []Server) (named, others []netip.Prefix) {
	for i := range servers {
		if s := &servers[i]; s.unnamed() && s.confirmed() && !slices.Contains(named, s.network) {
			named = append(named, s.network)
		}
	}
	for i := range servers {
		if s := &servers[i]; s.unnamed() && !slices.Contains(named, s.network) && !slices.Contains(others, s.network) {
			others = append(others, s.network)
		}
	}
	return named, others
}

// unnamed reports whether the server has an address that Patterngate does not dial by default.
func (s *Server) unnamed() bool {
	return s.network.IsValid() && s.problem == "" && s.out == ""
}

// confirmed reports whether a person confirmed a tool of the server.
func (s *Server) confirmed() bool {
	return slices.ContainsFunc(s.tools, func(t importedTool) bool { return t.allow })
}

// noteNetworks adds a note to each such server about allow_networks. It runs after the person confirmed tools.
func noteNetworks(servers []Server) {
	named, _ := networksOf(servers)
	for i := range servers {
		switch s := &servers[i]; {
		case !s.unnamed():
		case slices.Contains(named, s.network):
			s.note(nowAllowed(s.leads, s.network))
		default:
			s.note(allowFirst(s.leads, s.network))
		}
	}
}

// reaches makes a server a comment if it gets a directory with the configuration or the state file. Such a server could
// change what is allowed, and loading the file would fail (spec/config.md section 4). It uses the check of the
// configuration's reader.
func (s *Server) reaches(in settings.Sources, dirs ...string) {
	var files []settings.Guarded
	for _, dir := range dirs {
		if dir != "" {
			files = append(files, settings.Guarded{What: dir, Path: filepath.Clean(dir)}, settings.Guarded{What: dir, Path: settings.Resolved(dir)})
		}
	}
	judge := func(text, start string) {
		if g, at := settings.Exposing(in, files, text, start); g.What != "" && s.out == "" {
			s.out = leftOut(holdsOurs(at, g.What))
			s.fail(containsOurs(at))
		}
	}
	judge(s.dir, "")
	start := (&tools.Stdio{Dir: s.dir}).Start()
	for _, v := range s.args {
		judge(v.now, start)
	}
	for _, v := range s.env {
		if !v.hidden() && !v.pass && !settings.OfTheUser(v.name) {
			judge(v.text, "")
		}
	}
}
