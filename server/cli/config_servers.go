package cli

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
		read: func(r *configReader, n *yamlNode, path *keyPath) {
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
func absolutePath(target *string) func(*configReader, *yamlNode, *keyPath) {
	return func(r *configReader, n *yamlNode, path *keyPath) {
		switch {
		case n.kind != yamlText:
			r.wrong(n, path, "write text in quotes")
		case strings.Contains(n.text, "\x00"):
			r.faults.add(n.at, path, Fault{Reason: "a NUL character in a path", Want: "write a path"})
		default:
			*target = r.absolute(n)
		}
	}
}

// namedPathKey is the path of a file or directory that must be there.
func namedPathKey(name string, target *string, dir bool) configKey {
	key := optionalTextKey(name, target, nil)
	key.takes = "a path; a relative one starts at the file's directory"
	key.read = func(r *configReader, n *yamlNode, path *keyPath) {
		absolutePath(target)(r, n, path)
		if *target == "" || n.at.source == "" {
			return
		}
		info, err := os.Stat(*target)
		switch {
		case err != nil:
			r.faults.add(n.at, path, Fault{Reason: quoted(*target) + ": " + fileCause(err).Error(), Want: "write the path of what is there"})
		case dir && !info.IsDir():
			r.faults.add(n.at, path, Fault{Reason: quoted(*target) + " is no directory", Want: "write the path of one"})
		case !dir && !info.Mode().IsRegular():
			r.faults.add(n.at, path, Fault{Reason: quoted(*target) + " is no file", Want: "write the path of one"})
		}
	}
	return key
}

// networksKey is a list of networks in CIDR form.
func networksKey(name string, target *[]netip.Prefix) configKey {
	const want = "write a network: 127.0.0.1/32"
	return configKey{
		name: name, takes: "a list of networks: `127.0.0.1/32`", form: func() map[string]any { return listForm(textForm) },
		read: func(r *configReader, n *yamlNode, path *keyPath) {
			var list []netip.Prefix
			ok := r.list(n, path, func(item *yamlNode, at *keyPath) {
				prefix, err := netip.ParsePrefix(item.text)
				switch {
				case item.kind != yamlText || err != nil:
					f := Fault{Reason: "not a network", Got: gotWords(item), Want: want}
					if addr, err := netip.ParseAddr(item.text); err == nil {
						f.Want = "write " + netip.PrefixFrom(addr, addr.BitLen()).String() + " for one address"
					}
					r.faults.add(item.at, at, f)
				case prefix.Masked() != prefix:
					r.faults.add(item.at, at, Fault{Reason: "bits beyond its length", Got: quoted(item.text), Want: "write " + prefix.Masked().String()})
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
	finish: (*configReader).finishServer,
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
func (r *configReader) finishServer(n *yamlNode, path *keyPath, s *ServerConfig) {
	for i := range s.Tools {
		if t := &s.Tools[i]; t.Timeout < 0 {
			t.Timeout = s.Timeout
		}
	}
	stdio, http := n.member("stdio"), n.member("http")
	said := func(n *yamlNode) bool { return n != nil && n.kind != yamlNull }
	switch {
	case said(stdio) && said(http):
		r.faults.add(n.at, path, Fault{Reason: "both stdio and http", Want: "keep one"})
	case !said(stdio) && !said(http) && s.Enabled:
		r.faults.add(n.at, path, Fault{Reason: "neither stdio nor http", Want: "write stdio: {command: ...} or http: {url: ...}"})
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
	key.read = func(r *configReader, n *yamlNode, path *keyPath) {
		switch {
		case n.kind != yamlText:
			r.wrong(n, path, "write text in quotes")
		case blankText(n.text) || strings.ContainsAny(n.text, "\x00\r\n") || len(n.text) > maxText:
			r.faults.add(n.at, path, Fault{Reason: "not a program", Got: quoted(n.text), Want: "write the name or path of one"})
		case strings.ContainsAny(n.text, `/\`):
			*target = r.absolute(n)
		default:
			*target = n.text
		}
	}
	return key
}

// argsKey are a program's arguments, each text or a secret.
func argsKey(name string, target *[]Value) configKey {
	return configKey{
		name: name, takes: "a list of texts, or `{secret}`", form: func() map[string]any { return listForm(textOrSecret) },
		read: func(r *configReader, n *yamlNode, path *keyPath) {
			var list []Value
			last := ""
			ok := r.list(n, path, func(item *yamlNode, at *keyPath) {
				if item.kind == yamlNumber && secretArgument(last, item.text) { // it is not quoted
					r.literal(item, at, secretWant)
					last = ""
					return
				}
				v, ok := r.value(item, at)
				switch {
				case ok && v.Secret.Set():
					r.faults.warn(item.at, at, Fault{Reason: "a secret in an argument: other users of this machine see command lines", Want: "give it in env, if the program takes it there"})
				case ok && secretArgument(last, v.Text):
					r.literal(item, at, secretWant)
				}
				list, last = append(list, v), v.Text
			})
			if ok && len(list) > maxArgs {
				r.faults.add(n.at, path, Fault{Reason: "out of range", Got: numberText(float64(len(list))) + " arguments", Want: "write at most " + numberText(maxArgs)})
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
		read: func(r *configReader, n *yamlNode, path *keyPath) { *target = r.environ(n, path) },
		show: func() any { return shownEnviron(*target) },
	}
}

func (r *configReader) environ(n *yamlNode, path *keyPath) (list []EnvConfig) {
	switch n.kind {
	case yamlList:
		r.list(n, path, func(item *yamlNode, at *keyPath) {
			switch {
			case item.kind == yamlText && strings.Contains(item.text, "="):
				r.faults.add(item.at, at, Fault{Reason: "a value within a list of names", Want: "write env: {NAME: text}"})
			case item.kind != yamlText || !variableNames.fits.MatchString(item.text):
				r.faults.add(item.at, at, Fault{Reason: "not a name", Got: gotWords(item), Want: variableNames.want})
			case slices.ContainsFunc(list, func(e EnvConfig) bool { return e.Name == item.text }):
				r.faults.add(item.at, at, Fault{Reason: item.text + " is named twice", Want: "leave one out"})
			default:
				list = append(list, EnvConfig{Name: item.text, Pass: true})
			}
		})
	case yamlMapping:
		r.each(n, path, variableNames, func(m yamlMember, below *keyPath) {
			if e, ok := r.variable(m, below); ok {
				list = append(list, e)
			}
		})
	default:
		r.wrong(n, path, "write a list of names, or a mapping of names to true, text or {secret}")
	}
	return list
}

func (r *configReader) variable(m yamlMember, below *keyPath) (EnvConfig, bool) {
	e, ok := EnvConfig{Name: m.key}, true
	switch {
	case m.value.kind == yamlBool && m.value.flag:
		e.Pass = true
	case m.value.kind == yamlBool:
		r.faults.add(m.value.at, below, Fault{Reason: "false", Got: "false", Want: "leave the name out, or write true to pass it on"})
		ok = false
	case isSecretName(m.key) && !isReference(m.value):
		r.literal(m.value, below, `write {secret: "env:`+m.key+`"}`)
		ok = false
	default:
		e.Value, ok = r.value(m.value, below)
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
func faultOfEndpoint(text string) Fault {
	const want = "write an absolute URL: https://host/path"
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsAny(text, " \t\r\n"):
		return Fault{Reason: "not a URL", Want: want}
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return Fault{Reason: "not an absolute http or https URL", Want: want}
	case u.User != nil:
		return Fault{Reason: "a user or password in a URL", Want: `write it without, and headers: {Authorization: {secret: "env:NAME", prefix: "Basic "}}`}
	case u.Fragment != "":
		return Fault{Reason: "a fragment in a URL", Want: "leave # and what follows out"}
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if isSecretName(name) && value != "" && !singleArgument.MatchString(value) {
			return Fault{Reason: "a literal for " + quoted(name) + " in a URL", Want: `write it in query or headers: {secret: "env:NAME"}`}
		}
	}
	return Fault{}
}

// rawKey is a value that is kept as JSON in the order of the file.
func rawKey(name, takes string, target *json.RawMessage, check func(r *configReader, n *yamlNode, path *keyPath)) configKey {
	return configKey{
		name: name, takes: takes, form: func() map[string]any { return blockForm },
		read: func(r *configReader, n *yamlNode, path *keyPath) {
			if text, ok := r.kept(n); ok { // of a snapshot
				*target = text
				return
			}
			if n.kind != yamlMapping {
				r.wrong(n, path, "write a mapping of names to JSON schemas")
				return
			}
			if !n.readable() {
				return
			}
			*target = n.json(nil)
			check(r, n, path)
		},
		show: func() any {
			if *target == nil {
				return nil
			}
			return *target
		},
		keep: func() any {
			if *target == nil {
				return nil
			}
			return string(*target)
		},
	}
}

// isWithin reports a path that is a directory or lies in it. Both are whole and clean.
func isWithin(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
