package cli

import (
	"fmt"
	"slices"
	"strings"
)

// within reports whether every server and request of a catalog is one of another's, the same in all that it starts, reaches
// and sends, and reaches no more networks. What is off is as if it were not there. The order in which members were written
// does not matter: a snapshot sorts them.
func (c CatalogConfig) within(other CatalogConfig) bool {
	for _, s := range c.Servers {
		at := slices.IndexFunc(other.Servers, func(o ServerConfig) bool { return o.Enabled && o.Name == s.Name })
		if s.Enabled && (at < 0 || !s.within(&other.Servers[at])) {
			return false
		}
	}
	for _, t := range c.HTTP {
		at := slices.IndexFunc(other.HTTP, func(o HTTPToolConfig) bool { return o.Enabled && o.Name == t.Name })
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

// accepted reports whether the lock of another configuration accepts all that this one's does, of the tools that it has.
func (d *declared) accepted(other *declared) bool {
	if d.lock == nil {
		return true
	}
	for _, s := range d.reach.Servers {
		for _, t := range s.Tools {
			was, there := d.lock.Tool(s.Name, t.Upstream)
			if !there || !s.Enabled || !t.Enabled {
				continue
			}
			if other.lock == nil {
				return false
			}
			if is, still := other.lock.Tool(s.Name, t.Upstream); !still || is.Hash() != was.Hash() {
				return false
			}
		}
	}
	return true
}

// within compares two servers of one name. A secret argument must be the other's too, of the same tool: nothing but the
// configuration chooses which secret a server is sent.
func (s *ServerConfig) within(o *ServerConfig) bool {
	if serverKey(s, nil) != serverKey(o, nil) { // networks are compared by themselves
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

// fixes reports whether a tool has that secret argument.
func (s *ServerConfig) fixes(upstream string, f FixValue) bool {
	return slices.ContainsFunc(s.Tools, func(t ServerToolConfig) bool {
		return t.Enabled && t.Upstream == upstream && slices.ContainsFunc(t.Fix, func(g FixValue) bool { return g.Name == f.Name && g.Secret.same(f.Secret) })
	})
}

func (s SecretRef) same(o SecretRef) bool {
	return s.Env == o.Env && s.File == o.File && slices.Equal(s.Exec, o.Exec)
}

// words are all that a request says, in an order of its own.
func (c RequestConfig) words() string {
	c.Headers, c.Query = sortedHeaders(c.Headers), slices.Clone(c.Query)
	slices.SortStableFunc(c.Query, func(a, b NamedTemplate) int { return strings.Compare(a.Name, b.Name) })
	return fmt.Sprintf("%+v", c)
}

func sortedHeaders(list []HeaderConfig) []HeaderConfig {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b HeaderConfig) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func sortedEnv(list []EnvConfig) []EnvConfig {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b EnvConfig) int { return strings.Compare(a.Name, b.Name) })
	return list
}
