package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
)

func nothing(context.Context, catalog.Call) (any, error) { return nil, nil }

// tool is a tool with these argument schemas; names that end in ? are optional.
func tool(t testing.TB, name string, effect catalog.Effect, arguments ...string) catalog.Tool {
	t.Helper()
	var properties, required []string
	for i := 0; i < len(arguments); i += 2 {
		argument, optional := strings.CutSuffix(arguments[i], "?")
		properties = append(properties, fmt.Sprintf("%q: %s", argument, arguments[i+1]))
		if !optional {
			required = append(required, fmt.Sprintf("%q", argument))
		}
	}
	schema := compiled(t, fmt.Sprintf(`{"type": "object", "additionalProperties": false, "properties": {%s}, "required": [%s]}`, strings.Join(properties, ", "), strings.Join(required, ", ")))
	return catalog.Tool{Name: name, Effect: effect, Input: schema, Do: nothing}
}

// orderTools are those of the example file.
func orderTools(t testing.TB) *catalog.Catalog {
	t.Helper()
	list := tool(t, "list_orders", catalog.Read)
	list.Server, list.Fixed = "orders", map[string]any{"path": "/srv/orders"}
	read := tool(t, "read_order", catalog.Read, "path", `{"type": "string", "pattern": "^/srv/orders/A-[0-9]{4}\\.json$"}`)
	read.Server = "orders"
	find := tool(t, "find_refund", catalog.Read, "key", `{"type": "string"}`)
	find.Server = "http"
	charge := tool(t, "refund_charge", catalog.Write, "order_id", `{"type": "string", "pattern": "^A-[0-9]{4}$"}`,
		"amount_cents", `{"type": "integer", "minimum": 1}`, "reason", `{"type": "string", "minLength": 5}`)
	charge.Server = "http"
	c, err := catalog.New(list, read, find, charge)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// orderReach is one supervisor over them.
func orderReach(t testing.TB) policy.Reach {
	return policy.Reach{Catalog: orderTools(t), Patterns: []policy.Reached{{
		Name: "refund_order", Kind: gateway.Supervisor, Tools: []string{"list_orders", "read_order", "refund_charge"},
		Params: map[string]any{"run_cap_cents": 30000.0}, Input: compiled(t, `{"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}`),
	}}}
}

// orders is the policy of the example file.
func orders() policy.Source {
	return policy.Source{
		Name:   "refunds",
		Params: []policy.Param{{Name: "auto_limit_cents", Value: 10000.0}, {Name: "run_cap_cents", Value: 50000.0}},
		Vars:   []policy.Named{{Name: "spent", Text: `sum(run.effects.filter(e, e.tool == "refund_charge" && e.counts).map(e, e.args.amount_cents))`}},
		Rules: []policy.RuleSource{
			{ID: "reading_is_free", When: `tool.effect == "read"`, Approve: true},
			{ID: "order_was_read", Match: []string{"refund_charge"}, When: `!run.effects.exists(e, e.tool == "read_order" && e.status == "done" && e.args.path.endsWith(args.order_id + ".json"))`,
				Block: &policy.BlockSource{Reason: "order_not_read", Need: []string{"read_order"}}, Say: "Look at the order first."},
			{ID: "run_cap", Match: []string{"refund_charge"}, When: `vars.spent + args.amount_cents > params.run_cap_cents`, Block: &policy.BlockSource{Reason: "run_cap"}},
			{ID: "big_refund", Match: []string{"refund_charge"}, When: `args.amount_cents > params.auto_limit_cents`, Escalate: &policy.EscalateSource{Expires: 86400e9}},
			{ID: "small_refund", Match: []string{"refund_charge"}, Approve: true},
			{ID: "may_finish", Match: []string{"final"}, Approve: true},
		},
	}
}

// made is a policy without a fault.
func made(t testing.TB, source policy.Source, reach policy.Reach) *policy.Policy {
	t.Helper()
	p, faults := policy.New(source, reach)
	if p == nil || len(faults) > 0 {
		t.Fatalf("%s: %v", source.Name, inMembers(faults))
	}
	return p
}

// done is a call before the judged one.
func done(tool string, args, result map[string]any) gateway.Entry {
	return gateway.Entry{Key: "k", Tool: tool, Effect: catalog.Read, Status: gateway.Finished, Args: args, Observation: result}
}

// worded is a verdict in a line.
func worded(v gateway.Verdict) string {
	text := v.Decision.String() + " " + v.Reason
	if v.Unknown {
		text = "unknown " + v.Reason
	}
	if v.Rule != v.Reason {
		text += " by " + v.Rule
	}
	if v.Args != nil {
		text += " " + jsonOf(v.Args)
	}
	if len(v.Values) > 0 {
		text += " because " + jsonOf(v.Values)
	}
	return text
}

func jsonOf(v any) string { return string(ijson.Canonical(v)) }
