package tools

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

const maxRequestWait = 3600 // seconds

// httpMethods are the methods that a request can have.
var httpMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

func hasBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// managedHeaders are headers that the configuration cannot set, in small letters: the HTTP client and proxies set them.
var managedHeaders = map[string]bool{
	"host": true, "content-length": true, "connection": true, "keep-alive": true, "proxy-connection": true,
	"proxy-authenticate": true, "transfer-encoding": true, "te": true, "trailer": true, "upgrade": true,
}

var httpEntries = grammar.Entries[HTTPTool]{
	Names: grammar.ToolNames,
	Named: func(t *HTTPTool) string { return t.Name },
	Fresh: func(name string, at grammar.Position) HTTPTool {
		return HTTPTool{Tool: newTool(name, at), Request: newRequest()}
	},
	Keys:   (*HTTPTool).keys,
	Off:    func(t *HTTPTool) bool { return !t.Enabled },
	Finish: finishHTTP,
}

func (t *HTTPTool) keys() []grammar.Key {
	keys := t.Tool.keys()
	for i, k := range keys {
		switch k.Name {
		case "description":
			keys[i] = k.Need(wantDescription).Means("What the model reads. Required.")
		case "title":
			keys[i] = k.Means("What people read. Not set: made from the name.")
		}
	}
	return append(keys,
		requestKey("request", &t.Request).Need(wantRequest).Means("The request that is sent."),
		grammar.Raw("input", mappingOfArgumentSchemas, &t.Input, CheckArguments).Means("Its arguments. An argument is required unless it has `optional: true` or a default."),
		grammar.Expressions("output", &t.Output, grammar.ArgumentNames).Means("The observation, member by member: CEL over args and response {status, headers, body}. Not set: the response."),
		grammar.Raw("output_schema", mappingOfMemberSchemas, &t.OutputSchema, CheckArguments).Means("The schema that the observation must fit."),
	)
}

// newRequest returns a request with the defaults.
func newRequest() Request {
	return Request{Success: []string{"2xx"}, Timeout: 30 * time.Second}
}

// requestKey returns the key of a request. A new value replaces the whole request; it does not merge.
func requestKey(name string, target *Request) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "mapping",
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			c := newRequest()
			r.Group(n, path, c.keys(), grammar.UnknownKey)
			if n.Member("body") == nil || n.Member("body").Kind == yamldoc.Null {
				c.Body.Args = hasBody(c.Method)
			}
			*target = c
		},
		Show:  func() any { return target.keys() },
		Below: func() []grammar.Key { c := newRequest(); return c.keys() },
	}
}

func (c *Request) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Word("method", &c.Method, httpMethods...).Need("write " + yamldoc.Alternatives(httpMethods)).Means("The HTTP method."),
		grammar.Text("url", &c.URL, faultOfTemplateURL).Need(wantTemplateURL).Means("The URL. {argument} is replaced by a value, percent-encoded, in a path segment or a query value. `{{` and `}}` are braces."),
		queryKey("query", &c.Query).Means("Query parameters: templates, or {secret}. A list repeats the name. An absent argument drops it."),
		headersKey("headers", &c.Headers).Means("Headers: text, or {secret, prefix}. They take no arguments."),
		bodyKey("body", c).Means("The body. args: every argument not used elsewhere. In a mapping, a text that is exactly {argument} becomes its value. Not set: args for POST, PUT and PATCH, else none."),
		formatKey("body_format", &c.Form).Means("The format of the body."),
		grammar.OptionalText("idempotency_header", &c.IdempotencyHeader, FaultOfHeaderName).Means("The header that carries the idempotency key of the call."),
		codesKey("success", &c.Success).Means("Status codes of a success."),
		codesKey("absent", &c.Absent).Means("Status codes that mean \"there is none\". Read only. Not set: 404 and 410 for effect read."),
		grammar.Count("redirects", &c.Redirects, 0, 5).Means("How many redirects are followed. Only GET and HEAD, only to the same origin."),
		namedPathKey("ca_file", &c.CAFile, false).Means("Certificates that are trusted, a PEM file. Not set: the system's."),
		grammar.Seconds("timeout_seconds", &c.Timeout, maxRequestWait).Means("How long the request can take."),
	}
}

func headersForm() map[string]any {
	return grammar.MapForm(map[string]any{"anyOf": []any{grammar.TextForm, grammar.BriefForm(new(reference).keys(true))}})
}

// headersKey returns the key of headers, each a text or a secret with a prefix.
func headersKey(name string, target *[]Header) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfHeaders(grammar.Braced(new(reference).keys(true))), Form: func() map[string]any { return headersForm() },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []Header
			r.Each(n, path, grammar.HeaderNames, func(m yamldoc.Member, below *yamldoc.Path) {
				if slices.ContainsFunc(list, func(h Header) bool { return strings.EqualFold(h.Name, m.Key) }) {
					r.Faults.Add(m.At, below, yamldoc.Fault{Reason: repeatedHeader, Want: wantOne})
					return
				}
				if h, ok := readHeader(r, m, below); ok {
					list = append(list, h)
				}
			})
			*target = list
		},
		Show: func() any {
			object := make(map[string]any, len(*target))
			for _, h := range *target {
				if object[h.Name] = h.shown(); h.Secret.Set() {
					object[h.Name] = reference{h.Secret, h.Prefix}.shown()
				}
			}
			return object
		},
	}
}

func readHeader(r *grammar.Reader, m yamldoc.Member, below *yamldoc.Path) (Header, bool) {
	h, small := Header{Name: m.Key}, strings.ToLower(m.Key)
	if f := FaultOfHeaderName(m.Key); f.Reason != "" {
		r.Faults.Add(m.At, below, f)
		return h, false
	}
	ok := true
	switch {
	case IsReference(m.Value):
		h.Secret, h.Prefix, ok = ReadReference(r, m.Value, below, true)
	case secretHeaders[small] || IsSecretName(small):
		RefuseLiteral(r, m.Value, below, wantHeader(small, m.Value.Text))
		ok = false
	default:
		h.Value, ok = readValue(r, m.Value, below)
	}
	return h, ok
}

// wantHeader returns what to write for a secret header. Of the present text it uses only the scheme, such as Basic.
func wantHeader(small, text string) string {
	switch scheme, _, _ := strings.Cut(text, " "); {
	case strings.EqualFold(scheme, "basic"):
		return wantBasic
	case small == "authorization" || strings.EqualFold(scheme, "bearer"):
		return wantBearer
	}
	return secretWant
}

// FaultOfHeaderName refuses a header that the configuration cannot set, and a text that is not a header name. The zero
// Fault means that the name is allowed.
func FaultOfHeaderName(name string) yamldoc.Fault {
	switch {
	case managedHeaders[strings.ToLower(name)]:
		return yamldoc.Fault{Reason: reservedHeader, Got: yamldoc.Quoted(name), Want: wantRemoved}
	case !grammar.HeaderNames.Fits.MatchString(name):
		return yamldoc.Fault{Reason: notName, Got: yamldoc.Quoted(name), Want: grammar.HeaderNames.Want}
	}
	return yamldoc.Fault{}
}

// queryKey returns the key of query parameters, each a template or a secret.
func queryKey(name string, target *[]NamedTemplate) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfTemplates, Form: func() map[string]any { return grammar.MapForm(textOrSecret) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			var list []NamedTemplate
			r.Each(n, path, grammar.QueryNames, func(m yamldoc.Member, below *yamldoc.Path) {
				argument := m.Value.Kind == yamldoc.Text && singleArgument.MatchString(m.Value.Text)
				if IsSecretName(m.Key) && !IsReference(m.Value) && !argument {
					RefuseLiteral(r, m.Value, below, secretWant)
					return
				}
				if v, ok := readValue(r, m.Value, below); ok {
					list = append(list, NamedTemplate{Name: m.Key, Text: v.Text, Secret: v.Secret})
				}
			})
			*target = list
		},
		Show: func() any {
			object := make(map[string]any, len(*target))
			for _, t := range *target {
				object[t.Name] = Value{t.Text, t.Secret}.shown()
			}
			return object
		},
	}
}

// bodyWords are the values of body that are one word: the arguments that are not used elsewhere, or nothing.
var bodyWords = []string{"args", "none"}

// bodyKey returns the key of the body: args, none or a mapping.
func bodyKey(name string, c *Request) grammar.Key {
	return grammar.Key{
		Name: name, Takes: yamldoc.Alternatives(append(bodyWords[:len(bodyWords):len(bodyWords)], aMapping)), Form: func() map[string]any {
			return map[string]any{"anyOf": []any{map[string]any{"enum": grammar.TextValues(bodyWords)}, grammar.BlockForm}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			switch n.Kind {
			case yamldoc.Text:
				if word, ok := r.Word(n, path, bodyWords); ok {
					c.Body = Body{Args: word == bodyWords[0]}
				}
			case yamldoc.Mapping:
				if n.Readable() {
					mapping, _ := n.Decoded().(map[string]any)
					c.Body = Body{Mapping: mapping}
				}
			default:
				r.Wrong(n, path, wantBody)
			}
		},
		Show: func() any {
			switch {
			case c.Body.Mapping != nil:
				return c.Body.Mapping
			case c.Body.Args:
				return bodyWords[0]
			}
			return bodyWords[1]
		},
	}
}

func formatKey(name string, form *bool) grammar.Key {
	word := "json"
	key := grammar.Word(name, &word, "json", "form")
	read := key.Read
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		*form = word == "form"
	}
	key.Show = func() any {
		if *form {
			return "form"
		}
		return "json"
	}
	return key
}

var codeClass = regexp.MustCompile(`^[1-5]xx$`)

// codesKey returns the key of a list of status codes. The list is nil if the file sets none.
func codesKey(name string, target *[]string) grammar.Key {
	const want = wantCode
	return grammar.Key{
		Name: name, Takes: listOfCodes,
		Form: func() map[string]any {
			return grammar.ListForm(map[string]any{"anyOf": []any{grammar.Bounds{Min: 100, Max: 599, Whole: true}.Form(), map[string]any{"type": "string", "pattern": codeClass.String()}}})
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []string{}
			ok := r.List(n, path, func(item *yamldoc.Node, at *yamldoc.Path) {
				switch {
				case item.Kind == yamldoc.Number && item.Number >= 100 && item.Number <= 599 && item.Number == float64(int(item.Number)):
					list = append(list, strconv.Itoa(int(item.Number)))
				case item.Kind == yamldoc.Text && codeClass.MatchString(item.Text):
					list = append(list, item.Text)
				default:
					r.Faults.Add(item.At, at, yamldoc.Fault{Reason: notCode, Got: item.Shown(), Want: want})
				}
			})
			if ok {
				*target = list
			}
		},
		Show: func() any {
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

// finishHTTP checks the keys of an http tool together, and sets the default of absent.
func finishHTTP(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, t *HTTPTool) {
	finishTool(r, n, path, &t.Tool)
	request := n.Member("request")
	if request == nil || request.Kind != yamldoc.Mapping {
		return
	}
	here := path.Key("request")
	if absent := request.Member("absent"); t.Effect == catalog.Read && t.Request.Absent == nil {
		t.Request.Absent = []string{"404", "410"}
	} else if len(t.Request.Absent) > 0 && t.Effect != catalog.Read && t.Effect != "" && absent != nil {
		r.Faults.Add(absent.At, here.Key("absent"), yamldoc.Fault{Reason: "effect " + string(t.Effect), Want: wantAbsentForRead})
	}
	if body := request.Member("body"); (t.Request.Method == "GET" || t.Request.Method == "HEAD") && (t.Request.Body.Args || t.Request.Body.Mapping != nil) && body != nil {
		r.Faults.Add(body.At, here.Key("body"), yamldoc.Fault{Reason: noBodyFor(t.Request.Method), Want: wantQuery})
	}
	if redirects := request.Member("redirects"); t.Request.Redirects > 0 && t.Request.Method != "GET" && t.Request.Method != "HEAD" && redirects != nil {
		r.Faults.Add(redirects.At, here.Key("redirects"), yamldoc.Fault{Reason: noRedirectFor(t.Request.Method), Want: "write 0"})
	}
	checkUsedArguments(r, request, here, t)
}
