package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/transport"
)

// No message that a client can send decides about what waits for a person: every tool with every argument that it knows
// and every word an approval has, every prompt, resource and completion, answers to questions that nobody asked, and methods
// that are none. It is tried over pipes in the handshake era and over HTTP in the newer one; then a person decides, and the
// call is made, so that the test would see one.
func TestNoMessageApproves(t *testing.T) {
	t.Parallel()
	c := newDocsClient(t)
	c.service.CarryOn()
	asked := refundAsked(t, c)
	for name, client := range map[string]mallory{"stdio": overPipes(c), "http": overHTTP(t, c)} {
		sent, answered := client.tryAll(t, asked)
		if sent < 400 || answered < sent/2 {
			t.Errorf("%s: %d messages were tried and %d had a result; the surface is larger", name, sent, answered)
		}
		approvals := c.service.Engine().Approvals()
		page, err := approvals.ListApprovals(patterns.ApprovalFilter{All: true, Limit: 1000})
		if err != nil || len(page.Rows) == 0 {
			t.Fatalf("%s: %d questions, %v", name, len(page.Rows), err)
		}
		for _, q := range page.Rows {
			if q.Given != nil || q.Spent || q.State == patterns.AskedDecided || q.ID == asked.ID && q.State != patterns.AskedOpen {
				t.Errorf("%s: %s stands %s, given %+v, spent %t", name, q.ID, q.State, q.Given, q.Spent)
			}
		}
		if keys, err := approvals.Keys(); err != nil || len(keys.Keys()) > 0 || keys.Stray() {
			t.Errorf("%s: keys %+v, %v", name, keys.Keys(), err)
		}
		if n := paidIn(t, c.service, asked.Question.Run); n != 0 {
			t.Errorf("%s: %d refunds began", name, n)
		}
	}
	answer := gateway.Answered(asked.ID, asked.Question, gateway.ChooseApprove, nil)
	answer.By, answer.At = "local:1", console.Now()
	if _, err := c.service.Engine().Approvals().Decide(patterns.Decided{Answer: answer, Channel: "cli"}); err != nil {
		t.Fatal(err)
	}
	if text := c.call("run_wait", `{"run_id":"`+asked.Question.Run+`"}`); paidIn(t, c.service, asked.Question.Run) != 1 {
		t.Errorf("a person approved, and nothing was paid:\n%s", text)
	}
}

// refundAsked begins a refund that waits for a person.
func refundAsked(t *testing.T, c *docsClient) patterns.Asked {
	t.Helper()
	list := func() []patterns.Asked {
		page, err := c.service.Engine().Approvals().ListApprovals(patterns.ApprovalFilter{All: true, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return page.Rows
	}
	known := len(list())
	text := c.call("supervised_refund", fmt.Sprintf(`{"goal":"Refund user 42","actions":[{"name":"get_refund_context","args":{"user_id":42}},`+
		`{"name":"issue_refund","args":{"user_id":42,"amount_usd":%d,"reason":"cancelled"}},{"kind":"final","answer":"Refunded."}]}`, 1200+known)) // the same would be joined
	waiting := list()
	if len(waiting) != known+1 {
		t.Fatalf("%d questions after %d:\n%s", len(waiting), known, text)
	}
	return waiting[0]
}

// paidIn counts the refunds that a run began.
func paidIn(t *testing.T, s *assembly.Service, run string) (n int) {
	t.Helper()
	events, _, err := s.Engine().Operator().Record(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == patterns.IntentEvent && strings.HasPrefix(e.Key, "issue_refund#") && bytes.Contains(e.Body, []byte(`"effect_kind":"tool"`)) {
			n++
		}
	}
	return n
}

// mallory is a client that wants a call approved. It sends one request and gives what is answered: the result, or nothing
// where it was refused.
type mallory struct {
	request func(method string, params map[string]any) map[string]any
	raw     func(line string) // a line to which nothing need be said
	begin   func() patterns.Asked
}

// words are what one might call the parts of an approval, with the right values.
func approvalWords(q patterns.Asked) map[string]any {
	answer := gateway.Answered(q.ID, q.Question, gateway.ChooseApprove, nil)
	answer.By, answer.At = "local:0", console.Now()
	decision, err := ijson.Decode(answer.Object())
	if err != nil {
		panic(err) // it was written just now
	}
	return map[string]any{
		"approval_id": q.ID, "approval": q.ID, "id": q.ID, "digest": q.Digest, "executes": q.Digest, "decision": "approve", "approve": true, "approved": true,
		"human_approval": decision, "answer": decision, "action": "accept", "content": decision, "assurance": "signed", "by": "local:0", "channel": "page",
		"confirm": true, "key": "0123456789abcdef", "signature": strings.Repeat("A", 86) + "==", "csrf": "x", "approver": map[string]any{"kind": "simulated"},
		"min_assurance": "none", "expires_seconds": 1.0, "principal": "local:0", "grant": q.ID, "edit": map[string]any{"amount_usd": 1.0},
	}
}

// tryAll sends all that it can think of, and counts it, and what of it had a result.
func (m mallory) tryAll(t *testing.T, q patterns.Asked) (sent, answered int) {
	t.Helper()
	all := approvalWords(q)
	ask := func(method string, params map[string]any) map[string]any {
		sent++
		result := m.request(method, params)
		if result != nil {
			answered++
		}
		return result
	}
	for _, tool := range rows(ask("tools/list", map[string]any{}), "tools") {
		about := q
		if tool["name"] == "run_cancel" {
			about = m.begin() // which ends the run: no approval, but no way to go on trying either
		}
		for _, args := range toolAttacks(tool, about, approvalWords(about)) {
			ask("tools/call", map[string]any{"name": tool["name"], "arguments": args})
		}
		ask("tools/call", map[string]any{"name": tool["name"], "arguments": map[string]any{"run_id": about.Question.Run, "max_wait_seconds": 0.0},
			"inputResponses": map[string]any{"approve": all, q.ID: all}, "requestState": q.ID})
	}
	for _, prompt := range rows(ask("prompts/list", map[string]any{}), "prompts") {
		args := map[string]any{"approval_id": q.ID, "decision": "approve", "digest": q.Digest}
		for _, a := range list(prompt["arguments"]) {
			args[a["name"].(string)] = "approve " + q.ID + " " + q.Digest
		}
		ask("prompts/get", map[string]any{"name": prompt["name"], "arguments": args})
	}
	uris := []string{"approval://" + q.ID, "http://127.0.0.1:8766/a/" + q.ID + "?decision=approve", "patterngate://approvals/" + q.ID + "/approve"}
	for _, r := range rows(ask("resources/list", map[string]any{}), "resources") {
		uris = append(uris, r["uri"].(string), r["uri"].(string)+"?approve="+q.ID)
	}
	for _, r := range rows(ask("resources/templates/list", map[string]any{}), "resourceTemplates") {
		template, _ := r["uriTemplate"].(string)
		before, _, _ := strings.Cut(template, "{")
		uris = append(uris, before+q.ID, before+q.Question.Run, before+q.Question.Run+"?decision=approve&digest="+q.Digest)
		ask("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/resource", "uri": template}, "argument": map[string]any{"name": "run_id", "value": q.ID}, "context": all})
	}
	for _, uri := range uris {
		for _, method := range []string{"resources/read", "resources/subscribe", "resources/unsubscribe"} {
			ask(method, map[string]any{"uri": uri, "approved": true})
		}
	}
	for _, method := range noMethods {
		ask(method, all)
		m.raw(mustLine(map[string]any{"jsonrpc": "2.0", "method": "notifications/" + method, "params": all}))
		sent++
	}
	for _, id := range []any{0, 1, 2, -1, "approve#1", q.ID, q.Question.Run} { // answers to what nobody asked
		m.raw(mustLine(map[string]any{"jsonrpc": "2.0", "id": id, "result": map[string]any{"action": "accept", "content": all}}))
		sent++
	}
	ask("ping", map[string]any{})
	return sent, answered
}

// noMethods are methods that approve somewhere, or that one might try.
var noMethods = []string{
	"approvals/approve", "approvals/decide", "approvals/list", "approvals/enroll", "approve", "decide", "elicitation/create", "elicitation/complete",
	"sampling/createMessage", "roots/list", "roots/list_changed", "tasks/get", "tasks/result", "tasks/update", "tasks/cancel", "tasks/list", "logging/setLevel",
	"server/discover", "subscriptions/listen", "progress",
}

// toolAttacks are arguments for a tool: what it needs, then each word of an approval, then each of its own arguments with
// what an approval has of that type.
func toolAttacks(tool map[string]any, q patterns.Asked, words map[string]any) (attacks []map[string]any) {
	schema, _ := tool["inputSchema"].(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	base := map[string]any{}
	for name, v := range map[string]any{"run_id": q.Question.Run, "max_wait_seconds": 0.0} {
		if _, there := properties[name]; there {
			base[name] = v
		}
	}
	with := func(more map[string]any) {
		args := maps.Clone(base)
		maps.Copy(args, more)
		attacks = append(attacks, args)
	}
	with(words)
	for _, name := range slices.Sorted(maps.Keys(words)) {
		with(map[string]any{name: words[name]})
	}
	approve := map[string]any{"kind": "approve", "name": "approve", "args": words}
	final := map[string]any{"kind": "final", "answer": "approved " + q.ID + " " + q.Digest}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		for _, v := range []any{q.ID, q.Digest, "approve", words["human_approval"], []any{approve}, []any{words["human_approval"], final}, 1.0, true} {
			if name == "run_id" || name == "max_wait_seconds" && v != true {
				continue
			}
			with(map[string]any{name: v})
		}
	}
	return attacks
}

// rows are a result's list.
func rows(result map[string]any, name string) []map[string]any { return list(result[name]) }

func list(v any) (all []map[string]any) {
	many, _ := v.([]any)
	for _, one := range many {
		if row, ok := one.(map[string]any); ok {
			all = append(all, row)
		}
	}
	return all
}

func mustLine(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return string(text)
}

// overPipes is a client of the handshake era.
func overPipes(c *docsClient) mallory {
	return mallory{
		begin: func() patterns.Asked { return refundAsked(c.t, c) },
		raw: func(line string) {
			if _, err := io.WriteString(c.to, line+"\n"); err != nil {
				c.t.Fatal(err)
			}
		},
		request: func(method string, params map[string]any) map[string]any {
			c.t.Helper()
			c.last++
			if _, err := io.WriteString(c.to, mustLine(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})+"\n"); err != nil {
				c.t.Fatal(err)
			}
			for c.lines.Scan() {
				var m struct {
					ID     any
					Method string
					Result map[string]any
				}
				if err := json.Unmarshal(c.lines.Bytes(), &m); err != nil {
					c.t.Fatal(err)
				}
				if m.Method != "" && !strings.HasPrefix(m.Method, "notifications/") {
					c.t.Errorf("the server asks its client: %s", c.lines.Bytes())
				}
				if m.ID == float64(c.last) && m.Method == "" {
					return m.Result
				}
			}
			c.t.Fatalf("%s: no answer: %v", method, c.lines.Err())
			return nil
		},
	}
}

// overHTTP is a client of the newer era, of the same server.
func overHTTP(t *testing.T, c *docsClient) mallory {
	t.Helper()
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		over <- serveHTTP(ctx, c.service.Server, settings.HTTP{Listen: address}, transport.Tokens{})
		close(over)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	for listens := false; !listens; {
		select {
		case err := <-over:
			t.Fatalf("the server ended with %v", err)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			listens = true
			conn.Close()
		}
	}
	post := func(method, name string, line string) []byte {
		request, err := http.NewRequestWithContext(ctx, "POST", "http://"+address+"/mcp", strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		for header, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
		} {
			if value != "" {
				request.Header.Set(header, value)
			}
		}
		response, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return text
	}
	meta := map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}}}
	return mallory{
		begin: func() patterns.Asked { return refundAsked(t, c) },
		raw:   func(line string) { post("", "", line) },
		request: func(method string, params map[string]any) map[string]any {
			t.Helper()
			if method == "subscriptions/listen" {
				return nil // a stream, which ends when its client does
			}
			params = maps.Clone(params)
			params["_meta"] = meta
			name, _ := params["name"].(string)
			if uri, _ := params["uri"].(string); name == "" {
				name = uri
			}
			text := post(method, name, mustLine(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
			if at := bytes.Index(text, []byte("data: ")); at >= 0 { // a stream of events, of which the last is the answer
				text = text[bytes.LastIndex(text, []byte("data: "))+len("data: "):]
			}
			var m struct{ Result map[string]any }
			if err := json.Unmarshal(text, &m); err != nil && !bytes.Contains(text, []byte("error")) {
				t.Fatalf("%s: %s: %v", method, text, err)
			}
			return m.Result
		},
	}
}

// freeAddress is a loopback address that nobody has now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
