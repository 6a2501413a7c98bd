package cli

import (
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/record/recordtest"
)

// A person who decides sees who wrote the call, what earlier calls returned, and equal calls: on the page of the question and
// above the prompt.
func TestApproverSeesWhatStandsBehind(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(t)
	f.asked[0].Key = "approve#1"
	f.asked = append(f.asked, askedRefund("ap_03f2000000000002"))
	f.events = map[string][]patterns.Event{askedRun: recordtest.Refund(t)}
	seen := func(text string) {
		t.Helper()
		plain := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{
			"Proposed by a model; it wrote the text of reason",
			"Equal call ap_03f2000000000002 waits too, since ",
			"Results of earlier calls, which the policy can read (from the tools, not checked):",
			"get_refund_context | /billing/days_since_payment: 10 | /billing/last_charge_usd: 1200",
		} {
			if !strings.Contains(plain, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	}
	_, out, _ := f.command(t, nil, "show", askedID)
	seen(out)
	f.command(t, []string{goodPassphrase, goodPassphrase}, "enroll")
	_, _, errs := f.command(t, []string{goodPassphrase}, "approve", askedID, "--digest", f.asked[0].Digest)
	seen(errs)
	f.asked[0].State, f.asked[0].Given = patterns.AskedOpen, nil
	_, out, _ = f.command(t, nil, "show", askedID, "--json")
	for _, want := range []string{`"proposed_by": "model"`, `"equal": [`, `"/billing/last_charge_usd"`} {
		if !strings.Contains(out, want) {
			t.Errorf("show --json: %s is not in\n%s", want, out)
		}
	}
}
