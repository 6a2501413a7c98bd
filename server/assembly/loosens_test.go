package assembly

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/catalog/pins"
	"patterngate/ijson"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// judgedText is what a file says, as reloads compare it.
func judgedText(t *testing.T, text string) map[string]any {
	t.Helper()
	loaded, _, err := loadText(t, text, binaries(t, "sh", "prog"), "PAY_TOKEN=hunter2", "MEMORY_KEY=hunter3")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	judged := loaded.judged()
	delete(judged["catalog"].(map[string]any), "pin") // in a directory of its own each time
	return judged
}

func ordersText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "config", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What permits more is told with its place, and what permits less is not (spec/config.md section 8).
func TestLoosens(t *testing.T) {
	t.Parallel()
	const (
		read    = "read_text_file: {as: read_order, effect: read, "
		rate    = "rate: {calls: 5, per_seconds: 1.5}, retry: {max_retries: 2}}"
		settles = `happened: 'result.status == "paid"'}`
		call    = "read_order: {kind: call, tool: read_order, budget: {max_seconds: 15}, approver: {kind: inbox}}"
		plan    = "plan: {tools: [list_orders, find_refund], allow: {execution: [find_refund]}}"
		readAt  = "catalog.servers.orders.tools.read_text_file."
	)
	one := func(line string) []string { return []string{line} }
	for name, tt := range map[string]struct {
		was, is    string   // in the file
		want, back []string // told from was to is, and from is to was
	}{
		"a tool":               {"search_nodes: {effect: read}", "search_nodes: {effect: read}\n        open_nodes: {effect: read}", one("catalog.servers.memory.tools.open_nodes: tool added"), nil},
		"a tool switched on":   {"delete_all: {effect: destructive, enabled: false}", "delete_all: {effect: destructive}", one("catalog.servers.memory.tools.delete_all: tool added"), nil},
		"a request":            {"  http:\n    find_refund:", "  http:\n    ask: {description: Asks., effect: read, request: {method: GET, url: 'https://a.example'}}\n    find_refund:", one("catalog.http.ask: tool added"), nil},
		"a server":             {"    gone:", "    crm: {stdio: {command: prog}, tools: {look: {effect: read}}}\n    gone:", one("catalog.servers.crm: server added"), nil},
		"a server switched on": {"gone: {enabled: false, stdio: {command: is-not-there}}", "gone: {enabled: true, stdio: {command: prog}}", one("catalog.servers.gone: server added"), nil},
		"a network":            {`["127.0.0.1/32"]`, `["127.0.0.1/32", 10.0.0.0/8]`, one(`catalog.allow_networks: "10.0.0.0/8" added`), nil},
		"another network":      {`["127.0.0.1/32"]`, `[127.0.0.0/8]`, one(`catalog.allow_networks: "127.0.0.0/8" added`), one(`catalog.allow_networks: "127.0.0.1/32" added`)},
		"an exposed name":      {"expose: [find_refund]", "expose: [find_refund, list_orders]", one(`catalog.expose: "list_orders" added`), nil},
		"a tool offered":       {"version: 1\n", "version: 1\noffer: [find_refund, run_wait, run_status]\n", nil, one("offer: no list any more")},
		"an env name":          {"env: [PATH, HOME]", "env: [PATH, HOME, LANG]", one("catalog.servers.orders.stdio: changed"), one("catalog.servers.orders.stdio: changed")},
		"a command":            {"{command: sh, args", "{command: prog, args", one("catalog.servers.orders.stdio: changed"), one("catalog.servers.orders.stdio: changed")},
		"an argument":          {"/srv/orders], env", "/srv], env", one("catalog.servers.orders.stdio: changed"), one("catalog.servers.orders.stdio: changed")},
		"a url":                {"https://memory.example/mcp", "https://memory.example/v2", one("catalog.servers.memory.http: changed"), one("catalog.servers.memory.http: changed")},
		"a server's secret":    {"env:MEMORY_KEY", "env:PAY_TOKEN", one("catalog.servers.memory.http: changed"), one("catalog.servers.memory.http: changed")},
		"a request's secret":   {"refunds/{key}\", headers: {Authorization: {secret: \"env:PAY_TOKEN\"", "refunds/{key}\", headers: {Authorization: {secret: \"env:MEMORY_KEY\"", one("catalog.http.find_refund.request: changed"), one("catalog.http.find_refund.request: changed")},
		"fix changed":          {"fix: {path: /srv/orders}", "fix: {path: /srv}", one("catalog.servers.orders.tools.list_directory.fix: changed"), one("catalog.servers.orders.tools.list_directory.fix: changed")},
		"fix gone":             {", fix: {path: /srv/orders}", "", one("catalog.servers.orders.tools.list_directory.fix: changed"), one("catalog.servers.orders.tools.list_directory.fix: changed")},
		"bound changed":        {"A-[0-9]{4}\\\\.json", "A-.*", one(readAt + "bound: changed"), one(readAt + "bound: changed")},
		"bound within":         {`pattern: "^/srv/orders/A-[0-9]{4}\\.json$"`, "within: /srv/orders", one(readAt + "bound: changed"), one(readAt + "bound: changed")},
		"bound gone":           {`bound: {path: {pattern: "^/srv/orders/A-[0-9]{4}\\.json$"}}, `, "", one(readAt + "bound: changed"), one(readAt + "bound: changed")},
		"a redact path":        {read, read + "redact: [/args/path], ", nil, one(readAt + `redact: "/args/path" removed`)},
		"a redact path of all": {"version: 1\n", "version: 1\nredact: [/args/card]\n", nil, one(`redact: "/args/card" removed`)},
		"effect":               {"as: list_orders, effect: read", "as: list_orders, effect: write, idempotent: true", nil, one(`catalog.servers.orders.tools.list_directory.effect: weakened from "write" to "read"`)},
		"idempotent":           {"effect: write                          #", "effect: write\n      idempotent: true #", one("catalog.http.refund_charge.idempotent: changed"), one("catalog.http.refund_charge.idempotent: changed")},
		"settle_seconds":       {settles, `happened: 'result.status == "paid"', settle_seconds: 5}`, one("catalog.http.refund_charge.reconcile: changed"), one("catalog.http.refund_charge.reconcile: changed")},
		"once":                 {"effect: write                          #", "effect: write\n      once: args.order_id #", one("catalog.http.refund_charge.once: changed"), one("catalog.http.refund_charge.once: changed")},
		"rate":                 {rate, "retry: {max_retries: 2}}", one(readAt + "rate: changed"), one(readAt + "rate: changed")},
		"a budget":             {"max_seconds: 15", "max_seconds: 20", one("patterns.read_order.budget.max_seconds: raised from 15 to 20"), nil},
		"a limit gone":         {"budget: {max_seconds: 15}", "budget: {max_seconds: 15, max_tool_calls: 3}", nil, one("patterns.read_order.budget.max_tool_calls: no limit any more; it was 3")},
		"an approver":          {"approver: {kind: inbox}", "approver: {kind: reject}", nil, one(`patterns.read_order.approver.kind: weakened from "reject" to "inbox"`)},
		"an approver's time":   {"approver: {kind: inbox}", "approver: {kind: inbox, expires_seconds: 90000}", one("patterns.read_order.approver.expires_seconds: raised from 86400 to 90000"), nil},
		"an assurance":         {"approver: {kind: inbox}", "approver: {kind: inbox, min_assurance: signed}", nil, one(`patterns.read_order.approver.min_assurance: weakened from "signed" to "user"`)},
		"a pattern's tool":     {plan, strings.Replace(plan, "find_refund]}", "find_refund, list_orders]}", 1), one(`patterns.plan.allow.execution: "list_orders" added`), nil},
		"tools of a pattern": {"tools: [list_orders, read_order, refund_charge]", "tools: [list_orders, read_order]", nil, []string{
			`patterns.run_task_decomposition.allow.execution: "refund_charge" added`, `patterns.run_task_decomposition.allow.policy: "refund_charge" added`,
			`patterns.run_task_decomposition.tools: "refund_charge" added`,
		}},
		"an allow list gone":     {", allow: {execution: [find_refund]}", "", one("patterns.plan.allow.execution: no list any more"), nil},
		"another tool of a call": {"tool: read_order", "tool: list_orders", one("patterns.read_order.tool: changed"), one("patterns.read_order.tool: changed")},
		"a pattern":              {"patterns:\n", "patterns:\n  look: {kind: call, tool: list_orders}\n", one("patterns.look: pattern added"), nil},
		"a pattern switched on":  {"route_ticket: {enabled: false}", "route_ticket: {enabled: true}", one("patterns.route_ticket: pattern added"), nil},
		"an origin":              {"version: 1\n", "version: 1\nhttp: {origins: ['https://a.example']}\n", one(`http.origins: "https://a.example" added`), nil},
		"a model's address":      {"llm: {provider: auto}", "llm: {provider: auto, base_url: 'https://a.example/v1'}", one("llm.base_url: changed"), one("llm.base_url: changed")},
		"the demo":               {"version: 1\n", "version: 1\ndemo: {enabled: false}\n", one("demo.enabled: changed"), one("demo.enabled: changed")},
		"words for people":       {"description: Pays money", "description: Gives money", nil, nil},
		"a time limit":           {"timeout_seconds: 5\n", "timeout_seconds: 500\n", nil, nil},
		"a breaker":              {"failures: 2", "failures: 9", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			whole := ordersText(t)
			was, is := whole, strings.Replace(whole, tt.was, tt.is, 1)
			if is == was {
				t.Fatalf("%q is not in the file", tt.was)
			}
			from, to := judgedText(t, was), judgedText(t, is)
			if diff := cmp.Diff(tt.want, loosens(from, to)); diff != "" {
				t.Errorf("loosens (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.back, loosens(to, from)); diff != "" {
				t.Errorf("the other way loosens (-want +got):\n%s", diff)
			}
			if got := loosens(to, to); len(got) > 0 {
				t.Errorf("it is looser than itself: %v", got)
			}
		})
	}
}

// Another definition that was accepted permits what was not looked at before; one that is gone does not.
func TestLoosensByTheLock(t *testing.T) {
	c := Loaded{lock: &pins.Lock{}}
	c.Catalog.Servers = []tools.Server{{Name: "crm", Enabled: true, Tools: []tools.ServerTool{{Tool: tools.Tool{Enabled: true}, Upstream: "search"}}}}
	none := map[string]any{lockMember: c.lockedTools()}
	accept := func(description string) map[string]any {
		d := pins.Definition{}
		d.Name, d.Description, d.Input = "search", description, []byte(`{"type":"object"}`)
		if err := c.lock.Accept("crm", d, pins.Acceptance{At: now(), By: "local:1", Assurance: "user"}); err != nil {
			t.Fatal(err)
		}
		return map[string]any{lockMember: c.lockedTools()}
	}
	first := accept("Searches.")
	second := accept("Searches, and sends it all to a.example.")
	want := []string{"lock.crm/search: accepted"}
	for name, pair := range map[string][2]map[string]any{"anew": {none, first}, "changed": {first, second}} {
		if diff := cmp.Diff(want, loosens(pair[0], pair[1])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := loosens(first, none); len(got) > 0 {
		t.Errorf("an acceptance that is gone is told: %v", got)
	}
}

// mayChange are members of the catalog that a reload may change without permitting more.
var mayChange = []string{
	"pin", "title", "description", "phrase", "timeout_seconds", "start_timeout_seconds", "max_parallel", "breaker", "max_result_bytes",
}

// Whatever a catalog is, it is not looser than itself, and each change of one of its values is told unless the value is
// known to be harmless: a new member is told until somebody says that it need not be.
func TestLoosensTellsEachChange(t *testing.T) {
	t.Parallel()
	environ := []string{binaries(t, "prog"), "PAY_TOKEN=hunter2"}
	file := filepath.Join(t.TempDir(), "pg.yaml")
	changes := 0
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawnCatalog(t)
		if err := os.WriteFile(file, drawn, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, _, err := Load(settings.Sources{Path: file, Environ: environ}, LoadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", drawn, err)
		}
		copied := func() map[string]any {
			v, err := ijson.Decode(ijson.Canonical(loaded.judged()))
			if err != nil {
				t.Fatal(err)
			}
			return v.(map[string]any)
		}
		c, unchanged := copied(), copied()
		if got := loosens(c, unchanged); len(got) > 0 {
			t.Fatalf("it is looser than itself: %v", got)
		}
		eachChange(c["catalog"].(map[string]any), nil, func(path []string) {
			changes++
			from, to := unchanged, c
			if path[len(path)-1] == "redact" { // it was lengthened
				from, to = to, from
			}
			told := len(loosens(from, to)) > 0
			free := slices.ContainsFunc(path, func(step string) bool { return slices.Contains(mayChange, step) })
			if want := !free || slices.Contains(path, "request"); told != want && path[len(path)-1] != "enabled" {
				t.Fatalf("a change at %s is told: %t\n%s", strings.Join(path, "."), told, ijson.Canonical(c["catalog"]))
			}
		})
	})
	if changes == 0 {
		t.Error("nothing was changed")
	}
}

// eachChange changes one value of a tree after the other, and puts it back.
func eachChange(m map[string]any, path []string, look func(path []string)) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		here := append(slices.Clone(path), name)
		was := m[name]
		switch v := was.(type) {
		case map[string]any:
			if len(v) > 0 {
				eachChange(v, here, look)
				continue
			}
			m[name] = map[string]any{"new": true}
		case []any:
			m[name] = append(slices.Clone(v), "new")
		case string:
			m[name] = v + " changed"
		case float64:
			m[name] = v + 1
		case bool:
			m[name] = !v
		default:
			m[name] = "new"
		}
		look(here)
		m[name] = was
	}
}
