package cli

import (
	"math"
	"path/filepath"
	"strings"
	"time"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
	"patterngate/server/transport"
)

// HTTPConfig says whether, where and to whom MCP is served over HTTP.
type HTTPConfig struct {
	Listen      string        // host:port; empty: it is not served
	TokenFile   string        // who may ask; empty: this OS user, over loopback
	Origins     []string      // of web pages that may ask
	Hosts       []string      // other names of this server
	BodyBytes   int           // of a request
	SessionIdle time.Duration // then a session ends
}

// keys are those of spec/config.md section 2.
func (c *HTTPConfig) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Text("listen", &c.Listen, faultOfListen).Means("Where MCP is served over HTTP, host:port; empty: on standard input and output instead. An address that others reach needs a token_file."),
		pathKey("token_file", &c.TokenFile).Means("Who may ask: a file of mode 0600 with one name: token a line. Without it only this OS user may, over loopback, on Linux."),
		textsKey("origins", &c.Origins, transport.IsOrigin, "an origin as browsers write it: https://app.example").Means("Web pages that may ask, besides those of this machine."),
		textsKey("hosts", &c.Hosts, transport.IsHost, "a name or address, with or without a port: gate.example").Means("Names by which this server may be called, besides its own address; a reverse proxy that keeps the public name needs it."),
		grammar.Count("body_bytes", &c.BodyBytes, 4096, 64<<20).Means("How large a request may be."),
		grammar.Scaled("session_idle_seconds", grammar.Bounds{Min: 1, Max: 30 * 86_400, Noun: "a number of seconds", Seconds: true},
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

// pathKey is the path of a file. In a configuration file it starts at that file's directory.
func pathKey(name string, target *string) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "a path; a relative one starts at the file's directory", Form: func() map[string]any { return grammar.TextForm },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text {
				r.Wrong(n, path, "write text in quotes")
				return
			}
			*target = filePathOf(r, n)
		},
		Show: func() any { return *target },
	}
}

// filePathOf is where a path leads from the place at which it stands.
func filePathOf(r *grammar.Reader, n *yamldoc.Node) string {
	path := n.Text
	switch {
	case path == "":
		return ""
	case strings.HasPrefix(path, "~/") && r.Home != nil:
		return r.Home(path)
	case n.At.Line == 0 || filepath.IsAbs(path): // a flag's or variable's starts where the program does
		return path
	}
	return filepath.Join(filepath.Dir(n.At.Source), path)
}

// textsKey is a list of texts of one form, which want words.
func textsKey(name string, target *[]string, is func(string) bool, want string) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "a list, each item " + want, Form: func() map[string]any { return grammar.ListForm(grammar.TextForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.List {
				r.Wrong(n, path, "write a list, [] for none")
				return
			}
			list := make([]string, 0, len(n.Items))
			for i, item := range n.Items {
				if item.Kind != yamldoc.Unreadable && (item.Kind != yamldoc.Text || !is(item.Text)) {
					r.Faults.Add(item.At, path.Item(i), yamldoc.Fault{Reason: "another form", Got: item.Shown(), Want: "write " + want})
					continue
				}
				list = append(list, item.Text)
			}
			*target = list
		},
		Show: func() any { return *target },
	}
}

const tokenFileFlag = "--token-file"

// acrossHTTP checks what no key of http can see alone: who can reach an address must have a token, unless only this
// machine can.
func (r *configLoader) acrossHTTP(c HTTPConfig) {
	group := (*yamldoc.Path)(nil).Key("http")
	switch listen, file := group.Key("listen"), group.Key("token_file"); {
	case c.Listen != "" && c.TokenFile == "" && !transport.IsLoopback(c.Listen):
		r.Faults.Add(r.Places[listen.String()], listen, yamldoc.Fault{Reason: c.Listen + " is not loopback", Want: "set http.token_file"})
	case c.Listen == "" && r.Places[file.String()].Source == tokenFileFlag:
		r.Faults.Add(r.Places[file.String()], file, yamldoc.Fault{Reason: "nothing is served over HTTP", Want: "give --http 127.0.0.1:8765"})
	}
}
