package cli

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/server/settings/yamldoc"
)

const maxRequestWait = 3600 // seconds

// httpMethods are those that a request may have, and whether its arguments are its body where nothing else is said.
var httpMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

func hasBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// managedHeaders are those that a request cannot set, in small letters: who sends it, and each hop, does.
var managedHeaders = map[string]bool{
	"host": true, "content-length": true, "connection": true, "keep-alive": true, "proxy-connection": true,
	"proxy-authenticate": true, "transfer-encoding": true, "te": true, "trailer": true, "upgrade": true,
}

var httpEntries = entries[HTTPToolConfig]{
	names: toolNames,
	named: func(t *HTTPToolConfig) string { return t.Name },
	fresh: func(name string, at Position) HTTPToolConfig {
		return HTTPToolConfig{ToolConfig: newTool(name, at), Request: newRequest()}
	},
	keys:   (*HTTPToolConfig).keys,
	off:    func(t *HTTPToolConfig) bool { return !t.Enabled },
	finish: finishHTTP,
}

func (t *HTTPToolConfig) keys() []configKey {
	keys := t.ToolConfig.keys()
	for i, k := range keys {
		switch k.name {
		case "description":
			keys[i] = k.need("write what it does, for the model").means("What the model reads. Required.")
		case "title":
			keys[i] = k.means("What people read. Not set: made of the name.")
		}
	}
	return append(keys,
		requestKey("request", &t.Request).need("write {method: GET, url: \"https://host/path\"}").means("What is sent."),
		rawKey("input", "a mapping of arguments to JSON schemas", &t.Input, checkArguments).means("Its arguments. One is required unless `optional: true` or it has a default."),
		expressionsKey("output", &t.Output, argumentNames).means("The observation, member by member: CEL over args and response {status, headers, body}. Not set: the response."),
		rawKey("output_schema", "a mapping of members to JSON schemas", &t.OutputSchema, checkArguments).means("What the observation must fit."),
	)
}

// newRequest is a request of which nothing was said.
func newRequest() RequestConfig {
	return RequestConfig{Success: []string{"2xx"}, Timeout: 30 * time.Second}
}

// requestKey is replaced whole, never merged.
func requestKey(name string, target *RequestConfig) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			c := newRequest()
			r.group(n, path, c.keys(), unknownKey)
			if n.Member("body") == nil || n.Member("body").Kind == yamldoc.Null {
				c.Body.Args = hasBody(c.Method)
			}
			*target = c
		},
		show:  func() any { return target.keys() },
		below: func() []configKey { c := newRequest(); return c.keys() },
	}
}

func (c *RequestConfig) keys() []configKey {
	return []configKey{
		wordKey("method", &c.Method, httpMethods...).need("write GET, HEAD, POST, PUT, PATCH or DELETE").means("How it asks."),
		textKey("url", &c.URL, faultOfTemplateURL).need("write an absolute URL: https://host/path/{argument}").means("Where: {argument} stands for a path segment's text or a query value, percent-encoded; `{{` and `}}` are braces."),
		queryKey("query", &c.Query).means("Query parameters: templates, or {secret}. A list repeats the name, an absent argument drops it."),
		headersKey("headers", &c.Headers).means("Headers: text, or {secret, prefix}. They take no arguments."),
		bodyKey("body", c).means("What it carries. args: every argument not used elsewhere; in a mapping, text that is exactly {argument} becomes it. Not set: args for POST, PUT and PATCH, else none."),
		formatKey("body_format", &c.Form).means("How the body is written."),
		optionalTextKey("idempotency_header", &c.IdempotencyHeader, faultOfHeaderName).means("The header that carries the key of the call."),
		codesKey("success", &c.Success).means("Status codes of a success."),
		codesKey("absent", &c.Absent).means("Status codes that mean: there is none. Read only. Not set: 404 and 410 for effect read."),
		countKey("redirects", &c.Redirects, 0, 5).means("How many redirects are followed, to the same origin, of GET and HEAD."),
		namedPathKey("ca_file", &c.CAFile, false).means("Certificates that are trusted, PEM. Not set: the system's."),
		secondsKey("timeout_seconds", &c.Timeout, maxRequestWait).means("How long it may take."),
	}
}

func headersForm() map[string]any {
	withPrefix := objectForm(map[string]any{secretMember: secretDefinition()["properties"].(map[string]any)[secretMember], prefixMember: orNull(textForm)}, secretMember)
	return mapForm(map[string]any{"anyOf": []any{textForm, withPrefix}})
}

// headersKey are headers, each text or a secret behind a prefix.
func headersKey(name string, target *[]HeaderConfig) configKey {
	return configKey{
		name: name, takes: "a mapping of headers to text or `{secret, prefix}`", form: func() map[string]any { return headersForm() },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []HeaderConfig
			r.each(n, path, headerNames, func(m yamldoc.Member, below *yamldoc.Path) {
				if slices.ContainsFunc(list, func(h HeaderConfig) bool { return strings.EqualFold(h.Name, m.Key) }) {
					r.faults.Add(m.At, below, yamldoc.Fault{Reason: "repeated header, in other letters", Want: "keep one"})
					return
				}
				if h, ok := readHeader(r, m, below); ok {
					list = append(list, h)
				}
			})
			*target = list
		},
		show: func() any {
			object := make(map[string]any, len(*target))
			for _, h := range *target {
				v := h.shown()
				if reference, ok := v.(map[string]any); ok && h.Prefix != "" {
					reference[prefixMember] = h.Prefix
				}
				object[h.Name] = v
			}
			return object
		},
	}
}

func readHeader(r *configReader, m yamldoc.Member, below *yamldoc.Path) (HeaderConfig, bool) {
	h, small := HeaderConfig{Name: m.Key}, strings.ToLower(m.Key)
	if f := faultOfHeaderName(m.Key); f.Reason != "" {
		r.faults.Add(m.At, below, f)
		return h, false
	}
	ok := true
	switch {
	case isReference(m.Value):
		h.Secret, h.Prefix, ok = readReference(r, m.Value, below, true)
	case secretHeaders[small] || isSecretName(small):
		refuseLiteral(r, m.Value, below, wantHeader(small, m.Value.Text))
		ok = false
	default:
		h.Value, ok = readValue(r, m.Value, below)
	}
	return h, ok
}

// wantHeader says what to write for a secret header. Of the text that stands there it repeats a scheme that everyone knows.
func wantHeader(small, text string) string {
	switch scheme, _, _ := strings.Cut(text, " "); {
	case strings.EqualFold(scheme, "basic"):
		return `write {secret: "env:NAME", prefix: "Basic "}`
	case small == "authorization" || strings.EqualFold(scheme, "bearer"):
		return `write {secret: "env:NAME", prefix: "Bearer "}`
	}
	return secretWant
}

func faultOfHeaderName(name string) yamldoc.Fault {
	switch {
	case managedHeaders[strings.ToLower(name)]:
		return yamldoc.Fault{Reason: "a header that is not yours to set", Got: yamldoc.Quoted(name), Want: "leave it out"}
	case !headerNames.fits.MatchString(name):
		return yamldoc.Fault{Reason: "not a name", Got: yamldoc.Quoted(name), Want: headerNames.want}
	}
	return yamldoc.Fault{}
}

// queryKey are query parameters, each a template or a secret.
func queryKey(name string, target *[]NamedTemplate) configKey {
	return configKey{
		name: name, takes: "a mapping of names to templates, or `{secret}`", form: func() map[string]any { return mapForm(textOrSecret) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []NamedTemplate
			r.each(n, path, queryNames, func(m yamldoc.Member, below *yamldoc.Path) {
				argument := m.Value.Kind == yamldoc.Text && singleArgument.MatchString(m.Value.Text)
				if isSecretName(m.Key) && !isReference(m.Value) && !argument {
					refuseLiteral(r, m.Value, below, secretWant)
					return
				}
				if v, ok := readValue(r, m.Value, below); ok {
					list = append(list, NamedTemplate{Name: m.Key, Text: v.Text, Secret: v.Secret})
				}
			})
			*target = list
		},
		show: func() any {
			object := make(map[string]any, len(*target))
			for _, t := range *target {
				object[t.Name] = Value{t.Text, t.Secret}.shown()
			}
			return object
		},
	}
}

// bodyKey is args, none or a mapping.
func bodyKey(name string, c *RequestConfig) configKey {
	return configKey{
		name: name, takes: "args, none or a mapping", form: func() map[string]any {
			return map[string]any{"anyOf": []any{map[string]any{"enum": []any{"args", "none"}}, blockForm}}
		},
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			switch n.Kind {
			case yamldoc.Text:
				if word, ok := r.word(n, path, []string{"args", "none"}); ok {
					c.Body = Body{Args: word == "args"}
				}
			case yamldoc.Mapping:
				if n.Readable() {
					mapping, _ := n.Decoded().(map[string]any)
					c.Body = Body{Mapping: mapping}
				}
			default:
				r.wrong(n, path, "write args, none or a mapping")
			}
		},
		show: func() any {
			switch {
			case c.Body.Mapping != nil:
				return c.Body.Mapping
			case c.Body.Args:
				return "args"
			}
			return "none"
		},
	}
}

func formatKey(name string, form *bool) configKey {
	word := "json"
	key := wordKey(name, &word, "json", "form")
	read := key.read
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		*form = word == "form"
	}
	key.show = func() any {
		if *form {
			return "form"
		}
		return "json"
	}
	return key
}

var codeClass = regexp.MustCompile(`^[1-5]xx$`)

// codesKey is a list of status codes; nil where nothing was said.
func codesKey(name string, target *[]string) configKey {
	const want = `write a status code, 200, or a class, "2xx"`
	return configKey{
		name: name, takes: "a list of codes: 200, `2xx`",
		form: func() map[string]any {
			return listForm(map[string]any{"anyOf": []any{bounds{min: 100, max: 599, whole: true}.form(), map[string]any{"type": "string", "pattern": codeClass.String()}}})
		},
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []string{}
			ok := r.list(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				switch {
				case item.Kind == yamldoc.Number && item.Number >= 100 && item.Number <= 599 && item.Number == float64(int(item.Number)):
					list = append(list, strconv.Itoa(int(item.Number)))
				case item.Kind == yamldoc.Text && codeClass.MatchString(item.Text):
					list = append(list, item.Text)
				default:
					r.faults.Add(item.At, at, yamldoc.Fault{Reason: "not a status code", Got: item.Shown(), Want: want})
				}
			})
			if ok {
				*target = list
			}
		},
		show: func() any {
			if *target == nil {
				return nil
			}
			codes := make([]any, len(*target))
			for i, text := range *target {
				if code, err := strconv.Atoi(text); err == nil {
					codes[i] = float64(code)
				} else {
					codes[i] = text
				}
			}
			return codes
		},
	}
}

// finishHTTP checks what no key of a request can see alone.
func finishHTTP(r *configReader, n *yamldoc.Node, path *yamldoc.Path, t *HTTPToolConfig) {
	finishTool(r, n, path, &t.ToolConfig)
	request := n.Member("request")
	if request == nil || request.Kind != yamldoc.Mapping {
		return
	}
	here := path.Key("request")
	if absent := request.Member("absent"); t.Effect == catalog.Read && t.Request.Absent == nil {
		t.Request.Absent = []string{"404", "410"}
	} else if len(t.Request.Absent) > 0 && t.Effect != catalog.Read && t.Effect != "" && absent != nil {
		r.faults.Add(absent.At, here.Key("absent"), yamldoc.Fault{Reason: "effect " + string(t.Effect), Want: "write absent only for effect read"})
	}
	if body := request.Member("body"); (t.Request.Method == "GET" || t.Request.Method == "HEAD") && (t.Request.Body.Args || t.Request.Body.Mapping != nil) && body != nil {
		r.faults.Add(body.At, here.Key("body"), yamldoc.Fault{Reason: "a " + t.Request.Method + " has no body", Want: "use query, or another method"})
	}
	if redirects := request.Member("redirects"); t.Request.Redirects > 0 && t.Request.Method != "GET" && t.Request.Method != "HEAD" && redirects != nil {
		r.faults.Add(redirects.At, here.Key("redirects"), yamldoc.Fault{Reason: "a " + t.Request.Method + " is not redirected", Want: "write 0"})
	}
	checkUsedArguments(r, request, here, t)
}
