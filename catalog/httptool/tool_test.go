package httptool_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

// local dials loopback, and nothing else that is closed.
func local() *httptool.Client {
	return httptool.NewClient(httptool.ClientConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// kinds are the arguments of the tools here.
var kinds = map[string]string{
	"id": "string", "key": "string", "n": "integer", "amount": "number", "flag": "boolean", "tags": "array", "who": "object", "any": "",
}

func argument(name string) (string, bool) {
	kind, ok := kinds[name]
	return kind, ok
}

// build makes a tool of what a test is about: a GET that reads where nothing else is said.
func build(t testing.TB, config httptool.Config) *httptool.Tool {
	t.Helper()
	if config.Method == "" {
		config.Method = "GET"
	}
	if config.Effect == "" {
		config.Effect = catalog.Read
	}
	if config.Client == nil {
		config.Client = local()
		t.Cleanup(func() { _ = config.Client.Close() })
	}
	config.Name, config.Arguments = "tool", argument
	tool, faults := httptool.New(config)
	if len(faults) > 0 {
		t.Fatalf("New: %+v", faults)
	}
	return tool
}

// seen is a request as it arrived.
type seen struct {
	Method, URI, Body string
	Header            http.Header
}

// recorder answers {} and hands over what arrived.
func recorder(t testing.TB) (string, <-chan seen) {
	requests := make(chan seen, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.Method, r.RequestURI, string(body), r.Header}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestRequests(t *testing.T) {
	base, requests := recorder(t)
	args := map[string]any{"id": "a/b c?é{", "n": 3.0, "amount": 1e21, "flag": true, "tags": []any{"x", 2.0, nil, "y&z"}, "who": map[string]any{"a": 1.0}}
	for name, tt := range map[string]struct {
		config httptool.Config
		args   map[string]any
		uri    string
		body   string
		kind   string
	}{
		"path and query": {httptool.Config{URL: "/v1/{id}/n-{n}?f={flag}&fixed=%20&bare&a={amount}"}, args,
			"/v1/a%2Fb%20c%3F%C3%A9%7B/n-3?f=true&fixed=%20&bare&a=1e%2B21", "", ""},
		"no path":                {httptool.Config{URL: ""}, nil, "/", "", ""},
		"trailing slash, braces": {httptool.Config{URL: "/a//b/?x={n}%7B"}, args, "/a//b/?x=3%7B", "", ""},
		"query": {httptool.Config{URL: "/s?a=1", Query: []httptool.Template{{Name: "tag", Text: "{tags}"}, {Name: "gone", Text: "{key}"}, {Name: "also gone", Text: "no {key}"}, {Name: "q r", Text: "{{n}}: {n} &"}}}, args,
			"/s?a=1&tag=x&tag=2&tag=y%26z&q%20r=%7Bn%7D%3A%203%20%26", "", ""},
		"absent in the url's query": {httptool.Config{URL: "/s?a={key}&b=2"}, args, "/s?b=2", "", ""},
		"body of all":               {httptool.Config{Method: "POST", URL: "/{n}?f={flag}", Query: []httptool.Template{{Name: "t", Text: "{tags}"}}, Body: httptool.Body{Args: true}}, args, "/3?f=true&t=x&t=2&t=y%26z", `{"amount":1e+21,"id":"a/b c?é{","who":{"a":1}}`, "application/json"},
		"body of none at all":       {httptool.Config{Method: "POST", URL: "/", Body: httptool.Body{Args: true}}, nil, "/", `{}`, "application/json"},
		"no body":                   {httptool.Config{Method: "POST", URL: "/"}, args, "/", ``, ""},
		"form of all":               {httptool.Config{Method: "PUT", URL: "/", Body: httptool.Body{Args: true}, Form: true}, map[string]any{"id": "a b&", "tags": []any{"x", "y"}, "n": 1.0, "flag": nil}, "/", "id=a%20b%26&n=1&tags=x&tags=y", "application/x-www-form-urlencoded"},
		"mapping": {httptool.Config{Method: "PATCH", URL: "/", Body: httptool.Body{Mapping: map[string]any{
			"whole": "{who}", "list": []any{"{n}", "{key}", 7.0, "n={n}"}, "gone": "{key}", "gone too": "x{key}", "in": map[string]any{"t": "{{{id}}}", "null": nil, "b": false}}}}, args,
			"/", `{"in":{"b":false,"null":null,"t":"{a/b c?é{}"},"list":[3,7,"n=3"],"whole":{"a":1}}`, "application/json"},
		"form of a mapping": {httptool.Config{Method: "POST", URL: "/", Form: true, Body: httptool.Body{Mapping: map[string]any{"t": "{tags}", "n": "no. {n}"}}}, args, "/", "n=no.%203&t=x&t=2&t=y%26z", "application/x-www-form-urlencoded"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.config.URL = base + tt.config.URL
			if tt.config.Method == "" {
				tt.config.Method = "GET"
			}
			tool := build(t, tt.config)
			if bad := tool.Check(tt.args); bad != nil {
				t.Errorf("Check = %v, want nothing", bad)
			}
			before, _ := json.Marshal(tt.args)
			if v, err := tool.Do(t.Context(), catalog.Call{Args: tt.args}); err != nil {
				t.Fatalf("Do = %v, %v", v, err)
			}
			if after, _ := json.Marshal(tt.args); string(after) != string(before) {
				t.Errorf("the arguments became %s", after)
			}
			got := <-requests
			if got.Method != tt.config.Method || got.URI != tt.uri || got.Body != tt.body || got.Header.Get("Content-Type") != tt.kind {
				t.Errorf("it sent %s %s %s (%s)\nwant      %s %s (%s)", got.Method, got.URI, got.Body, got.Header.Get("Content-Type"), tt.uri, tt.body, tt.kind)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	base, requests := recorder(t)
	tool := build(t, httptool.Config{Method: "POST", Effect: catalog.Write, URL: base, IdempotencyHeader: "Idempotency-Key", Headers: []httptool.Header{
		{Name: "x-plain", Text: "a {{b}} c"}, {Name: "Authorization", Prefix: "Bearer ", Secret: &secret{texts: []string{"s3cret"}}}, {Name: "accept", Text: "application/xml"},
	}})
	if _, err := tool.Do(t.Context(), catalog.Call{Key: "pg_1"}); err != nil {
		t.Fatal(err)
	}
	got := (<-requests).Header
	got.Del("Connection")
	got.Del("Content-Length")
	want := http.Header{"X-Plain": {"a {b} c"}, "Authorization": {"Bearer s3cret"}, "Accept": {"application/xml"}, "Idempotency-Key": {"pg_1"},
		"User-Agent": {"patterngate"}, "Accept-Encoding": {"gzip"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// A query member may be a secret: it comes last, encoded, and is in no error.
func TestSecretQuery(t *testing.T) {
	base, requests := recorder(t)
	tool := build(t, httptool.Config{URL: base + "?a=1", Query: []httptool.Template{
		{Name: "api_key", Secret: &secret{texts: []string{"s3 cr&t"}}}, {Name: "q", Text: "{any}"},
	}})
	if _, err := tool.Do(t.Context(), catalog.Call{Args: map[string]any{"any": "x"}}); err != nil {
		t.Fatal(err)
	}
	if got, want := (<-requests).URI, "/?a=1&q=x&api_key=s3%20cr%26t"; got != want {
		t.Errorf("%s was asked for, want %s", got, want)
	}
}

// What cannot be put into the URL or body is found before anything is sent, by Check and again by Do.
func TestRefusedArguments(t *testing.T) {
	base, requests := recorder(t)
	path := httptool.Config{URL: base + "/a/{any}/b"}
	dotted := httptool.Config{URL: base + "/a/.{any}"}
	for name, tt := range map[string]struct {
		config httptool.Config
		any    any
		want   string // "" is allowed
	}{
		"empty": {path, "", "/any"}, "dot": {path, ".", "/any"}, "dots": {path, "..", "/any"}, "null": {path, nil, "/any"},
		"list": {path, []any{"x"}, "/any"}, "object": {path, map[string]any{}, "/any"},
		"three dots": {path, "...", ""}, "encoded dots": {path, "%2e%2e", ""}, "slash": {path, "feature/x", ""}, "text after dots": {path, "..x/y..", ""},
		"a slash is encoded": {path, "../x", ""}, "zero": {path, 0.0, ""}, "false": {path, false, ""},
		"a dot beside a dot": {dotted, ".", "/any"}, "nothing beside a dot": {dotted, "", "/any"}, "text beside a dot": {dotted, "x", ""},
		"list in the url's query": {httptool.Config{URL: base + "?q={any}"}, []any{"x"}, "/any"},
		"object in the query":     {httptool.Config{URL: base, Query: []httptool.Template{{Name: "q", Text: "{any}"}}}, map[string]any{}, "/any"},
		"objects in a list":       {httptool.Config{URL: base, Query: []httptool.Template{{Name: "q", Text: "{any}"}}}, []any{map[string]any{}}, "/any"},
		"list beside a text":      {httptool.Config{URL: base, Query: []httptool.Template{{Name: "q", Text: "x{any}"}}}, []any{"x"}, "/any"},
		"object in a form":        {httptool.Config{Method: "POST", URL: base, Body: httptool.Body{Args: true}, Form: true}, map[string]any{}, "/any"},
		"object in a text":        {httptool.Config{Method: "POST", URL: base, Body: httptool.Body{Mapping: map[string]any{"t": "x{any}"}}}, map[string]any{}, "/any"},
		"a very long one":         {path, strings.Repeat("é", 20_000), "-"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := build(t, tt.config)
			bad := tool.Check(map[string]any{"any": tt.any})
			_, err := tool.Do(t.Context(), catalog.Call{Args: map[string]any{"any": tt.any}})
			if tt.want == "" {
				if bad != nil || err != nil {
					t.Errorf("Check = %v, Do = %v; want it sent", bad, err)
				}
				<-requests
				return
			}
			if len(bad) == 0 || bad[0].Kind != catalog.MismatchValue || bad[0].Want == "" || tt.want != "-" && string(bad[0].Pointer) != tt.want {
				t.Errorf("Check = %+v, want a value fault at %s", bad, tt.want)
			}
			if fault, ok := err.(*catalog.Fault); !ok || fault.Kind != catalog.Declined || len(requests) > 0 {
				t.Errorf("Do = %v after %d requests, want declined and none", err, len(requests))
			}
		})
	}
}
