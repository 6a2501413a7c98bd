package cli

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
)

// reached is the address that a server was found at last.
type reached struct{ at atomic.Pointer[netip.Addr] }

// watch has the requests of a context say where they go.
func (r *reached) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if at, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok {
			addr := at.AddrPort().Addr()
			r.at.Store(&addr)
		}
	}})
}

// allowReached names the very address at which a server was reached, where the gate would not dial it unless it is named. The
// client dials it already; without this the server works here and no call of it under the gate.
func (s *importedServer) allowReached(r *reached) {
	u, err := url.Parse(s.url)
	if err != nil || s.url == "" {
		return
	}
	addr, err := netip.ParseAddr(u.Hostname())
	literal := err == nil
	if !literal {
		proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}) // then it is the proxy that was reached
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
	if literal {
		s.note("%s is %s; allow_networks names it, and no other", addr, refused.Class)
		return
	}
	s.note("%s leads to %s, %s; allow_networks names it, and no other", u.Hostname(), addr, refused.Class)
}

// networksOf are the addresses of servers in force that are dialled because they are named.
func networksOf(servers []importedServer) []string {
	var list []string
	for _, s := range servers {
		if text := yamlScalar(s.network.String()); s.network.IsValid() && s.problem == "" && s.out == "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// reaches makes a server a comment that is given a directory in which the configuration or the record lies: it could
// change what is allowed, and the file is refused with it (spec/config.md section 4). It sees what our reader will.
func (s *importedServer) reaches(in ConfigSources, dirs ...string) {
	var files []guarded
	for _, dir := range dirs {
		if dir != "" {
			files = append(files, guarded{dir, filepath.Clean(dir)}, guarded{dir, resolved(dir)})
		}
	}
	r := &configReader{home: in.home}
	judge := func(text, start string) {
		if g, at := r.holds(files, text, start); g.what != "" && s.out == "" {
			s.out = "left out: " + at + " holds " + g.what + ", so a call could change what is allowed; name a narrower directory"
			s.fail("%s holds this configuration or its record, so a call could change what is allowed", at)
		}
	}
	judge(s.dir, "")
	start := (&StdioConfig{Dir: s.dir}).start()
	for _, v := range s.args {
		judge(v.now, start)
	}
	for _, v := range s.env {
		if !v.hidden() && !v.pass && !ofTheUser(v.name) {
			judge(v.text, "")
		}
	}
}
