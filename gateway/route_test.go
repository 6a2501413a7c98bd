package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
)

var routeRules = gateway.RouteRules{
	Allowed:   []string{"billing_specialist", "technical_specialist", "sales_specialist"},
	Forbidden: []string{"technical_specialist"},
	Ticket:    " My\tticket ",
}

func TestParseRouteRefuses(t *testing.T) {
	tests := map[string]struct {
		reply string
		want  []string
	}{
		"prose":        {"billing_specialist", []string{"invalid_route:non_json", " non_json"}},
		"null":         {"null", []string{"invalid_route:not_object", " not_object"}},
		"text":         {`"billing_specialist"`, []string{"invalid_route:not_object", " not_object"}},
		"empty object": {"{}", []string{"invalid_route:bad_kind", `/kind bad_kind /kind="route"`, "/target missing_target", "/args/ticket missing_ticket"}},
		"kind invalid": {`{"kind":"invalid","raw":"x"}`, []string{"invalid_route:bad_kind", "/kind bad_kind", "/raw extra_keys", "/target missing_target", "/args/ticket missing_ticket"}},
		"other kind":   {`{"kind":"tool","target":"billing_specialist","args":{"ticket":"x"}}`, []string{"invalid_route:bad_kind", "/kind bad_kind"}},
		"extra keys": {`{"kind":"route","confidence":0.9,"target":"x","args":[]}`, []string{"invalid_route:extra_keys",
			"/confidence extra_keys -/confidence", "/target route_not_allowed:x", "/args bad_args"}},
		"target blank":  {`{"kind":"route","target":"\u00a0","args":{"ticket":"x"}}`, []string{"invalid_route:missing_target", "/target missing_target"}},
		"target a list": {`{"kind":"route","target":["billing_specialist"],"args":{"ticket":"x"}}`, []string{"invalid_route:missing_target", "/target missing_target"}},
		"target not allowed, before its args": {`{"kind":"route","target":" legal ","args":{}}`, []string{"invalid_route:route_not_allowed:legal",
			"/target route_not_allowed:legal", "/args/ticket missing_ticket"}},
		"target misspelt": {`{"kind":"route","target":"billing_specialst","args":{"ticket":"x"}}`, []string{"invalid_route:route_not_allowed:billing_specialst",
			`/target route_not_allowed:billing_specialst ?billing_specialist /target="billing_specialist"`}},
		"args a list":      {`{"kind":"route","target":"billing_specialist","args":["refund"]}`, []string{"invalid_route:bad_args", "/args bad_args"}},
		"args null":        {`{"kind":"route","target":"billing_specialist","args":null}`, []string{"invalid_route:missing_ticket", "/args/ticket missing_ticket"}},
		"args absent":      {`{"kind":"route","target":"billing_specialist"}`, []string{"invalid_route:missing_ticket", "/args/ticket missing_ticket"}},
		"ticket null":      {`{"kind":"route","target":"billing_specialist","args":{"ticket":null}}`, []string{"invalid_route:missing_ticket", "/args/ticket missing_ticket"}},
		"ticket blank":     {`{"kind":"route","target":"billing_specialist","args":{"ticket":"\u001c\n"}}`, []string{"invalid_route:missing_ticket", "/args/ticket missing_ticket"}},
		"ticket a number":  {`{"kind":"route","target":"billing_specialist","args":{"ticket":42}}`, []string{"invalid_route:missing_ticket", `/args/ticket missing_ticket /args/ticket="42"`}},
		"declined already": {`{"kind":"route","target":" technical_specialist","args":{"ticket":"x"}}`, []string{"invalid_route:repeat_target_after_reroute", "/target repeat_target_after_reroute"}},
		"ticket before the repetition": {`{"kind":"route","target":"technical_specialist","args":{}}`, []string{"invalid_route:missing_ticket",
			"/args/ticket missing_ticket", "/target repeat_target_after_reroute"}},
		"args before the repetition": {`{"kind":"route","target":"technical_specialist","args":1}`, []string{"invalid_route:bad_args",
			"/args bad_args", "/target repeat_target_after_reroute"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			route, refusal := gateway.ParseRoute(document.ReadReply(tt.reply), routeRules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseRoute(%s), -want +got:\n%s", tt.reply, diff)
			}
			if route.Target != "" || route.Args != nil || route.Filled != nil {
				t.Errorf("ParseRoute(%s) refused and gave %v", tt.reply, route)
			}
		})
	}
}

func TestParseRouteAccepts(t *testing.T) {
	tests := map[string]struct {
		intent document.Intent
		row    string
		filled string
	}{
		"a model's": {document.ReadReply(`{"kind":"route","target":"\u2029billing_specialist ","args":{"ticket":"  a\u00a0b\n\nc ","priority":{"n":" 1  2 "}}}`),
			`{"args":{"priority":{"n":" 1  2 "},"ticket":"a b c"},"kind":"route","target":"billing_specialist"}`, "null"},
		"a caller's, whole": {byCaller(t, `{"kind":"route","target":"sales_specialist","args":{"ticket":"x"}}`),
			`{"args":{"ticket":"x"},"kind":"route","target":"sales_specialist"}`, "null"},
		"a caller's target alone": {byCaller(t, `{"target":"sales_specialist"}`),
			`{"args":{"ticket":"My ticket"},"kind":"route","target":"sales_specialist"}`,
			`[{"pointer":"/it/kind","value":"route"},{"pointer":"/it/args/ticket","value":"My ticket"}]`},
		"a caller's with other arguments": {byCaller(t, `{"kind":"route","target":"sales_specialist","args":{"note":1}}`),
			`{"args":{"note":1,"ticket":"My ticket"},"kind":"route","target":"sales_specialist"}`,
			`[{"pointer":"/it/args/ticket","value":"My ticket"}]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := compact(tt.intent.Value())
			route, refusal := gateway.ParseRoute(tt.intent, routeRules)
			if refusal != nil {
				t.Fatalf("ParseRoute(%s): %v", before, verdict(refusal))
			}
			if got := compact(route.Row()); got != tt.row {
				t.Errorf("ParseRoute(%s) = %s, want %s", before, got, tt.row)
			}
			if got := compact(route.Filled); got != tt.filled {
				t.Errorf("ParseRoute(%s) filled %s, want %s", before, got, tt.filled)
			}
			if after := compact(tt.intent.Value()); after != before {
				t.Errorf("ParseRoute changed %s into %s", before, after)
			}
		})
	}
}

func TestParseRouteOfACallerRefuses(t *testing.T) {
	tests := map[string]struct {
		value string
		rules gateway.RouteRules
		want  []string
	}{
		"no ticket to fill in":    {`{"target":"sales_specialist"}`, gateway.RouteRules{Allowed: routeRules.Allowed, Ticket: " \n"}, []string{"invalid_route:missing_ticket", "/it/args/ticket missing_ticket"}},
		"ticket null is no gap":   {`{"target":"sales_specialist","args":{"ticket":null}}`, routeRules, []string{"invalid_route:missing_ticket", "/it/args/ticket missing_ticket"}},
		"no rules":                {`{"target":"sales_specialist","args":{"ticket":"x"}}`, gateway.RouteRules{}, []string{"invalid_route:route_not_allowed:sales_specialist", "/it/target route_not_allowed:sales_specialist"}},
		"declined and misspelt":   {`{"target":"technical_specialist","arg":{}}`, routeRules, []string{"invalid_route:extra_keys", "/it/arg extra_keys ?args /it/args</it/arg", "/it/target repeat_target_after_reroute"}},
		"a text instead of route": {`"sales_specialist"`, routeRules, []string{"invalid_route:not_object", "/it not_object"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, refusal := gateway.ParseRoute(byCaller(t, tt.value), tt.rules)
			if diff := cmp.Diff(tt.want, verdict(refusal)); diff != "" {
				t.Errorf("ParseRoute(%s), -want +got:\n%s", tt.value, diff)
			}
		})
	}
}
