package server_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns/llm/offline"
	"patterngate/server"
)

// faulty is a call with a plan, route or actions as models write them, and what is wrong with it.
type faulty struct {
	kind  gateway.Kind
	fault string
	// repairable says that there is one right answer which the call itself shows; else a blind client must not get on.
	repairable bool
	intent     any
	also       object // other arguments
}

// faults are written down from what models get wrong: names, types, members, ids, nesting, counts, and texts instead of
// values.
func faults() []faulty {
	step := func(id, tool string, args any) object {
		return object{"id": id, "title": strings.ToUpper(id), "tool": tool, "args": args}
	}
	plan := func(change func([]any) []any) any {
		steps := []any{step("a", "get_manager_profile", object{"manager_id": 42}), step("b", "fetch_sales_data", month), step("c", "fetch_refund_data", month)}
		return object{"kind": "plan", "steps": change(steps)}
	}
	set := func(i int, name string, v any) any {
		return plan(func(s []any) []any { s[i].(object)[name] = v; return s })
	}
	drop := func(i int, name string) any {
		return plan(func(s []any) []any { delete(s[i].(object), name); return s })
	}
	whole := plan(func(s []any) []any { return s }).(object)
	with := func(o object, name string, v any) object { o = maps.Clone(o); o[name] = v; return o }
	task := func(change object) any {
		t := object{"id": "t1", "worker": "sales_worker", "args": object{"report_date": demo.ReportDate, "region": demo.Region}, "critical": true}
		maps.Copy(t, change)
		maps.DeleteFunc(t, func(_ string, v any) bool { return v == nil })
		return object{"kind": "plan", "tasks": []any{t}}
	}
	pay := func(name string, args object) any {
		return []any{lookUp, object{"kind": "tool", "name": name, "args": args}, closing}
	}
	good := object{"user_id": 42, "amount_usd": 10, "reason": "asked"}
	return []faulty{
		{td, "a tool's name misspelt", true, set(1, "tool", "fetch_sale_data"), nil},
		{td, "a tool's name in capitals", true, set(0, "tool", "Get_Manager_Profile"), nil},
		{td, "two misspelt names", true, plan(func(s []any) []any {
			s[0].(object)["tool"], s[2].(object)["tool"] = "get_manager_profil", "fetch_refunds_data"
			return s
		}), nil},
		{td, "a tool that does not exist", false, set(1, "tool", "send_report"), nil},
		{td, "a tool of another pattern", false, set(1, "tool", "issue_refund"), nil},
		{td, "kind in capitals", true, with(whole, "kind", "PLAN"), nil},
		{td, "a comment beside the steps", true, with(whole, "reasoning", "first the profile"), nil},
		{td, "a comment in a step", true, set(1, "why", "needed"), nil},
		{td, "an id twice", true, set(1, "id", "a"), nil},
		{td, "ids as numbers", true, set(1, "id", 2), nil},
		{td, "a step without id", false, drop(0, "id"), nil},
		{td, "a step without title", false, drop(1, "title"), nil},
		{td, "a member's name misspelt", true, plan(func(s []any) []any {
			s[0] = object{"id": "a", "titles": "A", "tool": "get_manager_profile", "args": object{"manager_id": 42}}
			return s
		}), nil},
		{td, "arguments in words", false, set(0, "args", "manager 42"), nil},
		{td, "arguments encoded twice", true, set(0, "args", `{"manager_id":42}`), nil},
		{td, "two steps instead of at least three", false, plan(func(s []any) []any { return s[:2] }), nil},
		{td, "a number in quotes", true, set(0, "args", object{"manager_id": "42"}), nil},
		{td, "an argument that the tool does not know", false, set(1, "args", object{"month": "2026-04", "limit": 5}), nil},
		{td, "an argument missing", false, set(1, "args", object{}), nil},
		{td, "an unknown argument of the call", false, whole, object{"golas": "x"}},
		{td, "finalize in quotes", true, whole, object{"finalize": "false"}},

		{or, "a worker's name misspelt", true, task(object{"worker": "sale_worker"}), nil},
		{or, "a worker that does not exist", false, task(object{"worker": "fraud_worker"}), nil},
		{or, "critical in quotes", true, task(object{"critical": "true"}), nil},
		{or, "arguments encoded twice", true, task(object{"args": `{"report_date":"2026-02-26","region":"US"}`}), nil},
		{or, "a member's name misspelt", true, task(object{"critical": nil, "worker": nil, "workers": "sales_worker"}), nil},
		{or, "no id", false, task(object{"id": nil}), nil},
		{or, "kind tasks", false, with(task(nil).(object), "kind", "tasks"), nil},
		{or, "no tasks", false, object{"kind": "plan", "tasks": []any{}}, nil},
		{or, "an id as a number", true, task(object{"id": 1}), nil},

		{rt, "a specialist's name misspelt", true, object{"target": "biling_specialist"}, nil},
		{rt, "a specialist's name with a hyphen", true, object{"target": "billing-specialist"}, nil},
		{rt, "half a name", false, object{"target": "billing"}, nil},
		{rt, "a specialist that does not exist", false, object{"target": "legal_specialist"}, nil},
		{rt, "a confidence beside the target", true, object{"target": "billing_specialist", "confidence": 0.9}, nil},
		{rt, "no target", false, object{"kind": "route"}, nil},
		{rt, "the target under another name", true, object{"route": "billing_specialist"}, nil},
		{rt, "arguments as a list", false, object{"target": "billing_specialist", "args": []any{}}, nil},
		{rt, "a wrong kind", false, object{"kind": "routing", "target": "billing_specialist"}, nil},

		{sv, "a tool's name misspelt", true, pay("issue_refnd", good), nil},
		{sv, "a tool that does not exist", false, pay("pay_out", good), nil},
		{sv, "a number in quotes", true, pay("issue_refund", object{"user_id": "42", "amount_usd": 10, "reason": "asked"}), nil},
		{sv, "an amount in quotes", true, pay("issue_refund", object{"user_id": 42, "amount_usd": "10", "reason": "asked"}), nil},
		{sv, "an amount with its currency", false, pay("issue_refund", object{"user_id": 42, "amount_usd": "10 USD", "reason": "asked"}), nil},
		{sv, "an argument's name misspelt", true, pay("issue_refund", object{"user_id": 42, "amount_us": 10, "reason": "asked"}), nil},
		{sv, "an argument missing", false, pay("issue_refund", object{"user_id": 42}), nil},
		{sv, "a comment in an action", true, []any{with(lookUp, "thought", "look first"), closing}, nil},
		{sv, "a final action with a tool's members", true, []any{lookUp, object{"kind": "final", "answer": "Done.", "args": object{}}}, nil},
		{sv, "arguments encoded twice", true, []any{object{"kind": "tool", "name": "get_refund_context", "args": `{"user_id":42}`}, closing}, nil},
		{sv, "kind in capitals", true, []any{with(lookUp, "kind", "Tool"), closing}, nil},
		{sv, "an empty answer", false, []any{lookUp, object{"kind": "final", "answer": " "}}, nil},
		{sv, "a text instead of an action", false, []any{"get_refund_context", closing}, nil},
		{sv, "a user's id as a double", true, []any{act("get_refund_context", object{"user_id": "42.0"}), closing}, nil},
	}
}

// round is what became of a faulty call.
type round struct {
	faulty
	reason   string // why it was refused
	changed  int    // repairs offered
	repaired bool   // sent as offered, it ran
}

// follow sends a faulty call, and then, once, what the refusal says to send.
func (f faulty) follow(t *testing.T) round {
	t.Helper()
	spec := specOf(t, f.kind)
	c := open(t, spec, offline.New(), time.Hour)
	defer c.close()
	name := map[gateway.Kind]string{td: "plan", or: "plan", rt: "route", sv: "actions"}[f.kind]
	arguments := with(f.kind, object{name: f.intent})
	if f.kind != sv {
		arguments["finalize"] = false
	}
	maps.Copy(arguments, f.also)
	first := c.call(spec.Name, arguments, false)
	r := round{faulty: f}
	r.reason, _ = first.object["stop_reason"].(string)
	next := first.object["next"].(object)
	changed, _ := next["changed"].([]any)
	r.changed = len(changed)
	again, _ := next["arguments"].(object)
	if fill, _ := next["fill"].([]any); next["action"] != "fix_and_retry" || again == nil || len(fill) > 0 {
		return r
	}
	second := c.call(spec.Name, again, false)
	r.repaired = second.object["status"] == "ok"
	return r
}

const repairPage = "../docs/repair.md"

// TestRepairLoop follows next blindly through every written fault: of the repairable ones at least four in five run when
// what was offered is sent as it is, and none of the others does.
func TestRepairLoop(t *testing.T) {
	var page strings.Builder
	page.WriteString(repairHead)
	all := faults()
	repairable, repaired, heading := 0, 0, ""
	for _, f := range all {
		r := f.follow(t)
		outcome := "left to the caller"
		switch {
		case r.repaired:
			outcome = "fixed"
		case f.repairable:
			outcome = "not fixed by one more call"
		}
		if f.repairable {
			repairable++
		}
		if f.repairable && r.repaired {
			repaired++
		}
		if !strings.HasPrefix(r.reason, "invalid_") && !strings.Contains(r.reason, "_bad_args:") {
			t.Errorf("%s, %s: ended by %q, want a refusal", f.kind, f.fault, r.reason)
		}
		if !f.repairable && r.repaired {
			t.Errorf("%s, %s: ran after a blind repair (%d changes)", f.kind, f.fault, r.changed)
		}
		if tool := toolOf(f.kind); tool != heading {
			heading = tool
			fmt.Fprintf(&page, "\n## `%s`\n\n%s", tool, repairColumns)
		}
		fmt.Fprintf(&page, "| %s | `%s` | %d | %s |\n", f.fault, r.reason, r.changed, outcome)
	}
	fmt.Fprintf(&page, "\nPatterngate suggests a fix for %d of these %d faults. One more call fixes %d of the %d (%d %%).\n",
		repairable, len(all), repaired, repairable, repaired*100/repairable)
	t.Log("\n" + page.String())
	if len(all) < 40 || repaired*5 < repairable*4 {
		t.Errorf("%d faults, %d of %d repaired; want at least 40 and 80 %%", len(all), repaired, repairable)
	}
	compareWithPage(t, page.String())
}

const repairHead = `# The repair loop

This page lists faults that models make in a plan, a route or actions, and how Patterngate refuses each. The last column says whether the
run succeeds if the client sends the suggested ` + "`next.arguments`" + ` unchanged. Patterngate suggests a fix only if there is exactly one
right answer. It never applies a fix by itself. A test writes this page (` + "`go test ./server -run TestRepairLoop -update`" + `).
`

const repairColumns = "| what is wrong | refused as | fixes offered | then |\n|---|---|---|---|\n"

func compareWithPage(t *testing.T, got string) {
	t.Helper()
	if server.Updating() {
		if err := os.WriteFile(repairPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(repairPage)
	if err != nil || string(want) != got {
		t.Errorf("%s is not what was measured (%v); go test ./server -run TestRepairLoop -update writes it anew", repairPage, err)
	}
}
