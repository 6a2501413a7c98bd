package tools

import (
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

const (
	MaxArgs        = 256  // arguments of a program
	maxServerWait  = 3600 // seconds
	maxParallel    = 256
	defaultTimeout = time.Minute
)

// CatalogKey returns the key of the catalog section (spec/config.md section 4).
func CatalogKey(name string, c *Catalog) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "mapping",
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			c.Declared = true
			r.Group(n, path, c.keys(), grammar.UnknownKey)
		},
		Show: func() any {
			if !c.Declared {
				return nil
			}
			return c.keys()
		},
		Below: c.keys,
	}
}

func (c *Catalog) keys() []grammar.Key {
	pin := grammar.Path("pin", &c.Pin)
	pin.Read = absolutePath(&c.Pin)
	return []grammar.Key{
		pin.Means("The lock file. It holds each server's tools as they were when a person accepted them. Empty: `patterngate.lock` beside the file. A tool that is not in it or differs from it is held until a person accepts it."),
		networksKey("allow_networks", &c.AllowNetworks).Means("Loopback, private, link-local and metadata addresses that Patterngate can connect to. It refuses all others of these, whatever name leads there."),
		grammar.ToolList("expose", &c.Expose).Means("Tools that clients see under their own names. Each becomes a pattern of kind call."),
		serverEntries.Key("servers", &c.Servers).Means("MCP servers, by names that you choose. Each is started, or connected to, by the first call of one of its tools."),
		httpEntries.Key("http", &c.HTTP).Means("Tools that are an HTTP request, by the tool's name."),
	}
}

// absolutePath returns a function that reads a path and makes it absolute.
func absolutePath(target *string) func(*grammar.Reader, *yamldoc.Node, *yamldoc.Path) {
	return func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		switch {
		case n.Kind != yamldoc.Text:
			r.Wrong(n, path, wantQuoted)
		case strings.Contains(n.Text, "\x00"):
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: nulInPath, Want: wantPath})
		default:
			*target = grammar.AbsolutePath(r, n)
		}
	}
}

// namedPathKey returns the key of the path of a file, or of a directory if dir is true. It must exist.
func namedPathKey(name string, target *string, dir bool) grammar.Key {
	key := grammar.OptionalText(name, target, nil)
	key.Takes = "path"
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		absolutePath(target)(r, n, path)
		if *target == "" || n.At.Source == "" {
			return
		}
		info, err := os.Stat(*target)
		switch {
		case err != nil:
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: yamldoc.Quoted(*target) + ": " + machine.CauseOf(err).Error(), Want: wantExisting})
		case dir && !info.IsDir():
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: notDirectory(yamldoc.Quoted(*target)), Want: wantPathOfOne})
		case !dir && !info.Mode().IsRegular():
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: notFile(yamldoc.Quoted(*target)), Want: wantPathOfOne})
		}
	}
	return key
}

// networksKey returns the key of a list of networks in CIDR form.
func networksKey(name string, target *[]netip.Prefix) grammar.Key {
	const want = wantNetwork
	return grammar.Key{
		Name: name, Takes: listOfNetworks, Form: func() map[string]any { return grammar.ListForm(grammar.TextForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []netip.Prefix
			ok := r.List(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				prefix, err := netip.ParsePrefix(item.Text)
				switch {
				case item.Kind != yamldoc.Text || err != nil:
					f := yamldoc.Fault{Reason: notNetwork, Got: item.Shown(), Want: want}
					if addr, err := netip.ParseAddr(item.Text); err == nil {
						f.Want = wantOneAddress(netip.PrefixFrom(addr, addr.BitLen()).String())
					}
					r.Faults.Add(item.At, at, f)
				case prefix.Masked() != prefix:
					r.Faults.Add(item.At, at, yamldoc.Fault{Reason: bitsBeyond, Got: yamldoc.Quoted(item.Text), Want: "write " + prefix.Masked().String()})
				default:
					list = append(list, prefix)
				}
			})
			if ok {
				*target = list
			}
		},
		Show: func() any {
			texts := make([]string, len(*target))
			for i, prefix := range *target {
				texts[i] = prefix.String()
			}
			return texts
		},
	}
}

var serverEntries = grammar.Entries[Server]{
	Names: grammar.ServerNames,
	Named: func(s *Server) string { return s.Name },
	Fresh: func(name string, at grammar.Position) Server {
		return Server{
			Name: name, At: at, Enabled: true, Timeout: defaultTimeout, StartTimeout: defaultTimeout, MaxParallel: 8,
			Breaker: Breaker{Failures: 5, Open: 30 * time.Second},
		}
	},
	Keys:   (*Server).keys,
	Off:    func(s *Server) bool { return !s.Enabled },
	Finish: finishServer,
}

func (s *Server) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Bool("enabled", &s.Enabled).Means("false: as if it were not declared."),
		grammar.Held("stdio", &s.Stdio, func() Stdio { return Stdio{} }, (*Stdio).keys).Means("A program that speaks MCP on its standard input and output. Use this or http."),
		grammar.Held("http", &s.HTTP, func() Endpoint { return Endpoint{} }, (*Endpoint).keys).Means("A server at a URL. Use this or stdio."),
		grammar.Seconds("timeout_seconds", &s.Timeout, maxServerWait).Means("How long a call of one of its tools can take."),
		grammar.Seconds("start_timeout_seconds", &s.StartTimeout, maxServerWait).Means("How long its first reply can take."),
		grammar.Count("max_parallel", &s.MaxParallel, 1, maxParallel).Means("How many calls can run at the same time."),
		grammar.Group("breaker",
			grammar.Count("failures", &s.Breaker.Failures, 1, grammar.MaxCount).Means("The number of failures in a row after which Patterngate stops calling it."),
			grammar.Seconds("open_seconds", &s.Breaker.Open, maxServerWait).Means("How long it is not called then."),
		),
		serverToolEntries.Key("tools", &s.Tools).Means("Its tools, by the server's names for them. A tool that is not listed does not exist here."),
	}
}

// finishServer checks the keys of a server together. It gives the server's timeout to tools that have none.
func finishServer(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, s *Server) {
	for i := range s.Tools {
		if t := &s.Tools[i]; t.Timeout < 0 {
			t.Timeout = s.Timeout
		}
	}
	stdio, http := n.Member("stdio"), n.Member("http")
	said := func(n *yamldoc.Node) bool { return n != nil && n.Kind != yamldoc.Null }
	switch {
	case said(stdio) && said(http):
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: bothTransports, Want: wantOne})
	case !said(stdio) && !said(http) && s.Enabled:
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: noTransport, Want: wantTransport})
	}
}

func (c *Stdio) keys() []grammar.Key {
	return []grammar.Key{
		commandKey("command", &c.Command).Need(wantCommand).Means("The program: a name on the PATH of this process, or a path. No shell reads it."),
		argsKey("args", &c.Args).Means("Its arguments. One can be {secret}, but other users of the machine then see it."),
		environKey("env", &c.Env).Means("Its environment variables. It gets no others. `[PATH, HOME]` are passed on, or {NAME: true, text or {secret}}."),
		namedPathKey("dir", &c.Dir, true).Means("The directory in which it starts. Not set: the directory where this program started."),
	}
}

// commandKey returns the key of a program. It keeps a name unchanged, and makes a path absolute.
func commandKey(name string, target *string) grammar.Key {
	key := grammar.Text(name, target, nil)
	key.Takes = programName
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		switch {
		case n.Kind != yamldoc.Text:
			r.Wrong(n, path, wantQuoted)
		case ijson.Blank(n.Text) || strings.ContainsAny(n.Text, "\x00\r\n") || len(n.Text) > MaxText:
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: notProgram, Got: yamldoc.Quoted(n.Text), Want: wantProgramName})
		case strings.ContainsAny(n.Text, `/\`):
			*target = grammar.AbsolutePath(r, n)
		default:
			*target = n.Text
		}
	}
	return key
}

// argsKey returns the key of a program's arguments, each a text or a secret.
func argsKey(name string, target *[]Value) grammar.Key {
	return grammar.Key{
		Name: name, Takes: listOfTexts, Form: func() map[string]any { return grammar.ListForm(textOrSecret) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []Value
			last := ""
			ok := r.List(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				if item.Kind == yamldoc.Number && IsSecretArgument(last, item.Text) { // a number without quotes
					RefuseLiteral(r, item, at, secretWant)
					last = ""
					return
				}
				v, ok := readValue(r, item, at)
				switch {
				case ok && v.Secret.Set():
					r.Faults.Warn(item.At, at, yamldoc.Fault{Reason: secretInArgument, Want: wantSecretInEnv})
				case ok && IsSecretArgument(last, v.Text):
					RefuseLiteral(r, item, at, secretWant)
				}
				list, last = append(list, v), v.Text
			})
			if ok && len(list) > MaxArgs {
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: outOfRange, Got: yamldoc.NumberText(float64(len(list))) + " arguments", Want: wantAtMost(yamldoc.NumberText(MaxArgs))})
			}
			*target = list
		},
		Show: func() any {
			list := make([]any, len(*target))
			for i, v := range *target {
				list[i] = v.shown()
			}
			return list
		},
	}
}

// IsSecretArgument reports whether arg is or contains the value of a flag or variable with a secret name. before is the
// argument before it.
func IsSecretArgument(before, arg string) bool {
	if name, value, cut := strings.Cut(arg, "="); cut && value != "" && !strings.ContainsAny(name, " /:?") {
		return IsSecretName(name) // --api-key=x, and the TOKEN=x of "docker run -e"
	}
	return strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && IsSecretName(before) && arg != "" && !strings.HasPrefix(arg, "-")
}

// environKey returns the key of the environment variables that a program gets.
func environKey(name string, target *[]Variable) grammar.Key {
	return grammar.Key{
		Name: name, Takes: namesOrEnvironment,
		Form: func() map[string]any {
			return map[string]any{"anyOf": []any{grammar.ListForm(grammar.TextForm), grammar.MapForm(map[string]any{"anyOf": []any{map[string]any{"const": true}, grammar.TextForm, SecretForm}})}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) { *target = readEnviron(r, n, path) },
		Show: func() any { return shownEnviron(*target) },
	}
}

func readEnviron(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) (list []Variable) {
	switch n.Kind {
	case yamldoc.List:
		r.List(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
			switch {
			case item.Kind == yamldoc.Text && strings.Contains(item.Text, "="):
				r.Faults.Add(item.At, at, yamldoc.Fault{Reason: valueInNames, Want: wantEnvMapping})
			case item.Kind != yamldoc.Text || !grammar.VariableNames.Fits.MatchString(item.Text):
				r.Faults.Add(item.At, at, yamldoc.Fault{Reason: notName, Got: item.Shown(), Want: grammar.VariableNames.Want})
			case slices.ContainsFunc(list, func(e Variable) bool { return e.Name == item.Text }):
				r.Faults.Add(item.At, at, yamldoc.Fault{Reason: namedTwice(item.Text), Want: wantOnce})
			default:
				list = append(list, Variable{Name: item.Text, Pass: true})
			}
		})
	case yamldoc.Mapping:
		r.Each(n, path, grammar.VariableNames, func(m yamldoc.Member, below *yamldoc.Path) {
			if e, ok := readVariable(r, m, below); ok {
				list = append(list, e)
			}
		})
	default:
		r.Wrong(n, path, wantEnv)
	}
	return list
}

func readVariable(r *grammar.Reader, m yamldoc.Member, below *yamldoc.Path) (Variable, bool) {
	e, ok := Variable{Name: m.Key}, true
	switch {
	case m.Value.Kind == yamldoc.Bool && m.Value.Flag:
		e.Pass = true
	case m.Value.Kind == yamldoc.Bool:
		r.Faults.Add(m.Value.At, below, yamldoc.Fault{Reason: "false", Got: "false", Want: wantPassedOn})
		ok = false
	case IsSecretName(m.Key) && !IsReference(m.Value):
		RefuseLiteral(r, m.Value, below, wantSecretOf(m.Key))
		ok = false
	default:
		e.Value, ok = readValue(r, m.Value, below)
	}
	return e, ok
}

func shownEnviron(list []Variable) any {
	names, values := make([]string, len(list)), make(map[string]any, len(list))
	for i, e := range list {
		names[i] = e.Name
		if values[e.Name] = e.shown(); e.Pass {
			values[e.Name] = true
		}
	}
	if slices.ContainsFunc(list, func(e Variable) bool { return !e.Pass }) {
		return values
	}
	return names
}

func (c *Endpoint) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Text("url", &c.URL, FaultOfEndpoint).Need(wantServerURL).Means("Its address: an absolute http or https URL."),
		headersKey("headers", &c.Headers).Means("Headers of each request: text, or {secret, prefix}."),
		namedPathKey("ca_file", &c.CAFile, false).Means("Certificates that are trusted, a PEM file. Not set: the system's."),
	}
}

// FaultOfEndpoint checks the URL of a server or request. The fault never quotes the URL, since it can hold a secret.
func FaultOfEndpoint(text string) yamldoc.Fault {
	const want = wantURL
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsAny(text, " \t\r\n"):
		return yamldoc.Fault{Reason: notURL, Want: want}
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return yamldoc.Fault{Reason: notAbsoluteURL, Want: want}
	case u.User != nil:
		return yamldoc.Fault{Reason: userInURL, Want: wantBasicHeader}
	case u.Fragment != "":
		return yamldoc.Fault{Reason: fragmentInURL, Want: wantNoFragment}
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if IsSecretName(name) && value != "" && !singleArgument.MatchString(value) {
			return yamldoc.Fault{Reason: secretInURL(yamldoc.Quoted(name)), Want: wantSecretElsewhere}
		}
	}
	return yamldoc.Fault{}
}
