package expr

import (
	"testing"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/debug"
	"cel.dev/cel-go/parser"
)

// FuzzParser compares the parser that is used with the library's generated one, which is the reference of the grammar: a
// text that both take means the same to both.
func FuzzParser(f *testing.F) {
	for _, seed := range []string{
		`a + b * c - d / e % f == g && h || !i ? j : k`, `-a.b[c].d(e, f)`, `a in [b, c] || d.?e.orValue(f) != g[?h]`, `{"a": b, ?"c": d}`, `[?a, b]`, `- -1`, `-1.5e3`, `!!a`,
		`a.all(x, x > 1 && x.b)`, `cel.bind(x, 1, x + x)`, `r"\d" + '''a''' + b"\xff"`, `a ? b ? c : d : e`, `a < b == c`, "a.`b-c`", `1u + 0x1F`, `.a.b`, `a{b: c}`, `has(a.b)`, `-9223372036854775808`,
		`a && b && c && d || e`, `a - -b`, `"\u00e4\U0001F600"`, `// c
a`, `null == true`,
	} {
		f.Add(seed)
	}
	env, err := shared()
	if err != nil {
		f.Fatal(err)
	}
	generated, err := parser.NewParser(
		parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true), parser.Macros(env.cel.Macros()...), parser.PopulateMacroCalls(true),
		parser.ExpressionSizeCodePointLimit(MaxText))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ours, faults := env.parser.Parse(common.NewTextSource(text))
		theirs, theirFaults := generated.Parse(common.NewTextSource(text))
		if len(faults.GetErrors()) > 0 || len(theirFaults.GetErrors()) > 0 {
			return
		}
		if a, b := debug.ToDebugString(ours.Expr()), debug.ToDebugString(theirs.Expr()); a != b {
			t.Errorf("%q: read as %s, the generated parser reads %s", text, a, b)
		}
	})
}
