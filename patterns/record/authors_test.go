package record

import (
	"fmt"
	"slices"
	"testing"
)

// Each row about a proposal has its author, by branch, and what a rule changed in it: up to the next judgment, question or call of the
// same tool, and not beyond another proposal.
func TestAuthorsAndRevisions(t *testing.T) {
	story := Read(events(
		`1 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"supervisor"}`,
		`2 intent action#1 {"effect_kind":"model","name":"action","input":{}}`,
		`3 outcome action#1 {"state":"ok","output":"{}","usage":{"llm_calls":0}}`,
		`4 judged judge#1 {"phase":"supervisor","decision":"revise","rule":"why","proposal":{"name":"pay","args":{"amount":5,"old":1}}}`,
		`5 judged judge#2 {"phase":"supervisor","decision":"revise","rule":"cap","proposal":{"name":"pay","args":{"amount":5,"reason":"x"}}}`,
		`6 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}},"object":{"args":{"amount":3,"reason":"x"},"expires":"2026-11-22T09:30:00Z"}}`,
		`7 outcome approve#1 {"state":"ok","output":{"approved":false}}`,
		`8 intent action#2 {"effect_kind":"model","name":"action","input":{}}`,
		`9 outcome action#2 {"state":"ok","output":"{}","usage":{"llm_calls":1,"input_tokens":1}}`,
		`10 judged judge#3 {"phase":"supervisor","decision":"revise","rule":"why","proposal":{"name":"mail","args":{"to":1}}}`,
		`11 intent action#3 {"effect_kind":"caller","name":"turn","input":{}}`,
		`12 outcome action#3 {"state":"ok","output":{}}`,
		`13 intent mail#1 {"effect_kind":"tool","name":"mail","effect":"write","input":{"to":2}}`,
		`14 outcome mail#1 {"state":"ok","output":{}}`,
	))
	authors := story.Authors()
	var got []string
	for i, r := range story.Rows {
		var edits []string
		for _, e := range story.Revisions(i) {
			edits = append(edits, fmt.Sprintf("%s %s>%s", e.Name, e.From, e.To))
		}
		got = append(got, fmt.Sprint(r.Name, " ", authors[i], edits))
	}
	want := []string{
		"action []", "pay rules[old 1> reason >\"x\"]", "pay rules[amount 5>3]", "approve rules[]", "action []", "mail model[]", "turn []", "mail caller[]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are\n%q, want\n%q", got, want)
	}
}
