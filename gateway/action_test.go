package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/gateway/document"
)

func actionRules(t testing.TB) gateway.ActionRules {
	return gateway.ActionRules{Allowed: demo.RefundTools, Catalog: demoCatalog(t)}
}

func TestParseActionRefuses(t *testing.T) {
	tests := map[string]struct {
		reply string
		want  []string
	}{
		"prose":                  {"I will refund", []string{"invalid_action:non_json", " non_json"}},
		"list":                   {"[1]", []string{"invalid_action:not_object", " not_object"}},
		"null":                   {"null", []string{"invalid_action:not_object", " not_object"}},
		"empty object":           {"{}", []string{"invalid_action:bad_kind", "/kind bad_kind"}},
		"kind invalid":           {`{"kind":"invalid"}`, []string{"invalid_action:bad_kind", "/kind bad_kind"}},
		"kind in capitals":       {`{"kind":"TOOL","x":1}`, []string{"invalid_action:bad_kind", `/kind bad_kind ?tool /kind="tool"`}},
		"kind misspelt":          {`{"kind":"finale"}`, []string{"invalid_action:bad_kind", `/kind bad_kind ?final /kind="final"`}},
		"a model leaves no kind": {`{"name":"get_refund_context","args":{"user_id":42}}`, []string{"invalid_action:bad_kind", `/kind bad_kind /kind="tool"`}},
		"final, extra keys":      {`{"kind":"final","answer":"a","confidence":1,"name":"x"}`, []string{"invalid_action:extra_keys_final", "/confidence extra_keys_final -/confidence", "/name extra_keys_final"}},
		"final, both faults":     {`{"kind":"final","text":"a"}`, []string{"invalid_action:extra_keys_final", "/text extra_keys_final /answer</text", "/answer bad_final_answer"}},
		"final, answer null":     {`{"kind":"final","answer":null}`, []string{"invalid_action:bad_final_answer", "/answer bad_final_answer"}},
		"final, answer blank":    {`{"kind":"final","answer":"\u2007"}`, []string{"invalid_action:bad_final_answer", "/answer bad_final_answer"}},
		"final, answer a number": {`{"kind":"final","answer":1200}`, []string{"invalid_action:bad_final_answer", `/answer bad_final_answer /answer="1200"`}},
		"tool, everything wrong": {`{"kind":"tool","name":"","args":[],"thought":"..."}`, []string{"invalid_action:extra_keys_tool",
			"/thought extra_keys_tool -/thought", "/name bad_tool_name", "/args bad_tool_args"}},
		"tool, name missing": {`{"kind":"tool","args":{}}`, []string{"invalid_action:bad_tool_name", "/name bad_tool_name"}},
		"tool, args a text":  {`{"kind":"tool","name":"get_refund_context","args":"{}"}`, []string{"invalid_action:bad_tool_args", "/args bad_tool_args /args={}"}},
		"bad args first":     {`{"kind":"tool","name":"drop","args":[]}`, []string{"invalid_action:bad_tool_args", "/args bad_tool_args", "/name unknown_tool:drop"}},
		"unknown tool":       {`{"kind":"tool","name":" drop_table ","args":{"a":1}}`, []string{"invalid_action:unknown_tool:drop_table", "/name unknown_tool:drop_table"}},
		"tool of elsewhere":  {`{"kind":"tool","name":"sales_worker","args":{}}`, []string{"invalid_action:unknown_tool:sales_worker", "/name unknown_tool:sales_worker"}},
		"tool misspelt":      {`{"kind":"tool","name":"isue_refund","args":{}}`, []string{"invalid_action:unknown_tool:isue_refund", `/name unknown_tool:isue_refund ?issue_refund /name="issue_refund"`}},
		"args absent":        {`{"kind":"tool","name":"get_refund_context"}`, []string{"invalid_action:missing_required_arg:get_refund_context:user_id", "/args/user_id missing_required_arg:get_refund_context:user_id"}},
		"args null":          {`{"kind":"tool","name":"get_refund_context","args":null}`, []string{"invalid_action:missing_required_arg:get_refund_context:user_id", "/args/user_id missing_required_arg:get_refund_context:user_id"}},
		"extra arg":          {`{"kind":"tool","name":"get_refund_context","args":{"verbose":true,"user_id":42}}`, []string{"invalid_action:extra_tool_args:get_refund_context", "/args/verbose extra_tool_args:get_refund_context"}},
		"arg misspelt":       {`{"kind":"tool","name":"get_refund_context","args":{"userid":42}}`, []string{"invalid_action:extra_tool_args:get_refund_context", "/args/userid extra_tool_args:get_refund_context ?user_id /args/user_id</args/userid", "/args/user_id missing_required_arg:get_refund_context:user_id"}},
		"arg there, and again": {`{"kind":"tool","name":"get_refund_context","args":{"user_id":42,"User_ID":7}}`, []string{"invalid_action:extra_tool_args:get_refund_context",
			"/args/User_ID extra_tool_args:get_refund_context"}},
		"in the schema's order": {`{"kind":"tool","name":"send_refund_email","args":{"z":1,"amount_usd":"x","user_id":null}}`, []string{"invalid_action:extra_tool_args:send_refund_email",
			"/args/z extra_tool_args:send_refund_email", "/args/user_id bad_arg_type:send_refund_email:user_id",
			"/args/amount_usd bad_arg_type:send_refund_email:amount_usd", "/args/message missing_required_arg:send_refund_email:message"}},
		"missing before a later bad type": {`{"kind":"tool","name":"issue_refund","args":{"amount_usd":true}}`, []string{"invalid_action:missing_required_arg:issue_refund:user_id",
			"/args/user_id missing_required_arg:issue_refund:user_id", "/args/amount_usd bad_arg_type:issue_refund:amount_usd"}},
	}
	rules := actionRules(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			action, refusal := gateway.ParseAction(document.ReadReply(tt.reply), rules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseAction(%s), -want +got:\n%s", tt.reply, diff)
			}
			if diff := cmp.Diff(gateway.Action{}, action); diff != "" {
				t.Errorf("ParseAction(%s) refused and gave something:\n%s", tt.reply, diff)
			}
		})
	}
}

func TestParseActionTypes(t *testing.T) {
	tests := map[string]struct {
		arg, value string
		want       string // normalised; empty: refused
		fix        string // of a refused one
	}{
		"integer":                      {"user_id", "42", "42", ""},
		"integer as a whole float":     {"user_id", "42.0", "42", ""},
		"integer with an exponent":     {"user_id", "4.2e1", "42", ""},
		"integer minus zero":           {"user_id", "-0.0", "0", ""},
		"greatest integer":             {"user_id", "9007199254740991", "9007199254740991", ""},
		"whole, but beyond":            {"user_id", "1e22", "", ""},
		"just beyond":                  {"user_id", "9007199254740992.0", "", ""},
		"integer with a fraction":      {"user_id", "42.5", "", ""},
		"integer true":                 {"user_id", "true", "", ""},
		"integer null":                 {"user_id", "null", "", ""},
		"integer a list":               {"user_id", "[42]", "", ""},
		"integer as a text":            {"user_id", `"42"`, "", "42"},
		"integer as a padded text":     {"user_id", `"\u00a042 "`, "", "42"},
		"whole float as a text":        {"user_id", `"42.0"`, "", "42"},
		"fraction as a text":           {"user_id", `"42.5"`, "", ""},
		"words":                        {"user_id", `"forty-two"`, "", ""},
		"empty text":                   {"user_id", `""`, "", ""},
		"a boolean's text":             {"user_id", `"true"`, "", ""},
		"number":                       {"amount_usd", "0.1", "0.1", ""},
		"number without fraction":      {"amount_usd", "1200", "1200", ""},
		"negative number":              {"amount_usd", "-5", "-5", ""},
		"huge number":                  {"amount_usd", "1e300", "1e+300", ""},
		"number false":                 {"amount_usd", "false", "", ""},
		"number as a text":             {"amount_usd", `"0.10"`, "", "0.1"},
		"infinity as a text":           {"amount_usd", `"Infinity"`, "", ""},
		"text":                         {"reason", `" \u001cwhy  not\n"`, `"why  not"`, ""},
		"text a number":                {"reason", "42", "", `"42"`},
		"text a boolean":               {"reason", "false", "", `"false"`},
		"optional text null":           {"reason", "null", "", ""},
		"optional text blank":          {"reason", `"\u2028"`, "", ""},
		"text an object":               {"reason", "{}", "", ""},
		"zero width space is no blank": {"reason", `"\u200b"`, "\"\u200b\"", ""},
	}
	rules := actionRules(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := object(t, `{"user_id":42,"amount_usd":10}`)
			args[tt.arg] = decoded(t, tt.value)
			doc := map[string]any{"kind": "tool", "name": "issue_refund", "args": args}
			before := compact(doc)
			action, refusal := gateway.ParseAction(document.FromCaller(doc, ""), rules)
			if after := compact(doc); after != before {
				t.Errorf("ParseAction changed %s into %s", before, after)
			}
			if tt.want != "" {
				if refusal != nil || compact(action.Args[tt.arg]) != tt.want {
					t.Fatalf("ParseAction with %s %s = %s, %v, want %s", tt.arg, tt.value, compact(action.Args[tt.arg]), refusal, tt.want)
				}
				return
			}
			reason := "bad_arg_type:issue_refund:" + tt.arg
			line := "/args/" + tt.arg + " " + reason
			if tt.fix != "" {
				line += " /args/" + tt.arg + "=" + tt.fix
			}
			if diff := cmp.Diff([]string{"invalid_action:" + reason, line}, verdict(refusal)); diff != "" {
				t.Errorf("ParseAction with %s %s, -want +got:\n%s", tt.arg, tt.value, diff)
			}
		})
	}
}

func TestParseActionAccepts(t *testing.T) {
	tests := map[string]struct {
		intent document.Intent
		row    string
		filled string
		tool   string
	}{
		"call":                {document.ReadReply(`{"kind":"tool","name":"\u0085get_refund_context ","args":{"user_id":42.0}}`), `{"args":{"user_id":42},"kind":"tool","name":"get_refund_context"}`, "null", "get_refund_context"},
		"final":               {document.ReadReply(`{"kind":"final","answer":" Done.\n"}`), `{"answer":"Done.","kind":"final"}`, "null", "final"},
		"a caller's call":     {byCaller(t, `{"name":"get_refund_context","args":{"user_id":42}}`), `{"args":{"user_id":42},"kind":"tool","name":"get_refund_context"}`, `[{"pointer":"/it/kind","value":"tool"}]`, "get_refund_context"},
		"a caller's final":    {byCaller(t, `{"answer":"Done."}`), `{"answer":"Done.","kind":"final"}`, `[{"pointer":"/it/kind","value":"final"}]`, "final"},
		"a caller's own kind": {byCaller(t, `{"kind":"final","answer":"Done."}`), `{"answer":"Done.","kind":"final"}`, "null", "final"},
	}
	rules := actionRules(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			action, refusal := gateway.ParseAction(tt.intent, rules)
			if refusal != nil {
				t.Fatalf("ParseAction(%s): %v", compact(tt.intent.Value()), verdict(refusal))
			}
			if got := compact(action.Row()); got != tt.row {
				t.Errorf("ParseAction = %s, want %s", got, tt.row)
			}
			if got := compact(action.Filled); got != tt.filled {
				t.Errorf("ParseAction filled %s, want %s", got, tt.filled)
			}
			if got := action.Tool(); got != tt.tool {
				t.Errorf("Tool() = %s, want %s", got, tt.tool)
			}
		})
	}
}

func TestParseActionOfACallerRefuses(t *testing.T) {
	tests := map[string]struct {
		value string
		want  []string
	}{
		"neither name nor answer": {`{"args":{}}`, []string{"invalid_action:bad_kind", "/it/kind bad_kind"}},
		"both":                    {`{"name":"get_refund_context","answer":"x"}`, []string{"invalid_action:bad_kind", "/it/kind bad_kind"}},
		"null is no gap":          {`{"kind":null,"answer":"x"}`, []string{"invalid_action:bad_kind", "/it/kind bad_kind"}},
		"filled, then wrong":      {`{"answer":" ","args":{}}`, []string{"invalid_action:extra_keys_final", "/it/args extra_keys_final -/it/args", "/it/answer bad_final_answer"}},
		"text":                    {`"issue_refund"`, []string{"invalid_action:not_object", "/it not_object"}},
	}
	rules := actionRules(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, refusal := gateway.ParseAction(byCaller(t, tt.value), rules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseAction(%s), -want +got:\n%s", tt.value, diff)
			}
		})
	}
}

func TestParseActionOfAllowedToolsThatDoNotExist(t *testing.T) {
	call := document.ReadReply(`{"kind":"tool","name":"refund_v2","args":{"a":null}}`)
	for name, c := range map[string]*catalog.Catalog{"no catalog": nil, "empty catalog": {}, "other tools": demoCatalog(t)} {
		action, refusal := gateway.ParseAction(call, gateway.ActionRules{Allowed: []string{"refund_v2"}, Catalog: c})
		if refusal != nil || compact(action.Args) != `{"a":null}` {
			t.Errorf("%s: ParseAction of an allowed tool = %v, %v; the gate is to say that it is missing", name, action, refusal)
		}
	}
	if _, refusal := gateway.ParseAction(call, gateway.ActionRules{}); refusal == nil || refusal.Reason != "invalid_action:unknown_tool:refund_v2" {
		t.Errorf("ParseAction under no rules: %v", refusal)
	}
}
