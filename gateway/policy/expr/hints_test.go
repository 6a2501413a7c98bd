package expr_test

import (
	"strings"
	"testing"

	"patterngate/gateway/policy/expr"
)

// Words of other languages get the words of CEL as a hint.
func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		`args.amount_cents == "5"`:                      `== does not work with int and string: args.amount_cents is int, "5" is string; write 5`,
		`args.amount_cents == "many"`:                   `args.amount_cents is int, "many" is string`,
		`args.rate > "5"`:                               `write 5.0`,
		`args.order_id > 3`:                             `> does not work with string and int: args.order_id is string, 3 is int; write size(args.order_id)`,
		`args.order_id == 3`:                            `write "3"`,
		`args.order_id + 3 == ""`:                       `args.order_id is string, 3 is int`,
		`run.effects[0].counts == "true"`:               `write true`,
		`run.effects[0].counts == 1`:                    `write true`,
		`amount_cents > 5`:                              `did you mean args.amount_cents?`,
		`amount_cnets > 5`:                              `did you mean args.amount_cents?`,
		`args.reason == late`:                           `no variable late (args, run, now, spent); write "late"`,
		`args.reason in ["late", broken]`:               `write "broken"`,
		`args.amount_cents == late`:                     `no variable late (args, run, now, spent)`,
		`run.effects[0].counts == True`:                 `did you mean true?`,
		`args.amount_cents = 5`:                         `write == instead of =`,
		`args.amount_cents === 5`:                       `write == instead of`,
		`args.amount_cents <> 5`:                        `write !=`,
		`args.amount_cents > 5 and args.rate > 1.0`:     `write && instead of and`,
		`args.amount_cents > 5 or args.rate > 1.0`:      `write || instead of or`,
		`args.amount_cents > 5 & args.rate > 1.0`:       `write && instead of &`,
		`args.amount_cents > 5 | args.rate > 1.0`:       `write || instead of |`,
		`not args.amount_cents > 5`:                     `write ! instead of not`,
		`true && (not true)`:                            `write ! instead of not`,
		`args.order_id contains "x"`:                    `write x.contains(y)`,
		`args.order_id like "x"`:                        `write x.contains(y)`,
		`len(args.order_id) > 3`:                        `no function len; did you mean size?`,
		`args.order_id.length > 3`:                      `no member length in string; write size(args.order_id)`,
		`args.order_id.includes("x")`:                   `did you mean contains?`,
		`args.order_id.toLowerCase() == "x"`:            `did you mean lowerAscii?`,
		`cond(args.rate`:                                `it ends without ')'; if it has a comma, put all of it in quotes`,
		`args.amount_cents > 5;`:                        `not an expression`,
		`args.amount_cents > 5 android args.rate > 1.0`: `not an expression`,
	} {
		_, faults := expr.Compile(text, expr.Bool(), refundVariables(t)...)
		got := strings.Join(words(faults), " | ")
		if !strings.Contains(got, want) || strings.Contains(want, "not an expression") && strings.Contains(got, "write") || !strings.Contains(want, "write") && strings.Contains(got, "; write") {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	for _, text := range []string{`args.amount_cents == 5 && args.reason == "late"`, `args.order_id.contains(" and ") || args.order_id == "not"`} {
		if _, faults := expr.Compile(text, expr.Bool(), refundVariables(t)...); len(faults) > 0 {
			t.Errorf("%s has faults: %v", text, words(faults))
		}
	}
}
