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
		grammar.Text("listen", &c.Listen, faultOfListen).Means("Where MCP is served over HTTP, host:port; empty: on standard input and output instead. An address that others reach needs a token_file."),
		grammar.Path("token_file", &c.TokenFile).Means("Who may ask: a file of mode 0600 with one name: token a line. Without it only this OS user may, over loopback, on Linux."),
		grammar.Texts("origins", &c.Origins, transport.IsOrigin, "an origin as browsers write it: https://app.example").Means("Web pages that may ask, besides those of this machine."),
		grammar.Texts("hosts", &c.Hosts, transport.IsHost, "a name or address, with or without a port: gate.example").Means("Names by which this server may be called, besides its own address; a reverse proxy that keeps the public name needs it."),
		grammar.Count("body_bytes", &c.BodyBytes, 4096, 64<<20).Means("How large a request may be."),
		grammar.Scaled("session_idle_seconds", grammar.Bounds{Min: 1, Max: 30 * 86_400, Unit: grammar.InSeconds},
			func() any { return c.SessionIdle.Seconds() },
			func(v float64) { c.SessionIdle = time.Duration(math.Round(v * float64(time.Second))) }).
			Means("When a session that is idle ends."),
	}
}

func faultOfListen(text string) yamldoc.Fault {
	if text == "" || transport.IsListen(text) {
		return yamldoc.Fault{}
	}
	return yamldoc.Fault{Reason: "not an address to listen at", Got: yamldoc.Quoted(text), Want: "write host:port: 127.0.0.1:8765"}
}

const tokenFileFlag = "--token-file"

// acrossHTTP checks the keys of http together. An address that other machines can reach needs a token file, and a token
// file flag needs an address.
func (r *loader) acrossHTTP(c HTTP) {
	group := (*yamldoc.Path)(nil).Key("http")
	switch listen, file := group.Key("listen"), group.Key("token_file"); {
	case c.Listen != "" && c.TokenFile == "" && !transport.IsLoopback(c.Listen):
		r.Faults.Add(r.Places[listen.String()], listen, yamldoc.Fault{Reason: c.Listen + " is not loopback", Want: "set http.token_file"})
	case c.Listen == "" && r.Places[file.String()].Source == tokenFileFlag:
		r.Faults.Add(r.Places[file.String()], file, yamldoc.Fault{Reason: "nothing is served over HTTP", Want: "give --http 127.0.0.1:8765"})
	}
}
