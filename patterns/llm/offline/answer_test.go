package offline

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"patterngate/ijson"
)

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(map[string]any)
}

func TestComposeAnswer(t *testing.T) {
	for name, c := range map[string]struct{ payload, want string }{
		"nothing": {`{"goal": "g", "history": []}`, "Nothing was found: no step returned any data."},
		"figures": {`{"history": [{"plan_step": {"tool": "get_van_costs"}, "observation":
			{"month": "2027-05", "cost_usd": 12345, "fee_eur": 2.5, "failure_rate": 0.125, "stops": 1234567, "van_id": 1234567, "year": 2027}}]}`,
			"Van costs: cost 12,345 USD, failure rate 12.5%, fee 2.50 EUR, month 2027-05, stops 1,234,567, van id 1234567, year 2027."},
		"whose name it is": {`{"history": [{"plan_step": {"tool": "show"}, "observation": {"driver": {"id": 7, "name": "Lena"}}}]}`,
			"Show: driver name Lena, driver id 7."},
		"lists": {`{"history": [{"plan_step": {"tool": "show"}, "observation": {"warnings": ["low oil", "flat tyre"], "stops": [{"a": 1}, {"a": 2}], "none": []}}]}`,
			"Show: stops: 2 entries, warnings: low oil; flat tyre."},
		"said once": {`{"history": [{"plan_step": {"tool": "a"}, "observation": {"month": "2027-05", "x": 1}}, {"plan_step": {"tool": "b"}, "observation": {"month": "2027-05", "y": true}}]}`,
			"A: month 2027-05, x 1. B: y yes."},
		"an error": {`{"history": [{"plan_step": {"tool": "get_van"}, "observation": {"error": "van 7 not found"}}]}`,
			"Van: error, van 7 not found."},
		"routes": {`{"history": [{"route": {"target": "garage"}, "observation": {"status": "needs_reroute", "reason": "not_mine"}},
			{"route": {"target": "pay_desk"}, "observation": {"status": "done", "domain": "pay", "result": {"eligible": false, "currency": "EUR", "pay_eur": 9}}}]}`,
			"Garage passed it on (not_mine). Pay desk: eligible no, pay 9 EUR."},
		"aggregate": {`{"aggregate": {"region": "north", "health": "unknown", "fuel": {"price_eur": 1.5}, "parcels": {}, "missing": ["parcels"],
			"sources": {"fuel": "t1"}, "failed_tasks": [{"worker": "w", "stop_reason": "task_timeout"}]}}`,
			"Health unknown, region north. Fuel: price 1.50 EUR. No data: parcels. Failed: w (task_timeout)."},
		"cut result": {`{"history": [{"plan_step": {"tool": "show"}, "observation": {"truncated": true, "bytes": 9, "head": "{"}}]}`,
			"Show: the result is too long to show."},
		"results of subtasks": {`{"goal": "g", "subtask_results": {"item_10": "posted", "item_2": {"text": "checked"}, "get_van": {"van": {"name": "Lena"}},
			"lost": {"error": "gone"}, "none": null, "cut": {"truncated": true, "bytes": 9, "head": "{"}}}`,
			"Cut: the result is too long to show. Van: name Lena. Item 2: text checked. Item 10: posted. Lost: error, gone."},
		"no results of subtasks": {`{"goal": "g", "subtask_results": {}}`, "Nothing was found: no step returned any data."},
		"no object":              {`{"history": [{"plan_step": {"tool": "show"}, "observation": "all well"}]}`, "Show: all well."},
		"odd history":            {`{"history": [null, 7, {}, {"observation": null}]}`, "Nothing was found: no step returned any data."},
		"hostile text":           {`{"history": [{"plan_step": {"tool": "show"}, "observation": {"note": "a\u0000\u001b[31m\u202e\nb"}}]}`, "Show: note: a [31m b."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := composeAnswer(decoded(t, c.payload)); got != c.want {
				t.Errorf("composeAnswer(%s)\n got %q\nwant %q", c.payload, got, c.want)
			}
		})
	}
}

// Whatever the results hold, the answer is one bounded line of printable UTF-8, never blank.
func TestComposedAnswersAreBounded(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return rapid.String().Draw(t, "text")
		case 1:
			return rapid.Float64Range(-1e18, 1e18).Draw(t, "number")
		case 2:
			return strings.Repeat("long ", 2000)
		case 3:
			return nil
		}
		return []any{rapid.String().Draw(t, "item"), map[string]any{}}
	})
	rapid.Check(t, func(t *rapid.T) {
		var history []any
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			object := map[string]any{}
			for name, v := range rapid.MapOf(rapid.String(), value).Draw(t, "observation") {
				object[name] = v
			}
			history = append(history, map[string]any{
				"plan_step": map[string]any{"tool": rapid.String().Draw(t, "tool")}, "observation": object,
			})
		}
		got := composeAnswer(map[string]any{"history": history})
		if ijson.Blank(got) || len(got) > maxAnswer || strings.ContainsFunc(got, unicode.IsControl) || strings.ToValidUTF8(got, "") != got {
			t.Fatalf("answer of %d bytes: %q", len(got), got)
		}
	})
}
