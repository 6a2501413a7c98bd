package redaction

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// What an expression reads, by its words.
func TestExpressionsThatReadHiddenPlaces(t *testing.T) {
	pointers := []string{"/args/card", "/args/nested/*/pin", "/result/*/email", "/result/iban", "/input/code", "/answer", "pay:/args/pin", "/vars/right"}
	tests := map[string]bool{
		`args.card`: true, `args.?card.orValue("")`: true, `args["card"]`: true, `args[?"card"]`: true, `has(args.card)`: true, `.args.card`: true, "args . \n card": true,
		`args.card.size() > 3`: true, `args.card.a.b`: true, `size(args.card)`: true, "args.`card`": true, `args[r"card"]`: true, `args["c\u0061rd"]`: true,
		`args.cards`: false, `args.to`: false, `args.to.card`: false, `"args.card" == args.to`: false, `args.to // args.card`: false, `'args.card'`: false,
		`args.to + 'it\'s args.card'`: false, `"""args.card "quoted" """ + args.to`: false, `r"\" + args.card`: true,
		`args`: true, `args == {"a": 1}`: true, `size(args)`: true, `args.size()`: true, `args[args.to]`: true, `"x" in args`: true, `cel.bind(a, args, a.card)`: true,
		`args.nested`: true, `args.nested.x.pin`: true, `args.nested.x.name`: false, `args.nested.x`: true, `args.nested.exists(n, n == "")`: true,
		`args.pin`: true, `args.answer`: true, // of any tool, where nobody says whose
		`run.effects.map(e, e.args.card)`: true, `run.effects.exists(e, e["args"]["card"] == "")`: true, `e["\x61rgs"].card`: true, `run.effects.exists(e, e.args.to == "")`: false,
		`run.effects.exists(e, e.args.pin == 1)`: true, `run.effects.all(e, e.args == args)`: true,
		`run.effects.map(e, e.args).exists(a, a.card == "")`: true, `e.result.iban`: true, `e.result.a.email`: true, `e.result.a.name`: false, `e.result.a`: true, `e.result`: true,
		`e.?result.?iban`: true, `e.result.status`: true, // an email may lie below it
		`input.code`: true, `input.card`: true, `input.name`: false, `run.input.code`: false,
		`vars.right`: true, `vars["right"]`: true, `vars.righteous`: false, `vars.spent`: false, `run.steps`: false, `now`: false, ``: false, `"args`: false, `params.card`: false,
		strings.Repeat("a", maxExpression): false, strings.Repeat("a", maxExpression+1): true, // the rest may be cut
	}
	r, err := Read(pointers)
	if err != nil {
		t.Fatal(err)
	}
	w := walk{Values: r.Values(), tools: r.tools}
	for text, want := range tests {
		if got := w.reads(text); got != want {
			t.Errorf("%.60q reads what is hidden: %v, want %v", text, got, want)
		}
	}
	w.only("look")
	if w.reads("args.pin") || !w.reads("e.args.pin") || !w.reads("args.card") {
		t.Error("another tool's place counts in this one's arguments, or not in those of other calls")
	}
	if open := (&walk{Values: Rules{}.Values()}); open.reads("args.card") || open.reads(strings.Repeat("a", 300)) {
		t.Error("it hides without a place")
	}
}

func TestRedactedVars(t *testing.T) {
	names := []string{"spent", "right", "twice", "short"}
	texts := []string{`sum(run.effects.map(e, e.args.cents))`, `args.pin == "12"`, `vars.right && vars.spent > 0`, `vars.spent > 0`}
	if got, want := ComputedVars([]string{"/args/pin"}, names, texts), []string{"/vars/right", "/vars/twice"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := ComputedVars(nil, names, texts); got != nil {
		t.Errorf("without places %q", got)
	}
}

// What rules computed from hidden values is in no event, however little of them it says, and is there again for a replay.
func TestRedactedRules(t *testing.T) {
	values := map[string]any{
		"args.pin": 42.0, `args.pin == 42`: true, "vars.right": "yes-right", "args.to": "u42", "vars.spent": 7.0, `run.effects.exists(e, e.result.mail == "")`: false,
	}
	verdict := map[string]any{"decision": "revise", "rule": "r", "passes": 2.0, "values": values}
	tests := map[string]journal.Event{
		"a verdict": {Kind: patterns.IntentEvent, Key: "pay#1", Body: journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay", Input: ijson.Canonical(map[string]any{"to": "u42"}), Verdict: verdict}},
		"a verdict of what was changed": {Kind: patterns.IntentEvent, Key: "pay#1", Body: journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay", Input: ijson.Canonical(map[string]any{"to": "u42"}),
			Verdict: map[string]any{"decision": "revise", "proposed": map[string]any{"args": map[string]any{"pin": 42.0, "to": "u42"}}}}},
		"a judgment": {Kind: patterns.JudgedEvent, Key: "j", Body: journal.JudgedBody{"decision": "block", "proposal": map[string]any{"tool": "pay", "args": map[string]any{"pin": 42.0, "to": "u42"}}, "values": values,
			"changed": map[string]any{"pin": 42.0, "to": "u42"}}},
		"a weighing": {Kind: patterns.JudgedEvent, Key: "judge#1", Body: journal.JudgedBody{"decision": "approve", "phase": "execute", "proposal": map[string]any{"tool": "pay", "args": map[string]any{"to": "u42"}},
			"windows": map[string]any{"p.day": map[string]any{"effects": 3.0}}, "changed": map[string]any{"pin": 42.0}, "revised_by": []any{map[string]any{"rule": "r", "values": values}}}},
		"a question": {Kind: patterns.IntentEvent, Key: "approve#1", Body: journal.IntentBody{Kind: patterns.HumanEffect, Name: "approve", Values: values, Input: ijson.Canonical(map[string]any{"to": "u42"})}},
		"the end":    {Kind: patterns.EndEvent, Body: journal.EndBody{Envelope: ijson.Canonical(map[string]any{"blocked": map[string]any{"tool": "pay", "values": values}, "to": "u42"})}},
	}
	for name, event := range tests {
		t.Run(name, func(t *testing.T) {
			tail := sealer(t, "pay:/args/pin", "/result/mail", "/vars/right")
			event.Seq, event.At = 1, time.UnixMicro(1)
			stored := tail.seal(event)
			body := string(stored.Body)
			for _, secret := range []string{`:42[,}]`, `== 42":true`, "yes-right", `""\)":false`} { // a hash may begin with 42
				if regexp.MustCompile(secret).MatchString(body) {
					t.Errorf("%s tells %s", body, secret)
				}
			}
			for _, open := range []string{"u42"} {
				if !strings.Contains(body, open) {
					t.Errorf("%s is without %s", body, open)
				}
			}
			if strings.Contains(body, "vars.spent") && !strings.Contains(body, `"vars.spent":7`) {
				t.Errorf("%s is without what reads nothing hidden", body)
			}
			if got, want := string(tail.opened(t, []patterns.Event{stored})[0].Body), string(journal.Encode(event.Body)); got != want {
				t.Errorf("revealed %s\nwant %s", got, want)
			}
		})
	}
}
