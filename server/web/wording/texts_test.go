package wording

import "testing"

// The title of a question names the consequence, in right English or in the words of the tool.
func TestAskedTitle(t *testing.T) {
	for phrase, want := range map[string]string{
		"refunding 1200.00 USD to user 42": "Refund 1200.00 USD to user 42", "deleting order 7": "Delete order 7", "putting 3 into 4": "Put 3 into 4",
		"adding 1": "Add 1", "cancelling order 7": "Cancel order 7", "canceling order 7": "Cancel order 7", "transferring 5": "Transfer 5", "looking up user 42": "Look up user 42",
		"issue_refund (amount_usd 5.00)": "Approve: issue_refund (amount_usd 5.00)", "a plan of 2 steps": "Approve: a plan of 2 steps", "bring it": "Approve: bring it", "": "Approve: ",
		"seeing user 42": "Approve: seeing user 42",
	} {
		if got := AskedTitle(phrase, true); got != want {
			t.Errorf("%q is titled %q, want %q", phrase, got, want)
		}
	}
	if got := AskedTitle("a plan of 2 steps", false); got != "a plan of 2 steps" {
		t.Errorf("of a closed one: %q", got)
	}
}

// An amount has two decimals; no digit is lost for it.
func TestAmount(t *testing.T) {
	for number, want := range map[string]string{"1200": "1200.00", "0.5": "0.50", "-3.25": "-3.25", "1.005": "", "1e3": "", `"5"`: "", "": "", "-": "", "redacted": "", "9999999999999999": ""} {
		if got, ok := Amount(number); got != want || ok != (want != "") {
			t.Errorf("%s is shown as %q, %v; want %q", number, got, ok, want)
		}
	}
}
