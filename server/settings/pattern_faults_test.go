package settings_test

import "testing"

// What an entry under patterns is (spec/config.md section 7).
func TestLoadConfigRefusesPatterns(t *testing.T) {
	testFaults(t, map[string]faultCase{
		"misspelt pattern": {
			"version: 1\npatterns: {route_tickt: {}}\n",
			"pg.yaml:2:12: patterns.route_tickt: unknown pattern; did you mean route_ticket?",
		},
		"own pattern": {
			"version: 1\npatterns: {order_desk: {kind: routing}}\n",
			"pg.yaml:2:24: patterns.order_desk.title: missing; write a few words that people read\n" +
				"pg.yaml:2:24: patterns.order_desk.description: missing; write what it does and when to use it, for the model\n" +
				"pg.yaml:2:24: patterns.order_desk.routes: missing; write its routes: {NAME: {tool: TOOL}}, or a list of tools",
		},
		"other kind": {
			"version: 1\npatterns: {route_ticket: {kind: supervisor}}\n",
			`pg.yaml:2:33: patterns.route_ticket.kind: got "supervisor"; write routing or remove it`,
		},
		"yes": {
			"version: 1\npatterns: {route_ticket: {enabled: yes}}\n",
			`pg.yaml:2:36: patterns.route_ticket.enabled: got "yes"; write true`,
		},
		"off": {
			"version: 1\npatterns: {route_ticket: {enabled: Off}}\n",
			`pg.yaml:2:36: patterns.route_ticket.enabled: got "Off"; write false`,
		},
		"zero for a boolean": {
			"version: 1\npatterns: {route_ticket: {enabled: 0}}\n",
			"pg.yaml:2:36: patterns.route_ticket.enabled: got 0; write true or false",
		},
		"misspelt budget": {
			"version: 1\npatterns:\n  route_ticket: {budget: {max_delegatoins: 3}}\n",
			"pg.yaml:3:27: patterns.route_ticket.budget.max_delegatoins: unknown key; did you mean max_delegations?",
		},
		"budget of another kind": {
			"version: 1\npatterns: {route_ticket: {budget: {max_tasks: 3}}}\n",
			"pg.yaml:2:36: patterns.route_ticket.budget.max_tasks: a limit of kind orchestrator; remove it",
		},
		"negative count": {
			"version: 1\npatterns: {route_ticket: {budget: {max_delegations: -1}}}\n",
			"pg.yaml:2:53: patterns.route_ticket.budget.max_delegations: got -1; write a whole number from 0 to 10000",
		},
		"large count": {
			"version: 1\npatterns: {route_ticket: {budget: {max_delegations: 10001}}}\n",
			"pg.yaml:2:53: patterns.route_ticket.budget.max_delegations: got 10001; write a whole number from 0 to 10000",
		},
		"no parallel tasks": {
			"version: 1\npatterns: {run_orchestrator: {budget: {max_parallel: 0}}}\n",
			"pg.yaml:2:54: patterns.run_orchestrator.budget.max_parallel: got 0; write a whole number from 1 to 256",
		},
		"too parallel": {
			"version: 1\npatterns: {run_orchestrator: {budget: {max_parallel: 257}}}\n",
			"pg.yaml:2:54: patterns.run_orchestrator.budget.max_parallel: got 257; write a whole number from 1 to 256",
		},
		"a day and a second": {
			"version: 1\npatterns: {run_orchestrator: {budget: {max_seconds: 86401}}}\n",
			"pg.yaml:2:53: patterns.run_orchestrator.budget.max_seconds: got 86401; write a number of seconds from 0 to 86400",
		},
		"text for a count": {
			"version: 1\npatterns: {run_orchestrator: {budget: {max_tasks: \"6\"}}}\n",
			`pg.yaml:2:51: patterns.run_orchestrator.budget.max_tasks: got "6"; write a whole number: 6`,
		},
		"name for a list": {
			"version: 1\npatterns: {run_orchestrator: {allow: {policy: sales_worker}}}\n",
			`pg.yaml:2:47: patterns.run_orchestrator.allow.policy: got "sales_worker"; write a list: [sales_worker]`,
		},
		"mapping for a list": {
			"version: 1\npatterns: {run_orchestrator: {allow: {policy: {}}}}\n",
			"pg.yaml:2:47: patterns.run_orchestrator.allow.policy: got a mapping; write a list of names, [] for none",
		},
		"number in a list": {
			"version: 1\npatterns: {run_orchestrator: {allow: {execution: [sales_worker, 42]}}}\n",
			"pg.yaml:2:65: patterns.run_orchestrator.allow.execution[1]: got 42; write a name: 1 to 64 letters, digits, _ and -",
		},
		"null in a list": {
			"version: 1\npatterns: {run_orchestrator: {allow: {execution: [null]}}}\n",
			"pg.yaml:2:51: patterns.run_orchestrator.allow.execution[0]: got null; write a name: 1 to 64 letters, digits, _ and -",
		},
		"no name": {
			"version: 1\npatterns: {run_orchestrator: {allow: {execution: [\"a b\"]}}}\n",
			`pg.yaml:2:51: patterns.run_orchestrator.allow.execution[0]: got "a b"; write a name: 1 to 64 letters, digits, _ and -`,
		},
		"params elsewhere": {
			"version: 1\npatterns: {route_ticket: {params: {auto_refund_limit_usd: 1}}}\n",
			"pg.yaml:2:27: patterns.route_ticket.params: no policy that has params; write policy: NAME beside them, or remove them",
		},
		"unknown param": {
			"version: 1\npatterns: {supervised_refund: {params: {auto_refund_limit: 1}}}\n",
			"pg.yaml:2:41: patterns.supervised_refund.params.auto_refund_limit: unknown key; did you mean auto_refund_limit_usd?",
		},
		"negative money": {
			"version: 1\npatterns: {supervised_refund: {params: {auto_refund_limit_usd: -0.01}}}\n",
			"pg.yaml:2:64: patterns.supervised_refund.params.auto_refund_limit_usd: got -0.01; write an amount in USD from 0 on",
		},
		"money as text": {
			"version: 1\npatterns: {supervised_refund: {params: {max_refund_per_run_usd: \"900 USD\"}}}\n",
			`pg.yaml:2:65: patterns.supervised_refund.params.max_refund_per_run_usd: got "900 USD"; write an amount in USD: 900`,
		},
		"half a day": {
			"version: 1\npatterns: {supervised_refund: {params: {refund_window_days: 0.5}}}\n",
			"pg.yaml:2:61: patterns.supervised_refund.params.refund_window_days: got 0.5; write a whole number from 0 to 9007199254740991",
		},
		"approver that does not exist": {
			"version: 1\npatterns: {supervised_refund: {approver: {kind: indox}}}\n",
			`pg.yaml:2:49: patterns.supervised_refund.approver.kind: got "indox"; write inbox, simulated or reject; did you mean inbox?`,
		},
		"a person without a record": {
			"version: 1\nstate: ':memory:'\npatterns: {supervised_refund: {approver: {kind: inbox}}}\n",
			"pg.yaml:3:49: patterns.supervised_refund.approver.kind: inbox with state :memory:: a run that is not recorded cannot wait for a person; name a file with state or --state, or write reject or simulated",
		},
		"too little time": {
			"version: 1\npatterns: {supervised_refund: {approver: {expires_seconds: 59}}}\n",
			"pg.yaml:2:60: patterns.supervised_refund.approver.expires_seconds: got 59; write a whole number of seconds from 60 to 2592000",
		},
		"half a second": {
			"version: 1\npatterns: {supervised_refund: {approver: {expires_seconds: 60.5}}}\n",
			"pg.yaml:2:60: patterns.supervised_refund.approver.expires_seconds: got 60.5; write a whole number of seconds from 60 to 2592000",
		},
		"a day in words": {
			"version: 1\npatterns: {supervised_refund: {approver: {expires_seconds: 24h}}}\n",
			`pg.yaml:2:60: patterns.supervised_refund.approver.expires_seconds: got "24h"; write a whole number of seconds: 86400`,
		},
		"assurance of nobody": {
			"version: 1\npatterns: {supervised_refund: {approver: {min_assurance: simulated}}}\n",
			`pg.yaml:2:58: patterns.supervised_refund.approver.min_assurance: got "simulated"; write user or signed`,
		},
		"approver as a word": {
			"version: 1\npatterns: {supervised_refund: {approver: simulated}}\n",
			`pg.yaml:2:42: patterns.supervised_refund.approver: got "simulated"; write a mapping with kind, cap_usd, expires_seconds or min_assurance`,
		},
		"negative cap": {
			"version: 1\npatterns: {supervised_refund: {approver: {cap_usd: -1}}}\n",
			"pg.yaml:2:52: patterns.supervised_refund.approver.cap_usd: got -1; write an amount in USD from 0 on",
		},
	})
}
