package httptool_test

import (
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

func TestFaults(t *testing.T) {
	type c = httptool.Config
	at := func(url string) c { return c{URL: url} }
	for name, tt := range map[string]struct {
		config c
		path   string
		want   string // within reason, got, want and did-you-mean
	}{
		"variable host":     {at("https://{id}/x"), "request.url", "{id} is in the host an argument can stand only in a path segment or a query value"},
		"variable in host":  {at("https://a.{id}.example/x"), "request.url", "{id} is in the host"},
		"variable port":     {at("https://a.example:{n}/x"), "request.url", "{n} is in the host"},
		"variable user":     {at("https://{id}:x@a.example/"), "request.url", "{id} is in the user part"},
		"variable scheme":   {at("{id}://a.example/"), "request.url", "{id} is in the scheme"},
		"no scheme":         {at("a.example/x"), "request.url", "not an absolute URL"},
		"other scheme":      {at("ftp://a.example/x"), "request.url", "not an absolute URL"},
		"empty":             {at(""), "request.url", "not an absolute URL"},
		"no host":           {at("https:///x"), "request.url", "no host"},
		"bad port":          {at("https://a.example:99999/x"), "request.url", "no host"},
		"port zero":         {at("https://a.example:0/x"), "request.url", "no host"},
		"empty port":        {at("https://a.example:/x"), "request.url", "no host"},
		"space in host":     {at("https://a example/x"), "request.url", "no host"},
		"user":              {at("https://me:pw@a.example/x"), "request.url", "a user part"},
		"fragment":          {at("https://a.example/x#top"), "request.url", "#top is never sent"},
		"dots":              {at("https://a.example/x/../y"), "request.url", "a path segment .."},
		"encoded dots":      {at("https://a.example/x/%2e%2E/y"), "request.url", "a path segment"},
		"space":             {at("https://a.example/a b"), "request.url", "write %20"},
		"umlaut":            {at("https://a.example/ü"), "request.url", "write %C3%BC"},
		"half an escape":    {at("https://a.example/%2"), "request.url", "write %25"},
		"query name":        {at("https://a.example/?{id}=x"), "request.url", "{id} is in a query name"},
		"unknown":           {at("https://a.example/{kez}"), "request.url", "no argument kez use one of input key"},
		"unknown in query":  {c{Query: []httptool.Template{{Name: "q", Text: "{kez}"}}}, "request.query.q", "no argument kez"},
		"object in path":    {at("https://a.example/{who}"), "request.url", "{who} is of type object"},
		"list in path":      {at("https://a.example/{tags}"), "request.url", "{tags} is of type array"},
		"list in url query": {at("https://a.example/?t={tags}"), "request.url", "write a list in query"},
		"list in text":      {c{Query: []httptool.Template{{Name: "q", Text: "a{tags}"}}}, "request.query.q", "{tags} is of type array"},
		"object in query":   {c{Query: []httptool.Template{{Name: "q", Text: "{who}"}}}, "request.query.q", "{who} is of type object"},
		"no query name":     {c{Query: []httptool.Template{{Name: "", Text: "x"}}}, "request.query.", "without a name"},
		"open brace":        {at("https://a.example/{id"), "request.url", "a { without its }"},
		"close brace":       {at("https://a.example/id}"), "request.url", "a } without its {"},
		"no name":           {at("https://a.example/{}"), "request.url", "{} names no argument"},
		"nested":            {c{Query: []httptool.Template{{Name: "q", Text: "{a{id}}"}}}, "request.query.q", "a { without its }"},
		"method":            {c{Method: "post"}, "request.method", "POST"},
		"no method":         {c{Method: "-"}, "request.method", "write GET, HEAD"},
		"host header":       {c{Headers: []httptool.Header{{Name: "host", Text: "x"}}}, "request.headers.host", "the connection sets"},
		"content length":    {c{Headers: []httptool.Header{{Name: "Content-Length", Text: "1"}}}, "request.headers.Content-Length", "the connection sets"},
		"hop by hop":        {c{Headers: []httptool.Header{{Name: "TE", Text: "x"}}}, "request.headers.TE", "the connection sets"},
		"transfer encoding": {c{IdempotencyHeader: "transfer-encoding"}, "request.idempotency_header", "the connection sets"},
		"argument":          {c{Headers: []httptool.Header{{Name: "X-Id", Text: "a{id}"}}}, "request.headers.X-Id", "{id} is in a header headers take no arguments"},
		"header name":       {c{Headers: []httptool.Header{{Name: "X Id", Text: "a"}}}, "request.headers.X Id", "not a header name"},
		"header text":       {c{Headers: []httptool.Header{{Name: "X-Id", Text: "a\r\nX-Evil: 1"}}}, "request.headers.X-Id", "a control character"},
		"header twice":      {c{Headers: []httptool.Header{{Name: "X-Id", Text: "a"}, {Name: "x-id", Text: "b"}}}, "request.headers.x-id", "repeated header"},
		"key header twice":  {c{Headers: []httptool.Header{{Name: "X-Id", Text: "a"}}, IdempotencyHeader: "x-id"}, "request.idempotency_header", "repeated header"},
		"code":              {c{Success: []string{"200", "20"}}, "request.success[1]", "not a status code"},
		"class":             {c{Success: []string{"1xx"}}, "request.success[0]", "not a status code"},
		"no success":        {c{Success: []string{}}, "request.success", "no code is a success"},
		"absent class":      {c{Absent: []string{"4xx"}}, "request.absent[0]", "not a status code"},
		"absent of a write": {c{Effect: catalog.Write, Absent: []string{"404"}}, "request.absent", "only a tool of effect read"},
		"both":              {c{Success: []string{"404"}, Absent: []string{"404"}}, "request.absent", "in success too"},
		"body of a GET":     {c{Body: httptool.Body{Args: true}}, "request.body", "a GET request has no body"},
		"body of a HEAD":    {c{Method: "HEAD", Body: httptool.Body{Mapping: map[string]any{}}}, "request.body", "a HEAD request has no body"},
		"two bodies":        {c{Method: "POST", Body: httptool.Body{Args: true, Mapping: map[string]any{}}}, "request.body", "args and a mapping"},
		"unknown in body":   {c{Method: "POST", Body: httptool.Body{Mapping: map[string]any{"a": []any{map[string]any{"b": "{kez}"}}}}}, "request.body.a[0].b", "no argument kez"},
		"list in body text": {c{Method: "POST", Body: httptool.Body{Mapping: map[string]any{"a": "x{tags}"}}}, "request.body.a", "{tags} is of type array"},
		"object in a form":  {c{Method: "POST", Form: true, Body: httptool.Body{Mapping: map[string]any{"a": map[string]any{}}}}, "request.body.a", "a form's member"},
		"not JSON in body":  {c{Method: "POST", Body: httptool.Body{Mapping: map[string]any{"a": make(chan int)}}}, "request.body", "not JSON"},
		"redirects":         {c{Redirects: 6}, "request.redirects", "0 to 5"},
		"redirected POST":   {c{Method: "POST", Redirects: 1}, "request.redirects", "a POST request is not redirected"},
		"timeout":           {c{Timeout: -time.Second}, "request.timeout_seconds", "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			config := tt.config
			if config.URL == "" && name != "empty" {
				config.URL = "https://a.example/"
			}
			switch config.Method {
			case "":
				config.Method = "GET"
			case "-":
				config.Method = ""
			}
			if config.Effect == "" {
				config.Effect = catalog.Read
			}
			config.Client, config.Arguments = local(), argument
			config.Near = func(name string) string { return strings.ReplaceAll(name, "z", "y") }
			tool, faults := httptool.New(config)
			if tool != nil || len(faults) != 1 {
				t.Fatalf("New = %v, %+v; want one fault", tool, faults)
			}
			f := faults[0]
			text := strings.Join([]string{f.Reason, f.Got, f.Want, f.DidYouMean}, " ")
			if f.Path != tt.path || !strings.Contains(strings.ReplaceAll(text, "  ", " "), tt.want) || f.Reason == "" || f.Want == "" {
				t.Errorf("fault %+v\nwant %s at %s", f, tt.want, tt.path)
			}
		})
	}
}

// All faults come at once, and a configuration without a client is one.
func TestAllFaults(t *testing.T) {
	_, faults := httptool.New(httptool.Config{Method: "GO", URL: "x", Headers: []httptool.Header{{Name: "Host"}}, Success: []string{"x"}})
	if len(faults) != 5 {
		t.Errorf("%d faults %+v, want 5", len(faults), faults)
	}
}
