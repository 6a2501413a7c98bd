package cli

import (
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// acrossNetworks warns of tools and servers at addresses that no call of them reaches.
func (r *configLoader) acrossNetworks(c *Config) {
	at := (*yamldoc.Path)(nil).Key("catalog")
	warn := func(raw string, path *yamldoc.Path) {
		if closed := tools.ClosedHostOf(raw, c.Catalog.AllowNetworks); closed != nil {
			r.Faults.Warn(r.At(path), path, yamldoc.Fault{
				Reason: closed.What + ", and Patterngate does not dial it, so every call fails", Want: closed.Remedy(c.Catalog.AllowNetworks),
			})
		}
	}
	for _, s := range c.Catalog.Servers {
		if s.Enabled && s.HTTP != nil {
			warn(s.HTTP.URL, at.Key("servers").Key(s.Name).Key("http").Key("url"))
		}
	}
	for _, t := range c.Catalog.HTTP {
		if t.Enabled {
			warn(t.Request.URL, at.Key("http").Key(t.Name).Key("request").Key("url"))
		}
	}
}
