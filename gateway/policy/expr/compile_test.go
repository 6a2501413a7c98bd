package expr_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"patterngate/gateway/policy/expr"
)

// refundVariables are what a rule about refunds might read.
func refundVariables(t testing.TB) []expr.Variable {
	effect := expr.Object(
		expr.Field{Name: "tool", Type: expr.String("read_order", "refund_charge")},
		expr.Field{Name: "counts", Type: expr.Bool()},
		expr.Field{Name: "args", Type: expr.Object(expr.Field{Name: "amount_cents", Type: expr.Int()}, expr.Field{Name: "any"})})
	return []expr.Variable{
		{Name: "args", Type: expr.FromSchema(compiled(t, refundSchema), "refund_charge")},
		{Name: "run", Type: expr.Object(expr.Field{Name: "effects", Type: expr.List(effect)})},
		{Name: "now", Type: expr.Timestamp()},
		{Name: "spent", Type: expr.Map(expr.Double())},
	}
}

const refundArgs = "(order_id, amount_cents, reason, note, rate, tags, address)"

// TestFaults holds what is said about a text, and at which character.
func TestFaults(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // column and words
	}{
		"unknown argument":    {`args.amout_cents > 0`, []string{"6: refund_charge has no argument amout_cents " + refundArgs + "; did you mean amount_cents?"}},
		"nothing near":        {`args.x > 0`, []string{"6: refund_charge has no argument x " + refundArgs}},
		"optional unknown":    {`args.?nte.orValue("") == ""`, []string{"7: refund_charge has no argument nte " + refundArgs + "; did you mean note?"}},
		"has of unknown":      {`has(args.nte)`, []string{"10: refund_charge has no argument nte " + refundArgs + "; did you mean note?"}},
		"nested":              {`has(args.address) && args.address.line == 1`, []string{"35: args.address has no member line (lines, zip); did you mean lines?"}},
		"after wide letters":  {`"ä€😀" == args.reson`, []string{"15: refund_charge has no argument reson " + refundArgs + "; did you mean reason?"}},
		"second line":         {"true &&\n  args.reson == \"\"", []string{"2:8: refund_charge has no argument reson " + refundArgs + "; did you mean reason?"}},
		"unknown variable":    {`arg.reason == "late"`, []string{"1: no variable arg (args, run, now, spent); did you mean args?"}},
		"unknown function":    {`1 > 0 && siez(args.reason) > 1`, []string{"10: no function siez; did you mean size?"}},
		"near function":       {`args.reason.startWith("l")`, []string{"13: no function startWith; did you mean startsWith?"}},
		"member of a text":    {`args.reason.first == "l"`, []string{"13: no member first in string"}},
		"int and fraction":    {`args.amount_cents > 10.5`, []string{"19: args.amount_cents is int and 10.5 is double; they cannot be mixed; write double(args.amount_cents)"}},
		"int and whole":       {`args.amount_cents > 10.0`, []string{"19: args.amount_cents is int and 10.0 is double; they cannot be mixed; write 10"}},
		"double and int":      {`1000 < spent.usd`, []string{"6: 1000 is int and spent.usd is double; they cannot be mixed; write 1000.0"}},
		"double is int":       {`spent.usd == 1000`, []string{"11: 1000 is int and spent.usd is double; they cannot be mixed; write 1000.0"}},
		"double and int, two": {`spent.usd > args.amount_cents`, []string{"11: args.amount_cents is int and spent.usd is double; they cannot be mixed; write double(args.amount_cents)"}},
		"double plus int":     {`spent.usd + 1 > 2.0`, []string{"11: 1 is int and spent.usd is double; they cannot be mixed; write 1.0"}},
		"double among ints":   {`spent.usd in [1, 2]`, []string{"11: spent.usd is double and never in a list of int; write 1.0"}},
		"int and text":        {`args.amount_cents > "5"`, []string{`19: > does not work with int and string: args.amount_cents is int, "5" is string; write 5`}},
		"double among others": {`spent.usd in [args.amount_cents]`, []string{"11: spent.usd is double and never in a list of int; write [args.amount_cents].map(e, double(e))"}},
		"round of int":        {`round(args.amount_cents, 2) > 1.0`, []string{"6: round does not take (int, int), only (double, int); write double(args.amount_cents)"}},
		"enum":                {`args.reason == "lat"`, []string{`16: args.reason is never "lat" ("late", "broken", "other"); did you mean late?`}},
		"enum, turned":        {`"Broken" != args.reason`, []string{`1: args.reason is never "Broken" ("late", "broken", "other"); did you mean broken?`}},
		"enum in a list":      {`args.reason in ["late", "brokn"]`, []string{`25: args.reason is never "brokn" ("late", "broken", "other"); did you mean broken?`}},
		"enum of items":       {`has(args.tags) && "gft" in args.tags`, []string{`19: args.tags is never "gft" ("gift", "eu"); did you mean gift?`}},
		"enum in a macro":     {`run.effects.exists(e, e.tool == "read_odrer")`, []string{`33: e.tool is never "read_odrer" ("read_order", "refund_charge"); did you mean read_order?`}},
		"enum after filter":   {`run.effects.filter(e, e.counts).exists(e, e.tool == "x")`, []string{`53: e.tool is never "x" ("read_order", "refund_charge")`}},
		"enum by an optional": {`args.?tags[?0].orValue("eu") == "ue"`, []string{`33: args.?tags[?0].orValue("eu") is never "ue" ("gift", "eu")`}},
		"enum by a name":      {`cel.bind(r, args.reason, r == "l")`, []string{`31: r is never "l" ("late", "broken", "other")`}},
		"sum of dyn":          {`sum(run.effects.map(e, e.args.any)) > 1`, []string{"5: sum of dyn: the type must be known to be int or double; write sum(x.map(e, double(e)))"}},
		"pattern":             {`args.reason.matches("[")`, []string{"21: not a regular expression: missing closing ]: `[`"}},
		"timestamp":           {`now > timestamp("yesterday")`, []string{"17: not a timestamp: write one like 2026-01-31T10:00:00Z"}},
		"duration":            {`now - now > duration("1 day")`, []string{"22: not a duration: write one like 1h30m"}},
		"message":             {`google.protobuf.Int64Value{value: 1} == 1`, []string{`27: objects of a named type are not supported; write {"name": value}`}},
		"not a bool":          {`args.amount_cents + 1`, []string{"1: int, but bool is needed"}},
		"an optional":         {`args.?note`, []string{"1: string, but bool is needed"}},
		"not written whole":   {`args.amount_cents >`, []string{"20: not an expression: it ends too early"}},
		"empty":               {``, []string{"1: not an expression: it ends too early"}},
		"two at once":         {`args.x == 1 && args.y == 2`, []string{"6: refund_charge has no argument x " + refundArgs, "21: refund_charge has no argument y " + refundArgs}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, faults := expr.Compile(tt.text, expr.Bool(), refundVariables(t)...)
			if got := words(faults); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if e != nil {
				t.Errorf("%s compiled", tt.text)
			}
			for _, f := range faults {
				checkPlace(t, tt.text, f)
			}
		})
	}
}

// TestWarnings holds which reads of members that may be absent are doubted: those that nothing guards.
func TestWarnings(t *testing.T) {
	const note = `args.note may be absent; write has(args.note) && before it, or args.?note.orValue("")`
	tests := map[string]struct {
		text string
		want []string
	}{
		"bare":              {`args.note == "x"`, []string{"6: " + note}},
		"guarded":           {`has(args.note) && args.note == "x"`, nil},
		"guarded behind":    {`args.note == "x" && has(args.note)`, nil},
		"guarded by or":     {`!has(args.note) || args.note == "x"`, nil},
		"wrong guard":       {`has(args.note) || args.note == "x"`, []string{"24: " + note}},
		"other guard":       {`has(args.rate) && args.note == "x"`, []string{"24: " + note}},
		"one of two guards": {`has(args.rate) && has(args.note) && args.note == "x"`, nil},
		"either":            {`(has(args.note) || has(args.rate)) && args.note == "x"`, []string{"44: " + note}},
		"neither missing":   {`!(!has(args.note) || !has(args.rate)) && args.note == "x"`, nil},
		"ternary":           {`has(args.note) ? args.note == "x" : false`, nil},
		"ternary, turned":   {`has(args.note) ? false : args.note == "x"`, []string{"31: " + note}},
		"optional":          {`args.?note.orValue("") == "x"`, nil},
		"required":          {`args.reason == "late"`, nil},
		"nested":            {`has(args.address) && args.address.zip == "x"`, nil},
		"nested optional":   {`has(args.address.lines) && args.address.lines > 1`, []string{"10: args.address may be absent; write has(args.address) &&"}},
		"in a macro":        {`run.effects.exists(e, e.counts && args.note == "x")`, []string{"40: " + note}},
		"macro, guarded":    {`has(args.note) && run.effects.exists(e, e.counts && args.note == "x")`, nil},
		"of a number":       {`args.rate > 1.0`, []string{"6: args.rate may be absent; write has(args.rate) && before it, or args.?rate.orValue(0.0)"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, faults := expr.Compile(tt.text, expr.Bool(), refundVariables(t)...)
			if got := words(faults); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%s\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if e == nil {
				t.Errorf("%s did not compile", tt.text)
			}
			for _, f := range faults {
				if !f.Warning {
					t.Errorf("%s: %s is no warning", tt.text, f)
				}
				checkPlace(t, tt.text, f)
			}
		})
	}
}

// TestWanted holds which types of a result pass for which are wanted.
func TestWanted(t *testing.T) {
	tests := map[string]struct {
		text string
		want expr.Type
		says string
	}{
		"text":            {`args.reason`, expr.String(), ""},
		"int as text":     {`args.amount_cents`, expr.String(), "int, but string is needed; write string(args.amount_cents)"},
		"int as double":   {`args.amount_cents`, expr.Double(), "an int, but a double is needed; write double(args.amount_cents)"},
		"literal":         {`1000`, expr.Double(), "an int, but a double is needed; write 1000.0"},
		"double as int":   {`spent.usd`, expr.Int(), "a double, but an int is needed; decide how to round it, because int() drops the fraction"},
		"dyn as anything": {`run.effects[0].args.any`, expr.Int(), ""},
		"anything as dyn": {`{"a": [args.reason]}`, expr.Dyn(), ""},
		"null":            {`null`, expr.Nullable(expr.String()), ""},
		"null as text":    {`null`, expr.String(), "null, but string is needed"},
		"bytes":           {`b""`, expr.Dyn(), "bytes has no form in JSON; write string(b\"\")"},
		"list of bytes":   {`[b""]`, expr.Dyn(), "list(bytes) has no form in JSON; write string([b\"\"])"},
		"type":            {`type(1)`, expr.Dyn(), "dyn has no form in JSON; write string(type(1))"},
		"address":         {`ip("127.0.0.1")`, expr.Dyn(), "net.IP has no form in JSON; write string(ip(\"127.0.0.1\"))"},
		"list":            {`[1, 2]`, expr.List(expr.Int()), ""},
		"other list":      {`["a"]`, expr.List(expr.Int()), "list(string), but list(int) is needed"},
		"one of values":   {`"paid"`, expr.String("paid", "failed"), ""},
		"no value":        {`"payd"`, expr.String("paid", "failed"), `"payd" is not one of the values ("paid", "failed"); did you mean paid?`},
		"optional text":   {`args.?note`, expr.String(), ""},
		"timestamp":       {`now`, expr.Timestamp(), ""},
		"time as text":    {`now`, expr.String(), "timestamp, but string is needed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, faults := expr.Compile(tt.text, tt.want, refundVariables(t)...)
			got := ""
			if len(faults) > 0 {
				got = faults[0].String()
			}
			if got != tt.says {
				t.Errorf("%s as %s: %q, want %q", tt.text, tt.want, got, tt.says)
			}
		})
	}
}

// TestTextsOutOfBounds holds that texts without measure are refused in time and with a word.
func TestTextsOutOfBounds(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"long":          {`"` + strings.Repeat("x", expr.MaxText) + `" == ""`, "more than 16384 characters"},
		"nested":        {strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000), "not an expression"},
		"nested lists":  {strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + " == []", "not an expression"},
		"nots":          {strings.Repeat("!", 5001) + "true", ""},
		"nested macros": {strings.Repeat("[1].all(x, ", 300) + "true" + strings.Repeat(")", 300), "not an expression"},
		"chain":         {"args" + strings.Repeat(".address", 1000) + " == 1", ""},
		"long sum":      {strings.Repeat("1 + ", 3000) + "1 == 3001", ""},
		"no UTF-8":      {"\xff", "not UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, faults := expr.Compile(tt.text, expr.Bool(), refundVariables(t)...)
			switch {
			case tt.want != "" && (e != nil || len(faults) == 0 || !strings.Contains(faults[0].Reason, tt.want)):
				t.Errorf("faults %.200v, want %q", faults, tt.want)
			case e == nil && len(faults) == 0:
				t.Error("neither an expression nor a fault")
			}
		})
	}
}

func words(faults []expr.Fault) []string {
	var all []string
	for _, f := range faults {
		place := fmt.Sprint(f.Column)
		if f.Line > 1 {
			place = fmt.Sprintf("%d:%d", f.Line, f.Column)
		}
		all = append(all, place+": "+f.String())
	}
	return all
}

// checkPlace holds that offset, line and column say the same.
func checkPlace(t testing.TB, text string, f expr.Fault) {
	t.Helper()
	if f.Offset < 0 || f.Offset > len(text) {
		t.Fatalf("%q: offset %d", text, f.Offset)
	}
	before := text[:f.Offset]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	if f.Line != line || f.Column != column {
		t.Errorf("%q: offset %d is %d:%d, the fault says %d:%d", text, f.Offset, line, column, f.Line, f.Column)
	}
}
