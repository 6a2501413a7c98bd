package settings_test

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
)

// The target shape of a team's file, key by key (spec/config.md section 4).
func TestCatalogIsRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "assembly", "testdata", "config", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := binaries(t, "sh")
	loaded, _, err := readText(t, string(text), path, "PAY_TOKEN=x")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(loaded.Path)
	tool := func(name string, effect catalog.Effect) tools.Tool {
		return tools.Tool{
			Name: name, Enabled: true, Effect: effect, Idempotent: effect == catalog.Read, MaxResult: 65536,
			Retry: catalog.Retry{Delay: 200 * time.Millisecond, MaxDelay: 5 * time.Second},
		}
	}
	pay := []tools.Header{{Name: "Authorization", Prefix: "Bearer ", Value: tools.Value{Secret: tools.SecretRef{Env: "PAY_TOKEN"}}}}
	list, read := tool("list_orders", catalog.Read), tool("read_order", catalog.Read)
	read.MaxResult, read.Retry.Max, read.Rate = 16384, 2, tools.Rate{Calls: 5, Burst: 5, Per: 1500 * time.Millisecond}
	off := tool("delete_all", catalog.Destructive)
	off.Enabled = false
	find, charge := tool("find_refund", catalog.Read), tool("refund_charge", catalog.Write)
	find.Description, charge.Description = "Finds the refund made under an idempotency key.", "Pays money of one order back to the customer."
	charge.Reconcile = &tools.Reconcile{
		Tool: "find_refund", Args: []grammar.NamedExpression{{Name: "key", Text: "effect.key"}}, Happened: `result.status == "paid"`, Settle: time.Minute,
	}
	want := tools.Catalog{
		Declared: true, Pin: filepath.Join(dir, "patterngate.lock"), Expose: []string{"find_refund"},
		AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Servers: []tools.Server{{
			Name: "orders", Enabled: true, Timeout: time.Minute, StartTimeout: time.Minute, MaxParallel: 8, Breaker: tools.Breaker{Failures: 5, Open: 30 * time.Second},
			Stdio: &tools.Stdio{
				Command: "sh", Path: filepath.Join(strings.TrimPrefix(path, "PATH="), "sh"),
				Args: []tools.Value{{Text: "-y"}, {Text: "@modelcontextprotocol/server-filesystem"}, {Text: "/srv/orders"}},
				Env:  []tools.Variable{{Name: "PATH", Pass: true}, {Name: "HOME", Pass: true}},
			},
			Tools: []tools.ServerTool{
				{Tool: list, Upstream: "list_directory", Timeout: time.Minute, Fix: []tools.Fixed{{Name: "path", Value: "/srv/orders"}}},
				{Tool: read, Upstream: "read_text_file", Timeout: time.Minute, Bound: json.RawMessage(`{"path":{"pattern":"^/srv/orders/A-[0-9]{4}\\.json$"}}`)},
			},
		}, {
			Name: "memory", Enabled: true, Timeout: 5 * time.Second, StartTimeout: time.Minute, MaxParallel: 8, Breaker: tools.Breaker{Failures: 2, Open: 30 * time.Second},
			HTTP: &tools.Endpoint{URL: "https://memory.example/mcp", Headers: []tools.Header{
				{Name: "X-Team", Value: tools.Value{Text: "orders"}},
				{Name: "Authorization", Prefix: "Bearer ", Value: tools.Value{Secret: tools.SecretRef{Env: "MEMORY_KEY"}}},
			}},
			Tools: []tools.ServerTool{
				{Tool: tool("search_nodes", catalog.Read), Upstream: "search_nodes", Timeout: 5 * time.Second},
				{Tool: off, Upstream: "delete_all", Timeout: 5 * time.Second},
			},
		}, {
			Name: "gone", Timeout: time.Minute, StartTimeout: time.Minute, MaxParallel: 8, Breaker: tools.Breaker{Failures: 5, Open: 30 * time.Second},
			Stdio: &tools.Stdio{Command: "is-not-there"},
		}},
		HTTP: []tools.HTTPTool{{
			Tool: find, Input: json.RawMessage(`{"key":{"type":"string","description":"Idempotency key of the refund."}}`),
			Request: tools.Request{Method: "GET", URL: "http://127.0.0.1:9090/refunds/{key}", Headers: pay, Success: []string{"2xx"}, Absent: []string{"404", "410"}, Timeout: 30 * time.Second},
		}, {
			Tool: charge,
			Input: json.RawMessage(`{"order_id":{"type":"string","pattern":"^A-[0-9]{4}$","description":"Order, like A-1001."},` +
				`"amount_cents":{"type":"integer","minimum":1,"description":"Amount to pay back in cents."},` +
				`"reason":{"type":"string","minLength":5,"description":"Why the customer gets it back."}}`),
			Request: tools.Request{
				Method: "POST", URL: "http://127.0.0.1:9090/refunds", Headers: pay, Body: tools.Body{Args: true}, IdempotencyHeader: "Idempotency-Key",
				Success: []string{"200", "201"}, Timeout: 10 * time.Second,
			},
		}},
	}
	if diff := cmp.Diff(want, loaded.Catalog, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(grammar.Position{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("the catalog (-want +got):\n%s", diff)
	}
	call, _ := loaded.Pattern("read_order")
	if call.Kind != gateway.Call || call.Tool != "read_order" || call.Budget.MaxTime != 15*time.Second || call.Approver.Kind != patterns.InboxApprover || !call.Equipped() {
		t.Errorf("the pattern read_order is %+v", call)
	}
	if at := loaded.Catalog.Servers[1].Tools[1].At; at.Line == 0 || at.Column != 9 {
		t.Errorf("the entry delete_all is at %v", at)
	}
	if exposed := loaded.Exposed(); len(exposed) != 1 || exposed[0].Name != "find_refund" || exposed[0].Tool != "find_refund" || exposed[0].Kind != gateway.Call {
		t.Errorf("exposed are %+v", exposed)
	}
	for name, want := range map[string]string{
		"run_task_decomposition": "list_orders read_order refund_charge", "run_orchestrator": "", "supervised_refund": "", "plan": "list_orders find_refund",
	} {
		p, _ := loaded.Pattern(name)
		_, execution := p.Allows()
		if got := strings.Join(p.Tools, " "); got != want || p.Equipped() != (want != "") || name == "run_task_decomposition" && strings.Join(execution, " ") != want {
			t.Errorf("%s has the tools %q and may call %q, want %q", name, got, execution, want)
		}
	}
	if loaded.DemoOn() {
		t.Error("the demo is on beside a catalog")
	}
}

// When the demo's tools are there (spec/config.md section 2).
func TestDemoEnabled(t *testing.T) {
	own := "catalog: {http: {find: {description: Finds., effect: read, request: {method: GET, url: 'https://a.example/x'}}}}\n"
	tests := map[string]struct {
		file string
		want bool
	}{
		"nothing said":             {"", true},
		"laid over a built-in":     {"patterns: {route_ticket: {enabled: false}}\n", true},
		"a catalog":                {"catalog: {}\n", false},
		"a null catalog":           {"catalog: null\n", true},
		"off":                      {"demo: {enabled: false}\n", false},
		"on beside a catalog":      {"demo: {enabled: true}\ncatalog: {}\n", true},
		"auto, said":               {"demo: {enabled: auto}\n", true},
		"an own pattern":           {own + "patterns: {find: {kind: call, tool: find}}\n", false},
		"an own pattern over demo": {"demo: {enabled: true}\npatterns: {profile: {kind: call, tool: get_manager_profile}}\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			loaded, _, err := readText(t, "version: 1\n"+tt.file)
			if err != nil {
				t.Fatal(err)
			}
			p, _ := loaded.Pattern("run_orchestrator")
			if loaded.DemoOn() != tt.want || p.Equipped() != tt.want {
				t.Errorf("demo on: %v, run_orchestrator has tools: %v; want %v", loaded.DemoOn(), p.Equipped(), tt.want)
			}
		})
	}
}
