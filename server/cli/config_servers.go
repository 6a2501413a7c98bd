package cli

import (
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

const (
	maxArgs        = 256
	maxServerWait  = 3600 // seconds
	maxParallel    = 256
	defaultTimeout = time.Minute
)

// catalogKey is a team's own tools (spec/config.md section 4).
func catalogKey(name string, c *CatalogConfig) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			c.Declared = true
			r.group(n, path, c.keys(), unknownKey)
		},
		show: func() any {
			if !c.Declared {
				return nil
			}
			return c.keys()
		},
		below: c.keys,
	}
}

func (c *CatalogConfig) keys() []configKey {
	pin := pathKey("pin", &c.Pin)
	pin.read = absolutePath(&c.Pin)
	return []configKey{
		pin.means("What each server's tool was when it was accepted, whole; empty: `patterngate.lock` beside the file. A tool without a line there, or that differs from it, is held until a person accepts it."),
		networksKey("allow_networks", &c.AllowNetworks).means("Loopback, private, link-local and metadata addresses that may be dialled; no other of these is, whatever name leads there."),
		toolListKey("expose", &c.Expose).means("Tools that are MCP tools of their own: each a pattern of kind call under its own name."),
		serverEntries.key("servers", &c.Servers).means("MCP servers, by a name of yours. Each is started, or dialled, by the first call of one of its tools."),
		httpEntries.key("http", &c.HTTP).means("Tools that are an HTTP request, by the tool's name."),
	}
}

// absolutePath reads a path and makes it whole.
func absolutePath(target *string) func(*configReader, *yamldoc.Node, *yamldoc.Path) {
	return func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		switch {
		case n.Kind != yamldoc.Text:
			r.wrong(n, path, "write text in quotes")
		case strings.Contains(n.Text, "\x00"):
			r.faults.Add(n.At, path, yamldoc.Fault{Reason: "a NUL character in a path", Want: "write a path"})
		default:
			*target = absolutePathOf(r, n)
		}
	}
}

// namedPathKey is the path of a file or directory that must be there.
func namedPathKey(name string, target *string, dir bool) configKey {
	key := optionalTextKey(name, target, nil)
	key.takes = "a path; a relative one starts at the file's directory"
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		absolutePath(target)(r, n, path)
		if *target == "" || n.At.Source == "" {
			return
		}
		info, err := os.Stat(*target)
		switch {
		case err != nil:
			r.faults.Add(n.At, path, yamldoc.Fault{Reason: yamldoc.Quoted(*target) + ": " + fileCause(err).Error(), Want: "write the path of what is there"})
		case dir && !info.IsDir():
			r.faults.Add(n.At, path, yamldoc.Fault{Reason: yamldoc.Quoted(*target) + " is no directory", Want: "write the path of one"})
		case !dir && !info.Mode().IsRegular():
			r.faults.Add(n.At, path, yamldoc.Fault{Reason: yamldoc.Quoted(*target) + " is no file", Want: "write the path of one"})
		}
	}
	return key
}

// networksKey is a list of networks in CIDR form.
func networksKey(name string, target *[]netip.Prefix) configKey {
	const want = "write a network: 127.0.0.1/32"
	return configKey{
		name: name, takes: "a list of networks: `127.0.0.1/32`", form: func() map[string]any { return listForm(textForm) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []netip.Prefix
			ok := r.list(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				prefix, err := netip.ParsePrefix(item.Text)
				switch {
				case item.Kind != yamldoc.Text || err != nil:
					f := yamldoc.Fault{Reason: "not a network", Got: item.Shown(), Want: want}
					if addr, err := netip.ParseAddr(item.Text); err == nil {
						f.Want = "write " + netip.PrefixFrom(addr, addr.BitLen()).String() + " for one address"
					}
					r.faults.Add(item.At, at, f)
				case prefix.Masked() != prefix:
					r.faults.Add(item.At, at, yamldoc.Fault{Reason: "bits beyond its length", Got: yamldoc.Quoted(item.Text), Want: "write " + prefix.Masked().String()})
				default:
					list = append(list, prefix)
				}
			})
			if ok {
				*target = list
			}
		},
		show: func() any {
			texts := make([]string, len(*target))
			for i, prefix := range *target {
				texts[i] = prefix.String()
			}
			return texts
		},
	}
}

var serverEntries = entries[ServerConfig]{
	names: serverNames,
	named: func(s *ServerConfig) string { return s.Name },
	fresh: func(name string, at Position) ServerConfig {
		return ServerConfig{
			Name: name, At: at, Enabled: true, Timeout: defaultTimeout, StartTimeout: defaultTimeout, MaxParallel: 8,
			Breaker: BreakerConfig{Failures: 5, Open: 30 * time.Second},
		}
	},
	keys:   (*ServerConfig).keys,
	off:    func(s *ServerConfig) bool { return !s.Enabled },
	finish: finishServer,
}

func (s *ServerConfig) keys() []configKey {
	return []configKey{
		boolKey("enabled", &s.Enabled).means("false: as if it were not declared."),
		heldKey("stdio", &s.Stdio, func() StdioConfig { return StdioConfig{} }, (*StdioConfig).keys).means("A program that speaks MCP on its standard input and output. This or http."),
		heldKey("http", &s.HTTP, func() EndpointConfig { return EndpointConfig{} }, (*EndpointConfig).keys).means("A server at a URL. This or stdio."),
		secondsKey("timeout_seconds", &s.Timeout, maxServerWait).means("How long a call of one of its tools may take."),
		secondsKey("start_timeout_seconds", &s.StartTimeout, maxServerWait).means("How long it may take until it answers for the first time."),
		countKey("max_parallel", &s.MaxParallel, 1, maxParallel).means("Calls at once."),
		groupKey("breaker",
			countKey("failures", &s.Breaker.Failures, 1, maxCount).means("After so many failures in a row it is left alone."),
			secondsKey("open_seconds", &s.Breaker.Open, maxServerWait).means("For so long."),
		),
		serverToolEntries.key("tools", &s.Tools).means("Its tools, by the name that it gives them. One that is not named here does not exist."),
	}
}

// finishServer checks what no key of a server can see alone, and gives its tools its own time-out.
func finishServer(r *configReader, n *yamldoc.Node, path *yamldoc.Path, s *ServerConfig) {
	for i := range s.Tools {
		if t := &s.Tools[i]; t.Timeout < 0 {
			t.Timeout = s.Timeout
		}
	}
	stdio, http := n.Member("stdio"), n.Member("http")
	said := func(n *yamldoc.Node) bool { return n != nil && n.Kind != yamldoc.Null }
	switch {
	case said(stdio) && said(http):
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "both stdio and http", Want: "keep one"})
	case !said(stdio) && !said(http) && s.Enabled:
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "neither stdio nor http", Want: "write stdio: {command: ...} or http: {url: ...}"})
	}
}

func (c *StdioConfig) keys() []configKey {
	return []configKey{
		commandKey("command", &c.Command).need("write the program: npx").means("The program, on the PATH of this process, or by its path. No shell reads it."),
		argsKey("args", &c.Args).means("Its arguments. One may be {secret}, which other users of the machine then see."),
		environKey("env", &c.Env).means("What it sees of the environment, and nothing else of ours: `[PATH, HOME]` are passed on, or {NAME: true, text or {secret}}."),
		namedPathKey("dir", &c.Dir, true).means("Where it starts. Not set: where this program did."),
	}
}

// commandKey is a program: a name is kept as it is, a path is made whole.
func commandKey(name string, target *string) configKey {
	key := textKey(name, target, nil)
	key.takes = "the name or path of a program"
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		switch {
		case n.Kind != yamldoc.Text:
			r.wrong(n, path, "write text in quotes")
		case ijson.Blank(n.Text) || strings.ContainsAny(n.Text, "\x00\r\n") || len(n.Text) > maxText:
			r.faults.Add(n.At, path, yamldoc.Fault{Reason: "not a program", Got: yamldoc.Quoted(n.Text), Want: "write the name or path of one"})
		case strings.ContainsAny(n.Text, `/\`):
			*target = absolutePathOf(r, n)
		default:
			*target = n.Text
		}
	}
	return key
}

// argsKey are a program's arguments, each text or a secret.
func argsKey(name string, target *[]Value) configKey {
	return configKey{
		name: name, takes: "a list of texts, or `{secret}`", form: func() map[string]any { return listForm(textOrSecret) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []Value
			last := ""
			ok := r.list(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				if item.Kind == yamldoc.Number && secretArgument(last, item.Text) { // it is not quoted
					refuseLiteral(r, item, at, secretWant)
					last = ""
					return
				}
				v, ok := readValue(r, item, at)
				switch {
				case ok && v.Secret.Set():
					r.faults.Warn(item.At, at, yamldoc.Fault{Reason: "a secret in an argument: other users of this machine see command lines", Want: "give it in env, if the program takes it there"})
				case ok && secretArgument(last, v.Text):
					refuseLiteral(r, item, at, secretWant)
				}
				list, last = append(list, v), v.Text
			})
			if ok && len(list) > maxArgs {
				r.faults.Add(n.At, path, yamldoc.Fault{Reason: "out of range", Got: yamldoc.NumberText(float64(len(list))) + " arguments", Want: "write at most " + yamldoc.NumberText(maxArgs)})
			}
			*target = list
		},
		show: func() any {
			list := make([]any, len(*target))
			for i, v := range *target {
				list[i] = v.shown()
			}
			return list
		},
	}
}

// secretArgument reports an argument that is, or holds, the value of a flag or variable whose name says that it is secret.
func secretArgument(before, arg string) bool {
	if name, value, cut := strings.Cut(arg, "="); cut && value != "" && !strings.ContainsAny(name, " /:?") {
		return isSecretName(name) // --api-key=x, and the TOKEN=x of "docker run -e"
	}
	return strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && isSecretName(before) && arg != "" && !strings.HasPrefix(arg, "-")
}

// environKey are the variables that a program sees.
func environKey(name string, target *[]EnvConfig) configKey {
	return configKey{
		name: name, takes: "a list of names, or a mapping of names to true, text or `{secret}`",
		form: func() map[string]any {
			return map[string]any{"anyOf": []any{listForm(textForm), mapForm(map[string]any{"anyOf": []any{map[string]any{"const": true}, textForm, secretForm}})}}
		},
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) { *target = readEnviron(r, n, path) },
		show: func() any { return shownEnviron(*target) },
	}
}

func readEnviron(r *configReader, n *yamldoc.Node, path *yamldoc.Path) (list []EnvConfig) {
	switch n.Kind {
	case yamldoc.List:
		r.list(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
			switch {
			case item.Kind == yamldoc.Text && strings.Contains(item.Text, "="):
				r.faults.Add(item.At, at, yamldoc.Fault{Reason: "a value within a list of names", Want: "write env: {NAME: text}"})
			case item.Kind != yamldoc.Text || !variableNames.fits.MatchString(item.Text):
				r.faults.Add(item.At, at, yamldoc.Fault{Reason: "not a name", Got: item.Shown(), Want: variableNames.want})
			case slices.ContainsFunc(list, func(e EnvConfig) bool { return e.Name == item.Text }):
				r.faults.Add(item.At, at, yamldoc.Fault{Reason: item.Text + " is named twice", Want: "leave one out"})
			default:
				list = append(list, EnvConfig{Name: item.Text, Pass: true})
			}
		})
	case yamldoc.Mapping:
		r.each(n, path, variableNames, func(m yamldoc.Member, below *yamldoc.Path) {
			if e, ok := readVariable(r, m, below); ok {
				list = append(list, e)
			}
		})
	default:
		r.wrong(n, path, "write a list of names, or a mapping of names to true, text or {secret}")
	}
	return list
}

func readVariable(r *configReader, m yamldoc.Member, below *yamldoc.Path) (EnvConfig, bool) {
	e, ok := EnvConfig{Name: m.Key}, true
	switch {
	case m.Value.Kind == yamldoc.Bool && m.Value.Flag:
		e.Pass = true
	case m.Value.Kind == yamldoc.Bool:
		r.faults.Add(m.Value.At, below, yamldoc.Fault{Reason: "false", Got: "false", Want: "leave the name out, or write true to pass it on"})
		ok = false
	case isSecretName(m.Key) && !isReference(m.Value):
		refuseLiteral(r, m.Value, below, `write {secret: "env:`+m.Key+`"}`)
		ok = false
	default:
		e.Value, ok = readValue(r, m.Value, below)
	}
	return e, ok
}

func shownEnviron(list []EnvConfig) any {
	names, values := make([]string, len(list)), make(map[string]any, len(list))
	for i, e := range list {
		names[i] = e.Name
		if values[e.Name] = e.shown(); e.Pass {
			values[e.Name] = true
		}
	}
	if slices.ContainsFunc(list, func(e EnvConfig) bool { return !e.Pass }) {
		return values
	}
	return names
}

func (c *EndpointConfig) keys() []configKey {
	return []configKey{
		textKey("url", &c.URL, faultOfEndpoint).need("write the server's URL: https://host/mcp").means("Where it is: an absolute http or https URL."),
		headersKey("headers", &c.Headers).means("Headers of each request: text, or {secret, prefix}."),
		namedPathKey("ca_file", &c.CAFile, false).means("Certificates that are trusted, PEM. Not set: the system's."),
	}
}

// faultOfEndpoint judges the URL of a server or request. It never quotes it, since it may hold a secret.
func faultOfEndpoint(text string) yamldoc.Fault {
	const want = "write an absolute URL: https://host/path"
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsAny(text, " \t\r\n"):
		return yamldoc.Fault{Reason: "not a URL", Want: want}
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return yamldoc.Fault{Reason: "not an absolute http or https URL", Want: want}
	case u.User != nil:
		return yamldoc.Fault{Reason: "a user or password in a URL", Want: `write it without, and headers: {Authorization: {secret: "env:NAME", prefix: "Basic "}}`}
	case u.Fragment != "":
		return yamldoc.Fault{Reason: "a fragment in a URL", Want: "leave # and what follows out"}
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if isSecretName(name) && value != "" && !singleArgument.MatchString(value) {
			return yamldoc.Fault{Reason: "a literal for " + yamldoc.Quoted(name) + " in a URL", Want: `write it in query or headers: {secret: "env:NAME"}`}
		}
	}
	return yamldoc.Fault{}
}

// isWithin reports a path that is a directory or lies in it. Both are whole and clean.
func isWithin(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
