package tools

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// IdentityOf returns a text that is equal for two servers with the same start command, URL and connection settings. Secrets
// count by their references.
func IdentityOf(s *Server, allow []netip.Prefix) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%v\x00%v\x00%v", s.Name, s.Timeout, s.StartTimeout, allow)
	if s.Stdio != nil {
		fmt.Fprintf(&b, "\x00%q %q %q %+v %+v", s.Stdio.Command, s.Stdio.Path, s.Stdio.Dir, s.Stdio.Args, sortedEnv(s.Stdio.Env))
	}
	if s.HTTP != nil {
		fmt.Fprintf(&b, "\x00%q %q %+v", s.HTTP.URL, s.HTTP.CAFile, sortedHeaders(s.HTTP.Headers))
	}
	return b.String()
}

// Within reports whether c reaches nothing that other does not. Every enabled server and http tool must be one of other's
// with the same program or URL and the same data sent, and every network must be allowed there. The order of members does
// not matter, since a snapshot sorts them.
func (c Catalog) Within(other Catalog) bool {
	for _, s := range c.Servers {
		at := slices.IndexFunc(other.Servers, func(o Server) bool { return o.Enabled && o.Name == s.Name })
		if s.Enabled && (at < 0 || !s.within(&other.Servers[at])) {
			return false
		}
	}
	for _, t := range c.HTTP {
		at := slices.IndexFunc(other.HTTP, func(o HTTPTool) bool { return o.Enabled && o.Name == t.Name })
		if t.Enabled && (at < 0 || t.Request.words() != other.HTTP[at].Request.words()) {
			return false
		}
	}
	for _, network := range c.AllowNetworks {
		if !slices.Contains(other.AllowNetworks, network) {
			return false
		}
	}
	return true
}

// within compares two servers of the same name. A secret argument must also be one of the same tool of o: only the
// configuration chooses which secret a server gets.
func (s *Server) within(o *Server) bool {
	if IdentityOf(s, nil) != IdentityOf(o, nil) { // Within compares the networks
		return false
	}
	for _, t := range s.Tools {
		for _, f := range t.Fix {
			if t.Enabled && f.Secret.Set() && !o.fixes(t.Upstream, f) {
				return false
			}
		}
	}
	return true
}

// fixes reports whether an enabled tool of the server has that secret argument.
func (s *Server) fixes(upstream string, f Fixed) bool {
	return slices.ContainsFunc(s.Tools, func(t ServerTool) bool {
		return t.Enabled && t.Upstream == upstream && slices.ContainsFunc(t.Fix, func(g Fixed) bool { return g.Name == f.Name && g.Secret.same(f.Secret) })
	})
}

func (s SecretRef) same(o SecretRef) bool {
	return s.Env == o.Env && s.File == o.File && slices.Equal(s.Exec, o.Exec)
}

// words returns all settings of a request as text, with headers and query parameters sorted.
func (c Request) words() string {
	c.Headers, c.Query = sortedHeaders(c.Headers), slices.Clone(c.Query)
	slices.SortStableFunc(c.Query, func(a, b NamedTemplate) int { return strings.Compare(a.Name, b.Name) })
	return fmt.Sprintf("%+v", c)
}

func sortedHeaders(list []Header) []Header {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func sortedEnv(list []Variable) []Variable {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}
