package cli

import (
	_ "embed"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// paysConfig is a configuration with one policy over one tool of its own, and two patterns that call it.
//
//go:embed policycheck/testdata/pays.yaml
var paysConfig string

func TestPolicyExplainHoldsWhatIsInForce(t *testing.T) {
	path := writeConfig(t, paysConfig)
	run := func(args string) (int, string) {
		code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "explain", "--config", path, "--tool", "pay", "--args", args)
		return code, out + errs
	}
	if code, out := run(`{"cents":900,"to":"ann"}`); code != 0 || !strings.Contains(out, "with the params of pay_one") || !strings.Contains(out, `"cents":400`) {
		t.Errorf("the only pattern's params: %d\n%s", code, out)
	}
	for args, want := range map[string]string{
		`{"cent":9,"to":"ann"}`:            "did you mean cents?",
		`{"cents":9}`:                      "/to is missing",
		`{"cents":"nine","to":"ann"}`:      "/cents does not fit",
		`{"cents":0,"to":"ann"}`:           "/cents does not fit",
		`{"cents":9,"to":"ann","zzzzz":1}`: "pay has no argument zzzzz",
	} {
		if code, out := run(args); code != console.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: %d\n%s\nwant 2 and %s", args, code, out, want)
		}
	}
	if code, out := run(`{"cents":9,"to":"nobody"}`); code != 0 || !strings.Contains(out, "block policy_error:unread") || strings.Contains(out, "Nobody is paid twice.") {
		t.Errorf("a rule that errs: %d\n%s", code, out)
	}
}

// Tests with params of their own run with each pattern's below them too.
func TestPolicyTestWarnsOfRowsWithParams(t *testing.T) {
	text := strings.Replace(paysConfig, "{cap: 500}", "{cap: 500, more: 0}", 1)
	text = strings.Replace(text, "args.cents > params.cap,", "args.cents > params.cap + params.more,", 1)
	text = strings.Replace(text, "params: {cap: 400}", "params: {more: 1000}", 1)
	path := writeConfig(t, text)
	code, out, _ := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "test", "--config", path)
	if want := `with the params of pay_one: escalate ask, within 600 s, and not revise as {"cents":200,"to":"ann"}`; code != 0 || !strings.Contains(out, want) {
		t.Errorf("%d\n%s\nwant %s", code, out, want)
	}
}

// Two files differ where a call is made with other arguments, or a person is asked otherwise.
func TestPolicyDiffComparesWhatIsSentAndAsked(t *testing.T) {
	a := writeConfig(t, paysConfig)
	for name, tt := range map[string]struct{ was, is, want string }{
		"arguments": {"revise: {cents: params.cap}", "revise: {cents: params.cap - 1}", `revise as {"cents":200,"to":"ann"}, then revise as {"cents":199,"to":"ann"}`},
		"expiry":    {"expires_seconds: 600", "expires_seconds: 700", "escalate ask, within 600 s, then escalate ask, within 700 s"},
		"assurance": {"expires_seconds: 600", "expires_seconds: 600, min_assurance: signed", "escalate ask, within 600 s, then escalate ask, signed, within 600 s"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(paysConfig, "    tests:\n", "    tests:\n    - {name: asked, call: {tool: pay, args: {cents: 350, to: ann}}, want: escalate}\n", 1)
			b := writeConfig(t, strings.Replace(text, tt.was, tt.is, 1))
			code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "diff", "--state", ":memory:", a, b)
			if code != console.ExitFault || !strings.Contains(out, tt.want) {
				t.Errorf("%d\n%s%s\nwant %s", code, out, errs, tt.want)
			}
		})
	}
}
