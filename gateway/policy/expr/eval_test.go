package expr_test

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

var sent = time.Date(2026, 1, 31, 10, 0, 0, 5e8, time.UTC)

// refundValues are values for refundVariables, as a gate decodes them.
func refundValues() map[string]any {
	return map[string]any{
		"args": map[string]any{"order_id": "A-1001", "amount_cents": 4900.0, "reason": "late", "rate": 3.0, "tags": []any{"gift"}},
		"run": map[string]any{"effects": []any{
			map[string]any{"tool": "read_order", "counts": false, "args": map[string]any{"any": 1.0}},
			map[string]any{"tool": "refund_charge", "counts": true, "args": map[string]any{"amount_cents": 100.0, "any": "x"}},
			map[string]any{"tool": "refund_charge", "counts": true, "args": map[string]any{"amount_cents": 250.0}},
		}},
		"now":   sent,
		"spent": map[string]any{"usd": 12.5, "eur": 7.0},
	}
}

// TestEval holds what expressions compute, in the form of decoded JSON.
func TestEval(t *testing.T) {
	tests := map[string]struct {
		text string
		want any
	}{
		"int":                   {`args.amount_cents + 1`, 4901.0},
		"whole division":        {`args.amount_cents / 1000`, 4.0},
		"double of a whole":     {`args.rate / 2.0`, 1.5},
		"double as text":        {`string(args.rate)`, "3"},
		"int as text":           {`string(args.amount_cents)`, "4900"},
		"double of int":         {`double(args.amount_cents) / 100.0`, 49.0},
		"dyn number is double":  {`run.effects[0].args.any == 1.0`, true},
		"exponent":              {`1e3`, 1000.0},
		"minus zero":            {`-0.0`, 0.0},
		"uint":                  {`7u`, 7.0},
		"greatest integer":      {`9007199254740991`, float64(ijson.MaxInteger)},
		"text":                  {`"refund-" + args.order_id`, "refund-A-1001"},
		"present":               {`has(args.tags)`, true},
		"absent":                {`has(args.note)`, false},
		"optional":              {`args.?note.orValue("none")`, "none"},
		"optional, chain":       {`args.?address.?zip.orValue("?")`, "?"},
		"optional, no value":    {`args.?note`, nil},
		"optional, value":       {`args.?reason`, "late"},
		"optional member":       {`{"a": 1, ?"b": args.?note}`, map[string]any{"a": 1.0}},
		"all":                   {`args.tags.all(t, t != "eu")`, true},
		"exists_one":            {`run.effects.exists_one(e, e.tool == "read_order")`, true},
		"filter and map":        {`run.effects.filter(e, e.counts).map(e, e.args.amount_cents)`, []any{100.0, 250.0}},
		"sum of ints":           {`sum(run.effects.filter(e, e.counts).map(e, e.args.amount_cents)) + args.amount_cents`, 5250.0},
		"sum of no ints":        {`sum(run.effects.filter(e, false).map(e, e.args.amount_cents)) == 0`, true},
		"sum of doubles":        {`sum(["usd", "eur"].map(c, spent[c]))`, 19.5},
		"sum of no doubles":     {`sum(run.effects.filter(e, false).map(e, double(e.args.amount_cents))) == 0.0`, true},
		"sum of converted":      {`sum(run.effects.filter(e, e.tool == "read_order").map(e, int(e.args.any)))`, 1.0},
		"round a little below":  {`round(2.675, 2)`, 2.67},
		"round below, negative": {`round(-2.675, 2)`, -2.67},
		"round as it is":        {`round(1.005, 2)`, 1.0},
		"round up":              {`round(2.6750001, 2)`, 2.68},
		"round to whole":        {`round(2.5, 0)`, 2.0},
		"round to even":         {`round(3.5, 0)`, 4.0},
		"round to hundreds":     {`round(1250.0, -2)`, 1200.0},
		"round hundreds up":     {`round(1250.5, -2)`, 1300.0},
		"round below to tens":   {`round(-15.0, -1)`, -20.0},
		"round small":           {`round(0.0004, 3)`, 0.0},
		"round great":           {`round(1e300, 2) == 1e300`, true},
		"within":                {`path_within("/srv/orders/A.json", "/srv/orders")`, true},
		"within itself":         {`path_within("/srv/orders/", "/srv/orders")`, true},
		"within the root":       {`path_within("/a", "/")`, true},
		"beside":                {`path_within("/srv/orders2/A.json", "/srv/orders")`, false},
		"climbing out":          {`path_within("/srv/orders/../../etc/passwd", "/srv/orders")`, false},
		"climbing within":       {`path_within("/srv/orders/x/../A.json", "/srv/orders/.")`, true},
		"strings":               {`"a,b".split(",")[1].upperAscii()`, "B"},
		"lists":                 {`[3, 1, 2].sort()`, []any{1.0, 2.0, 3.0}},
		"math":                  {`math.greatest(1, 5, 3)`, 5.0},
		"sets":                  {`sets.contains(["a", "b"], ["b"])`, true},
		"bindings":              {`cel.bind(x, args.amount_cents, x * x)`, 4900.0 * 4900.0},
		"network":               {`cidr("10.0.0.0/8").containsIP(ip("10.1.2.3"))`, true},
		"two variables":         {`{"a": 1, "b": 2}.transformMap(k, v, v * 2)`, map[string]any{"a": 2.0, "b": 4.0}},
		"two variables, list":   {`["x", "y"].transformList(i, v, string(i) + v)`, []any{"0x", "1y"}},
		"timestamp":             {`now`, "2026-01-31T10:00:00.5Z"},
		"timestamp, computed":   {`now + duration("24h")`, "2026-02-01T10:00:00.5Z"},
		"timestamp of a text":   {`timestamp("2026-01-31T11:00:00+01:00") < now`, true},
		"duration":              {`now - timestamp("2026-01-31T08:30:00Z")`, "5400.5s"},
		"escaped member":        {"{'order-id': 1}.`order-id`", 1.0},
		"comparison with null":  {`run.effects[0].args.any == null`, false},
		"error cut short":       {`true || args.note == "x"`, true},
		"matches":               {`args.order_id.matches("^A-[0-9]{4}$")`, true},
		"deep result":           {`[[[[{"a": [null, true]}]]]]`, []any{[]any{[]any{[]any{map[string]any{"a": []any{nil, true}}}}}}},
		"object as it was":      {`args`, refundValues()["args"]},
		"object within objects": {`run.effects[1].args`, map[string]any{"amount_cents": 100.0, "any": "x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, faults := expr.Compile(tt.text, expr.Dyn(), refundVariables(t)...)
			if e == nil {
				t.Fatalf("%s: %v", tt.text, faults)
			}
			got, err := e.Eval(refundValues())
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%s = %#v, %v, want %#v", tt.text, got, err, tt.want)
			}
		})
	}
}

// TestEvalErrors holds which error tells that an expression has no value.
func TestEvalErrors(t *testing.T) {
	tests := map[string]struct {
		text string
		want error
	}{
		"absent member":      {`args.note == "x"`, expr.ErrEval},
		"absent in dyn":      {`run.effects[0].args.any.x == 1.0`, expr.ErrEval},
		"index":              {`args.tags[5]`, expr.ErrEval},
		"division":           {`args.amount_cents / 0`, expr.ErrEval},
		"overflow":           {`9223372036854775807 + args.amount_cents`, expr.ErrEval},
		"sum overflow":       {`sum([9223372036854775807, args.amount_cents])`, expr.ErrEval},
		"relative path":      {`path_within("orders", "/srv")`, expr.ErrEval},
		"relative directory": {`path_within("/srv", "orders")`, expr.ErrEval},
		"zero byte":          {`path_within("/srv/\x00", "/srv")`, expr.ErrEval},
		"too many digits":    {`round(1.0, 16)`, expr.ErrEval},
		"round infinity":     {`round(1.0 / 0.0, 2)`, expr.ErrEval},
		"pattern":            {`args.order_id.matches(args.reason + "[")`, expr.ErrEval},
		"infinity":           {`args.rate / 0.0`, expr.ErrValue},
		"not a number":       {`0.0 / 0.0`, expr.ErrValue},
		"great integer":      {`9007199254740992`, expr.ErrValue},
		"great double":       {`1e300`, expr.ErrValue},
		"great uint":         {`9007199254740992u`, expr.ErrValue},
		"bytes in dyn":       {`dyn(b"x")`, expr.ErrValue},
		"number as a name":   {`{1: "x"}`, expr.ErrValue},
		"cost":               {`lists.range(2000).all(x, lists.range(2000).all(y, x + y >= 0))`, expr.ErrCost},
		"cost of sums":       {`lists.range(2000).all(x, sum(lists.range(2000)) > x)`, expr.ErrCost},
		"long range":         {`size(lists.range(10000000)) > 0`, expr.ErrEval},
		"doubled result":     {doubling(24), expr.ErrValue},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, faults := expr.Compile(tt.text, expr.Dyn(), refundVariables(t)...)
			if e == nil {
				t.Fatalf("%s: %v", tt.text, faults)
			}
			if got, err := e.Eval(refundValues()); !errors.Is(err, tt.want) || got != nil {
				t.Errorf("%s = %v, %v, want %v", tt.text, got, err, tt.want)
			}
		})
	}
}

// doubling is an expression whose value names another value 2^n times over.
func doubling(n int) string {
	return strings.Repeat(`[`, 1) + strings.Repeat(`cel.bind(x, `, n) + `["x"]` + strings.Repeat(`, [x, x])`, n) + `]`
}

// TestResultIsWanted holds that a result that only its evaluation could tell is judged by then.
func TestResultIsWanted(t *testing.T) {
	for text, want := range map[string]expr.Type{
		`run.effects[0].args.any`:    expr.String(),
		`run.effects[1].args.any`:    expr.Double(),
		`dyn(null)`:                  expr.String(),
		`dyn(1.5)`:                   expr.Int(),
		`dyn([1])`:                   expr.Bool(),
		`dyn({"a": 1})`:              expr.List(expr.Dyn()),
		`true ? dyn("x") : dyn(now)`: expr.Bool(),
	} {
		e, faults := expr.Compile(text, want, refundVariables(t)...)
		if e == nil {
			t.Fatalf("%s: %v", text, faults)
		}
		if got, err := e.Eval(refundValues()); !errors.Is(err, expr.ErrValue) {
			t.Errorf("%s as %s = %v, %v, want %v", text, want, got, err, expr.ErrValue)
		}
	}
}

// TestInputs holds that values are held to their types before an expression sees them.
func TestInputs(t *testing.T) {
	object := expr.Object(expr.Field{Name: "n", Type: expr.Int()}, expr.Field{Name: "o", Type: expr.Nullable(expr.String()), Optional: true})
	tests := map[string]struct {
		of    expr.Type
		value any
		ok    bool
	}{
		"int":                     {expr.Int(), 5.0, true},
		"int64":                   {expr.Int(), int64(5), true},
		"int of a fraction":       {expr.Int(), 5.5, false},
		"int out of range":        {expr.Int(), 1e16, false},
		"int of a text":           {expr.Int(), "5", false},
		"double":                  {expr.Double(), 5.5, true},
		"double of an int64":      {expr.Double(), int64(5), true},
		"double of a text":        {expr.Double(), "5", false},
		"bool":                    {expr.Bool(), true, true},
		"bool of a number":        {expr.Bool(), 1.0, false},
		"text":                    {expr.String(), "x", true},
		"text of null":            {expr.String(), nil, false},
		"text or null":            {expr.Nullable(expr.String()), nil, true},
		"dyn":                     {expr.Dyn(), nil, true},
		"list":                    {expr.List(expr.Int()), []any{1.0, 2.0}, true},
		"list with another item":  {expr.List(expr.Int()), []any{1.0, "2"}, false},
		"list of an object":       {expr.List(expr.Int()), map[string]any{}, false},
		"map":                     {expr.Map(expr.Int()), map[string]any{"a": 1.0}, true},
		"map with another member": {expr.Map(expr.Int()), map[string]any{"a": "1"}, false},
		"object":                  {object, map[string]any{"n": 1.0, "o": nil}, true},
		"object with more":        {object, map[string]any{"n": 1.0, "other": []any{}}, true},
		"object, wrong member":    {object, map[string]any{"n": 1.5}, false},
		"object of a text":        {object, "n", false},
		"time":                    {expr.Timestamp(), sent, true},
		"time of a text":          {expr.Timestamp(), "2026-01-31T10:00:00Z", true},
		"time of another text":    {expr.Timestamp(), "today", false},
		"time of a number":        {expr.Timestamp(), 1.0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, faults := expr.Compile(`x == x`, expr.Bool(), expr.Variable{Name: "x", Type: tt.of})
			if e == nil {
				t.Fatal(faults)
			}
			got, err := e.Eval(map[string]any{"x": tt.value})
			if tt.ok && (err != nil || got != true) || !tt.ok && !errors.Is(err, expr.ErrInput) {
				t.Errorf("%s of %v: %v, %v", tt.of, tt.value, got, err)
			}
		})
	}
	e, _ := expr.Compile(`x == 1`, expr.Bool(), expr.Variable{Name: "x", Type: expr.Int()})
	if _, err := e.Eval(map[string]any{}); !errors.Is(err, expr.ErrInput) {
		t.Errorf("no value given: %v, want %v", err, expr.ErrInput)
	}
	var none *expr.Expression
	if _, err := none.Eval(nil); !errors.Is(err, expr.ErrEval) {
		t.Errorf("no expression: %v, want %v", err, expr.ErrEval)
	}
}

// TestValuesStayAsTheyWere holds that an evaluation changes nothing of what it is given.
func TestValuesStayAsTheyWere(t *testing.T) {
	values := refundValues()
	e, faults := expr.Compile(`{"a": args, "r": run.effects.filter(e, e.counts)}`, expr.Dyn(), refundVariables(t)...)
	if e == nil {
		t.Fatal(faults)
	}
	if _, err := e.Eval(values); err != nil || !reflect.DeepEqual(values, refundValues()) {
		t.Errorf("%v; values are now %v", err, values)
	}
}

// TestAtOnce holds that one scope compiles and one expression evaluates for many at once.
func TestAtOnce(t *testing.T) {
	scope := expr.NewScope(refundVariables(t)...)
	shared, faults := scope.Compile(`sum(run.effects.filter(e, e.counts).map(e, e.args.amount_cents))`, expr.Int())
	if shared == nil {
		t.Fatal(faults)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			own, _ := scope.Compile(`args.amount_cents * 2`, expr.Int())
			for range 50 {
				a, errA := shared.Eval(refundValues())
				b, errB := own.Eval(refundValues())
				if a != 350.0 || b != 9800.0 || errA != nil || errB != nil {
					t.Errorf("%v, %v; %v, %v", a, errA, b, errB)
				}
			}
		})
	}
	all.Wait()
}

// TestRoundsLikeText compares round with the text of a number, as Go writes it with so many digits.
func TestRoundsLikeText(t *testing.T) {
	e, faults := expr.Compile(`[round(x, 2), round(x, 0), round(x * 100.0, -2)]`, expr.Dyn(), expr.Variable{Name: "x", Type: expr.Double()})
	if faults != nil {
		t.Fatal(faults)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := float64(rapid.IntRange(-4_000_000, 4_000_000).Draw(t, "thousandths")) / 1000
		got, err := e.Eval(map[string]any{"x": x})
		digits := func(x float64, n int) float64 {
			v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', n, 64), 64)
			return v + 0 // no minus zero
		}
		want := []any{digits(x, 2), digits(x, 0)}
		if list, _ := got.([]any); err != nil || len(list) != 3 || list[0] != want[0] || list[1] != want[1] {
			t.Fatalf("round(%v, 2), round(%v, 0) = %v, %v, want %v", x, x, got, err, want)
		} else if back := list[2].(float64); math.Abs(back-x*100) > 50 || math.Mod(back, 100) != 0 {
			t.Fatalf("round(%v, -2) = %v", x*100, back)
		}
	})
}
