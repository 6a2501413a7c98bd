package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
)

// largePlan is a plan of n subtasks with a tool and arguments each, and 1 to 3 dependencies but for the first.
func largePlan(n int) string {
	var text strings.Builder
	text.WriteString(`{"kind":"plan","subtasks":[`)
	for i := range n {
		if i > 0 {
			text.WriteByte(',')
		}
		var dependencies []string
		for k := 1; k <= 1+i%3 && k <= i; k++ {
			dependencies = append(dependencies, fmt.Sprintf(`"subtask_%d"`, i-k*k))
			if i-(k+1)*(k+1) < 0 {
				break
			}
		}
		tool, args := "fetch_sales_data", `{"month":"2026-04"}`
		if i%3 == 0 {
			tool, args = "get_manager_profile", `{"manager_id":42}`
		}
		fmt.Fprintf(&text, `{"id":"subtask_%d","description":"Look at part %d of the figures.","dependencies":[%s],"tool":"%s","args":%s}`,
			i, i, strings.Join(dependencies, ","), tool, args)
	}
	text.WriteString(`]}`)
	return text.String()
}

// BenchmarkParseSubtasks is strict decoding and judging of a plan of 1,000 subtasks.
func BenchmarkParseSubtasks(b *testing.B) {
	rules, plan := subtaskRules(b), largePlan(1000)
	rules.Max = 1000
	b.ReportAllocs()
	b.SetBytes(int64(len(plan)))
	for b.Loop() {
		if _, refusal := planning.ParseSubtasks(document.ReadReply(plan), rules); refusal != nil {
			b.Fatal(refusal)
		}
	}
}

// BenchmarkDecodePlanOfSubtasks is the decoding in BenchmarkParseSubtasks.
func BenchmarkDecodePlanOfSubtasks(b *testing.B) {
	plan := largePlan(1000)
	b.SetBytes(int64(len(plan)))
	for b.Loop() {
		document.ReadReply(plan)
	}
}

// BenchmarkNewGraph is the order of a plan of 1,000 subtasks.
func BenchmarkNewGraph(b *testing.B) {
	rules := subtaskRules(b)
	rules.Max = 1000
	doc, refusal := planning.ParseSubtasks(document.ReadReply(largePlan(1000)), rules)
	if refusal != nil {
		b.Fatal(refusal)
	}
	b.ReportAllocs()
	for b.Loop() {
		planning.NewGraph(doc.Subtasks)
	}
}

// BenchmarkRefuseHostileSubtasks is what documents of about a MiB cost that are made to cost much.
func BenchmarkRefuseHostileSubtasks(b *testing.B) {
	for name, plan := range hostilePlans(1) {
		b.Run(name, func(b *testing.B) {
			rules := subtaskRules(b)
			rules.Max, rules.MaxDepth, rules.Strategy = 100_000, 100_000, planning.Hierarchical
			b.SetBytes(int64(len(plan)))
			for b.Loop() {
				if _, refusal := planning.ParseSubtasks(document.ReadReply(plan), rules); refusal == nil {
					b.Fatal("accepted")
				}
			}
		})
	}
}

// hostilePlans are documents of about a MiB, or of a part of it, each made to be dear in another way.
func hostilePlans(part int) map[string]string {
	of := func(n int, row func(i int) string) string {
		rows := make([]string, max(n/part, 1))
		for i := range rows {
			rows[i] = row(i)
		}
		return `{"kind":"plan","subtasks":[` + strings.Join(rows, ",") + `]}`
	}
	var thick []string
	for i := range 1000 {
		thick = append(thick, fmt.Sprintf(`"s%d"`, i))
	}
	return map[string]string{
		"nothing in any":  of(30_000, func(int) string { return `{}` }),
		"all with one id": of(20_000, func(int) string { return `{"id":"a","description":"x"}` }),
		"all unknown":     of(15_000, func(i int) string { return fmt.Sprintf(`{"id":"s%d","description":"x","dependencies":["t%d"]}`, i, i) }),
		"one long cycle": of(15_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","dependencies":["s%d"]}`, i, (i+1)%(15_000/part))
		}),
		"a cycle of two, late": of(15_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","dependencies":["s%d"]}`, i, min(i+1, 15_000/part-2))
		}),
		"loop of parents": of(15_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","parent":"s%d"}`, i, (i+1)%(15_000/part))
		}),
		"deep and bound": of(8_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","parent":"s%d","dependencies":["d%d"]},{"id":"d%d","description":"x","tool":"rm"}`, i, max(i, 1)-1, i, i)
		}),
		"far references": of(8_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","dependencies":["s%d"],"args":{"x":["$results.s0","$results.zz"]}}`, i, i-min(i, 1))
		}),
		"thick and cyclic": of(1_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","dependencies":[%s],"args":{"x":"$results.s%d"}}`, i, strings.Join(thick[i*100%900:i*100%900+100], ","), (i+500)%1000)
		}),
		"bad arguments": of(10_000, func(i int) string {
			return fmt.Sprintf(`{"id":"s%d","description":"x","tool":"fetch_sales_data","args":{"mont":1,"b":[]}}`, i)
		}),
		"wide arguments": of(1, func(int) string {
			return `{"id":"s","description":"x","tool":"fetch_sales_data","args":{` + strings.Join(strings.Fields(members(30_000/part)), ",") + `}}`
		}),
	}
}

// members are n members of an object, with blanks between them.
func members(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `"m%d":"$results.s" `, i)
	}
	return text.String()
}
