package facts

import (
	"encoding/json"
	"fmt"
	"testing"

	"patterngate/patterns/record"
)

func result(tool string, values ...string) record.Observed {
	o := record.Observed{Tool: tool}
	for i := 0; i+1 < len(values); i += 2 {
		o.Result = append(o.Result, record.Argument{Name: values[i], Value: json.RawMessage(values[i+1])})
	}
	return o
}

// A fact has plain words, its unit and where the value came from. An expression that is no name stays as it is.
func TestRead(t *testing.T) {
	b := record.Behind{ProposedBy: "gpt", RevisedBy: []string{"cap"}, Revised: []string{"reason"}}
	if got := Author("note", true, b); got != "written by the model gpt" {
		t.Errorf("a text is %q", got)
	}
	list, left := Read(map[string]any{
		"args.amount_usd": 1200.0, "args.reason": "late\u202e", "params.auto_refund_limit_usd": 1000.5, "vars.spent": 3.0, "windows.refunds.today": 2.0, "size(args.list)": 4.0,
		"args.rate_usd": 0.125,
	}, b)
	want := []Fact{
		{"amount", "1200.00 USD", "proposed by the model gpt", "args.amount_usd"},
		{"rate usd", "0.125", "proposed by the model gpt", "args.rate_usd"},
		{"reason", `"late\u202e"`, "written by rule cap", "args.reason"},
		{"auto refund limit", "1000.50 USD", "policy setting", "params.auto_refund_limit_usd"},
		{"size(args.list)", "4", "read by the rule", ""},
		{"spent", "3", "from earlier results, or calculated by the policy", "vars.spent"},
		{"today", "2", "counted over earlier runs", "windows.refunds.today"},
	}
	if fmt.Sprint(list) != fmt.Sprint(want) || left != 0 {
		t.Errorf("the facts are\n%q, %d left, want\n%q", list, left, want)
	}
}

// Two values of one name keep their paths, and who wrote a member is who wrote its argument. What a client says is its claim.
func TestReadTellsApart(t *testing.T) {
	b := record.Behind{ProposedBy: "gpt", RevisedBy: []string{"cap"}, Revised: []string{"reason"}}
	list, _ := Read(map[string]any{"args.customer.reason": "late", "args.from.amount_usd": 1.0, "args.reason.text": "no", "args.to.amount_usd": 2.0, "client.name": "desk"}, b)
	want := []Fact{
		{"reason", `"late"`, "written by the model gpt", "args.customer.reason"},
		{"args.from.amount_usd", "1.00 USD", "proposed by the model gpt", ""},
		{"text", `"no"`, "written by rule cap", "args.reason.text"},
		{"args.to.amount_usd", "2.00 USD", "proposed by the model gpt", ""},
		{"name", `"desk"`, "claimed by the client, not checked", "client.name"},
	}
	if fmt.Sprint(list) != fmt.Sprint(want) {
		t.Errorf("the facts are\n%q, want\n%q", list, want)
	}
}

// Of each tool the newest result counts, without ids and names, and no more than a person reads.
func TestObserved(t *testing.T) {
	old, now := result("look", "/paid_usd", "1"), result("look", "/user/id", "42", "/user/name", `"Anna"`, "/paid_usd", "1500", "/odd~1key", "true", "/list", "[]", "/text", `"<b>\u202e"`)
	many := record.Observed{Tool: "count"}
	for i := range 10 {
		many.Result = append(many.Result, record.Argument{Name: fmt.Sprintf("/n%d", i), Value: json.RawMessage("1")})
	}
	list, left := Observed(record.Behind{Observed: []record.Observed{old, many, now}})
	if got, want := fmt.Sprint(list), `[{look [{paid_usd 1500.00 USD  /paid_usd} {odd/key true  /odd~1key} {text "<b>\u202e"  /text}]} {count [{n0 1  /n0} {n1 1  /n1} {n2 1  /n2}]}]`; got != want {
		t.Errorf("the results are\n%s, want\n%s", got, want)
	}
	if left != 10 { // an id, a name and a list of look, seven numbers of count
		t.Errorf("%d values are left, want 10", left)
	}
}

// A member's name stays as the tool wrote it. Equal names are told apart by their pointers. Values that the record cut count as left.
func TestObservedNames(t *testing.T) {
	o := result("look", "/from/amount_usd", "1", "/to/amount_usd", "2", "/approved_by_cfo", "true")
	o.Left = 3
	list, left := Observed(record.Behind{Observed: []record.Observed{o}})
	if got, want := fmt.Sprint(list), `[{look [{/from/amount_usd 1.00 USD  } {/to/amount_usd 2.00 USD  } {approved_by_cfo true  /approved_by_cfo}]}]`; got != want || left != 3 {
		t.Errorf("the results are\n%s, %d left, want\n%s, 3 left", got, left, want)
	}
}
