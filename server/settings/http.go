package settings

import (
	"math"
	"time"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
	"patterngate/server/transport"
)

// HTTP says whether MCP is served over HTTP, where, and who can call it.
type HTTP struct {
	Listen      string        // host:port; empty: not served over HTTP
	TokenFile   string        // tokens of the callers; empty: only this OS user, over loopback
	Origins     []string      // of web pages that can call
	Hosts       []string      // other names of this server
	BodyBytes   int           // of a request
	SessionIdle time.Duration // idle time after which a session ends
}

// keys returns the keys of the http section (spec/config.md section 2).
func (c *HTTP) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Text("listen", &c.Listen, faultOfListen).Means("The address for MCP over HTTP, host:port. Empty: standard input and output. An address that other machines reach needs a token_file."),
		grammar.Path("token_file", &c.TokenFile).Means("A file of mode 0600 with one `name: token` on each line: the clients that can connect. Without it only this OS user can connect, over loopback, on Linux."),
		grammar.Texts("origins", &c.Origins, transport.IsOrigin, originForm).Means("Origins of web pages that can connect, besides those of this machine."),
		grammar.Texts("hosts", &c.Hosts, transport.IsHost, hostForm).Means("Host names for this server, besides its own address. A reverse proxy that keeps the public name needs it."),
		grammar.Count("body_bytes", &c.BodyBytes, 4096, 64<<20).Means("The largest request."),
		grammar.Scaled("session_idle_seconds", grammar.Bounds{Min: 1, Max: 30 * 86_400, Unit: grammar.InSeconds},
			func() any { return c.SessionIdle.Seconds() },
			func(v float64) { c.SessionIdle = time.Duration(math.Round(v * float64(time.Second))) }).
			Means("When an idle session ends."),
	}
}

func faultOfListen(text string) yamldoc.Fault {
	if text == "" || transport.IsListen(text) {
		return yamldoc.Fault{}
	}
	return yamldoc.Fault{Reason: notAddress, Got: yamldoc.Quoted(text), Want: wantListen}
}

const tokenFileFlag = "--token-file"

// acrossHTTP checks the keys of http together. An address that other machines can reach needs a token file, and a token
// file flag needs an address.
func (r *loader) acrossHTTP(c HTTP) {
	group := (*yamldoc.Path)(nil).Key("http")
	switch listen, file := group.Key("listen"), group.Key("token_file"); {
	case c.Listen != "" && c.TokenFile == "" && !transport.IsLoopback(c.Listen):
		r.Faults.Add(r.Places[listen.String()], listen, yamldoc.Fault{Reason: notLoopback(c.Listen), Want: wantTokenFile})
	case c.Listen == "" && r.Places[file.String()].Source == tokenFileFlag:
		r.Faults.Add(r.Places[file.String()], file, yamldoc.Fault{Reason: notServed, Want: wantHTTP})
	}
}
