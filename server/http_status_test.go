package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Bodies that are no request of a known tool: each gets its status and JSON-RPC error, and nothing runs.
func TestBadBodies(t *testing.T) {
	var log logBuffer
	h := listening(t, serving(t, logging(&log)))
	legacy, modern := h.connect(false, nil), h.connect(true, nil)
	tests := map[string]struct {
		body           string
		legacy, modern string // status, id and code
	}{
		"not JSON":             {`{`, "400 <nil> -32700", ""},
		"nothing":              {` `, "400 <nil> -32700", ""},
		"two documents":        {`{} {}`, "400 <nil> -32700", ""},
		"batch":                {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "400 <nil> -32600", ""},
		"scalar":               {`5`, "400 <nil> -32600", ""},
		"null":                 {`null`, "400 <nil> -32600", ""},
		"empty object":         {`{}`, "400 <nil> -32600", ""},
		"id null":              {`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"` + td + `","arguments":` + goodCall + `}}`, "400 <nil> -32600", ""},
		"id an object":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "400 <nil> -32600", ""},
		"id that would change": {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "400 <nil> -32600", ""},
		"no version":           {`{"id":1,"method":"ping"}`, "400 1 -32600", ""},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, "400 1 -32600", ""},
		"method a number":      {`{"jsonrpc":"2.0","id":1,"method":3}`, "400 1 -32600", ""},
		"an answer":            {`{"jsonrpc":"2.0","id":1,"result":{}}`, "202", "400 <nil> -32600"},
		"an answer to a ping":  {`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, "202", "400 <nil> -32600"},
		"an error":             {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, "202", "400 <nil> -32600"},
		"unknown notification": {`{"jsonrpc":"2.0","method":"notifications/burn","params":{}}`, "202", "202"},
		"call as notification": {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"` + td + `","arguments":` + goodCall + `}}`, "202", "202"},
		"unknown method":       {`{"jsonrpc":"2.0","id":1,"method":"tools/burn","params":{}}`, "200 1 -32601", "404 1 -32601"},
		"params an array":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, "200 1 -32600", "400 1 -32602"},
		"unknown tool":         {callLine(1, "rm", `{}`), "200 1 -32602", "400 1 -32602"},
		"tool name is exact":   {callLine(1, "Route_Ticket", `{}`), "200 1 -32602", "400 1 -32602"},
		"arguments too deep":   {callLine(1, td, strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000)), "400 <nil> -32700", ""},
	}
	for name, tt := range tests {
		for era, c := range map[string]*client{"2025-11-25": legacy, "2026-07-28": modern} {
			t.Run(name+"/"+era, func(t *testing.T) {
				want, body, headers := tt.legacy, tt.body, legacy.head("", "")
				if era == "2026-07-28" {
					// What is a request says in its body, too, that it is modern.
					body = strings.Replace(body, `"params":{`, `"params":{`+modernMeta+`,`, 1)
					body = strings.Replace(body, ",}", "}", 1)
					headers = c.head(methodOf(body), nameOf(body))
					if want = tt.modern; want == "" {
						want = tt.legacy
					}
				}
				a := h.post(headers, body)
				if got := shownReply(a); got != want {
					t.Errorf("%.200s: %s, want %s; body %s", body, got, want, a.body)
				}
			})
		}
	}
	h.stop()
	if runs := log.lines(t, "run ended"); len(runs) > 0 {
		t.Errorf("runs took place: %v", runs)
	}
}

// shownReply is an answer's status, and id and code of its error.
func shownReply(a reply) string {
	if len(a.messages) == 0 {
		return fmt.Sprint(a.status)
	}
	return fmt.Sprintf("%d %v %d", a.status, a.last().ID, a.code())
}

func methodOf(body string) string { return parseMessage(body).Method }

func nameOf(body string) string {
	name, _ := parseMessage(body).Params["name"].(string)
	return name
}

// The headers of each era, as its specification wants them.
func TestProtocolHeaders(t *testing.T) {
	h := listening(t, serving(t))
	legacy := h.connect(false, nil)
	good, old := modernCall(1, td, goodCall), callLine(1, td, goodCall)
	modern := modernHead(callMethod, td)
	for name, tt := range map[string]struct {
		headers head
		body    string
		want    string
		say     string // part of the message
	}{
		"all well":                       {modern, good, "200 1 0", ""},
		"version missing":                {modern.with(head{"Mcp-Protocol-Version": ""}), good, "400 1 -32020", "header is required"},
		"version missing in a session":   {legacy.head("", ""), good, "400 1 -32020", "does not match"},
		"version older than the body's":  {modern.with(head{"Mcp-Protocol-Version": "2025-11-25"}), good, "400 1 -32020", "does not match"},
		"version in the header alone":    {modern, old, "400 1 -32602", "protocolVersion"},
		"a version to come":              {modern.with(head{"Mcp-Protocol-Version": "2099-01-01"}), strings.ReplaceAll(good, "2026-07-28", "2099-01-01"), "400 1 -32022", ""},
		"no version at all":              {legacy.head("", "").with(head{"MCP-Protocol-Version": "latest"}), old, "400 1 -32602", ""},
		"an unknown older version":       {legacy.head("", "").with(head{"MCP-Protocol-Version": "2025-01-01"}), old, "400 1 -32600", "this server speaks 2026-07-28"},
		"method missing":                 {modern.with(head{"Mcp-Method": ""}), good, "400 1 -32020", "Mcp-Method"},
		"another method":                 {modern.with(head{"Mcp-Method": "tools/list"}), good, "400 1 -32020", "Mcp-Method"},
		"name missing":                   {modern.with(head{"Mcp-Name": ""}), good, "400 1 -32020", "Mcp-Name"},
		"another name":                   {modern.with(head{"Mcp-Name": "route_ticket"}), good, "400 1 -32020", "Mcp-Name"},
		"a name with another case":       {modern.with(head{"Mcp-Name": strings.ToUpper(td)}), good, "400 1 -32020", "Mcp-Name"},
		"a stream to go on with":         {modern.with(head{"Last-Event-ID": "1"}), good, "400 1 -32020", "Last-Event-ID"},
		"a session that counts not":      {modern.with(head{"Mcp-Session-Id": "none"}), good, "200 1 0", ""},
		"capabilities missing":           {modern, strings.Replace(good, `"io.modelcontextprotocol/clientCapabilities":{},`, "", 1), "400 1 -32602", "clientCapabilities"},
		"no session":                     {plainHead, old, "400 1 -32600", "Mcp-Session-Id is missing"},
		"unknown session":                {plainHead.with(head{"Mcp-Session-Id": "mcp-session-1"}), old, "404 1 -32600", "no such session"},
		"unknown session, notification":  {plainHead.with(head{"Mcp-Session-Id": "x"}), initialized, "404 <nil> -32600", "no such session"},
		"initialize in the other era":    {modernHead("initialize", ""), strings.Replace(initialize, `"params":{`, `"params":{`+modernMeta+`,`, 1), "404 0 -32601", ""},
		"initialize that is none":        {plainHead, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`, "200 1 -32600", ""},
		"a discovery in the earlier one": {legacy.head("", ""), `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, "200 1 -32601", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := h.post(tt.headers, tt.body)
			if got := shownReply(a); got != tt.want || !strings.Contains(a.body, tt.say) {
				t.Errorf("%s: %s, want %s saying %q", got, a.body, tt.want, tt.say)
			}
			if a.status != 200 && a.header.Get("Mcp-Session-Id") != "" {
				t.Error("a session was given out")
			}
		})
	}
	if a := h.post(plainHead, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`); a.header.Get("Mcp-Session-Id") != "" {
		t.Error("an initialize without a result gave a session out")
	}
}

// A header that mcp-go reads is not sent twice: two readers could read two things.
func TestRepeatedHeaders(t *testing.T) {
	h := listening(t, serving(t))
	body := modernCall(1, td, goodCall)
	for _, name := range []string{"Mcp-Protocol-Version", "mcp-method", "Mcp-Name", "Mcp-Session-Id", "Content-Type"} {
		text := "POST /mcp HTTP/1.1\r\nHost: " + h.address + "\r\n" + name + ": x\r\n"
		for header, value := range modernHead(callMethod, td).with(head{"Mcp-Session-Id": "s"}) {
			text += header + ": " + value + "\r\n"
		}
		a, _ := h.raw(fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", text, len(body), body))
		if a.status != 400 || !strings.Contains(a.body, "given twice") {
			t.Errorf("%s twice: status %d: %s", name, a.status, a.body)
		}
	}
}

// Methods, paths and media types that are not served.
func TestUnservedRequests(t *testing.T) {
	h := listening(t, serving(t))
	c := h.connect(false, nil)
	body := callLine(1, td, goodCall)
	with := func(name, value string) head { return c.head("", "").with(head{name: value}) }
	for name, tt := range map[string]struct {
		method, path string
		headers      head
		body         string
		status       int
		allow        string
	}{
		"root":                        {"GET", "/", nil, "", 404, ""},
		"path below":                  {"POST", "/mcp/", plainHead, body, 404, ""},
		"path cleaned":                {"POST", "//mcp", plainHead, body, 404, ""},
		"path climbing":               {"POST", "/x/../mcp", plainHead, body, 404, ""},
		"put":                         {"PUT", "/mcp", plainHead, body, 405, "POST, GET, DELETE, OPTIONS"},
		"head":                        {"HEAD", "/mcp", nil, "", 405, "POST, GET, DELETE, OPTIONS"},
		"trace":                       {"TRACE", "/mcp", nil, "", 405, "POST, GET, DELETE, OPTIONS"},
		"modern get":                  {"GET", "/mcp", modernHead("", ""), "", 405, "POST, OPTIONS"},
		"modern delete":               {"DELETE", "/mcp", modernHead("", ""), "", 405, "POST, OPTIONS"},
		"get without a session":       {"GET", "/mcp", head{"Accept": "text/event-stream"}, "", 400, ""},
		"get of an unknown session":   {"GET", "/mcp", head{"Accept": "text/event-stream", "Mcp-Session-Id": "x"}, "", 404, ""},
		"get that takes JSON":         {"GET", "/mcp", with("Accept", "application/json"), "", 406, ""},
		"get with a body":             {"GET", "/mcp", c.head("", ""), "{}", 400, ""},
		"get of an unknown version":   {"GET", "/mcp", with("MCP-Protocol-Version", "1"), "", 400, ""},
		"delete without a session":    {"DELETE", "/mcp", nil, "", 400, ""},
		"delete of an unknown one":    {"DELETE", "/mcp", head{"Mcp-Session-Id": "x"}, "", 404, ""},
		"accepts a stream only":       {"POST", "/mcp", with("Accept", "text/event-stream"), body, 406, ""},
		"accepts HTML":                {"POST", "/mcp", with("Accept", "text/html, application/xhtml+xml"), body, 406, ""},
		"accepts JSON not":            {"POST", "/mcp", with("Accept", "application/json;q=0.0, text/event-stream"), body, 406, ""},
		"plain text":                  {"POST", "/mcp", with("Content-Type", "text/plain"), body, 415, ""},
		"no content type":             {"POST", "/mcp", with("Content-Type", ""), body, 415, ""},
		"a form":                      {"POST", "/mcp", with("Content-Type", "application/x-www-form-urlencoded"), body, 415, ""},
		"JSON of its own kind":        {"POST", "/mcp", with("Content-Type", "application/json-rpc"), body, 415, ""},
		"another charset":             {"POST", "/mcp", with("Content-Type", "application/json; charset=utf-16"), body, 415, ""},
		"compressed":                  {"POST", "/mcp", with("Content-Encoding", "gzip"), body, 415, ""},
		"modern listen without a way": {"POST", "/mcp", modernHead(listenMethod, "").with(head{"Accept": "application/json"}), modernLine(1, listenMethod, ""), 406, ""},
		"accepts all":                 {"POST", "/mcp", with("Accept", "*/*"), body, 200, ""},
		"accepts by kind":             {"POST", "/mcp", with("Accept", "text/html;q=0.1, Application/*;q=0.001"), body, 200, ""},
		"does not say":                {"POST", "/mcp", with("Accept", ""), body, 200, ""},
		"charset":                     {"POST", "/mcp", with("Content-Type", "Application/JSON; charset=UTF-8"), body, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := h.do(tt.method, tt.path, tt.headers, tt.body)
			if a.status != tt.status || a.header.Get("Allow") != tt.allow {
				t.Errorf("status %d, Allow %q; want %d, %q: %s", a.status, a.header.Get("Allow"), tt.status, tt.allow, a.body)
			}
			if tt.status != 200 && tt.method != http.MethodHead {
				a.errorOf(t)
			}
		})
	}
}
