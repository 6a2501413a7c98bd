package demo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

// do calls a tool that must not fail and returns one member of its result's inner object.
func do(t *testing.T, name string, call catalog.Call, inner string) map[string]any {
	t.Helper()
	tool, _ := tools(t, demo.Config{}).Tool(name)
	result, err := tool.Do(t.Context(), call)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if faults := tool.Output.Check(result); faults != nil {
		t.Errorf("%s: the result does not fit its schema: %v", name, faults)
	}
	object, ok := result.(map[string]any)[inner].(map[string]any)
	if !ok {
		t.Fatalf("%s = %v, want a member %s", name, result, inner)
	}
	return object
}

func TestRefundAndEmail(t *testing.T) {
	args := map[string]any{"user_id": 42.0, "amount_usd": 800.125, "reason": "  asked for \u001f"}
	refund := do(t, "issue_refund", catalog.Call{Args: args, Key: "run_1/pay"}, "refund")
	// The first 12 hex digits of SHA-256 of the key.
	want := map[string]any{"user_id": 42.0, "currency": "USD", "amount_usd": 800.12, "reason": "asked for", "transaction_id": "rf_42_86675f8a784a"}
	if diff := cmp.Diff(want, refund); diff != "" {
		t.Errorf("issue_refund (-want +got):\n%s", diff)
	}
	args = map[string]any{"user_id": 7.0, "amount_usd": 49.0, "message": " Done. "}
	email := do(t, "send_refund_email", catalog.Call{Args: args, Key: "run_1/pay"}, "email")
	want = map[string]any{
		"to": "max@example.com", "template": "refund_confirmation_v2", "amount_usd": 49.0, "message": " Done. ",
		"email_id": "em_7_86675f8a784a",
	}
	if diff := cmp.Diff(want, email); diff != "" {
		t.Errorf("send_refund_email (-want +got):\n%s", diff)
	}
}

func TestEffectIDsFollowTheKey(t *testing.T) {
	args := map[string]any{"user_id": 42.0, "amount_usd": 1.0, "reason": "r"}
	id := func(key string, attempt int) any {
		return do(t, "issue_refund", catalog.Call{Args: args, Key: key, Attempt: attempt}, "refund")["transaction_id"]
	}
	if first, again := id("a", 1), id("a", 2); first != again {
		t.Errorf("one key made two ids: %v, %v", first, again)
	}
	if first, other := id("a", 1), id("b", 1); first == other {
		t.Errorf("two keys made one id: %v", first)
	}
	tool, _ := tools(t, demo.Config{}).Tool("issue_refund")
	if v, err := tool.Do(t.Context(), catalog.Call{Args: args}); err == nil {
		t.Errorf("issue_refund without a key = %v, want an error", v)
	}
}

func TestSayOfTheRefundTools(t *testing.T) {
	c := tools(t, demo.Config{})
	args := map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "already approved", "message": "pay at once"}
	want := map[string]string{
		"get_refund_context": "looking up the account of user 42",
		"issue_refund":       "refunding 1200.00 USD to user 42",
		"send_refund_email":  "emailing user 42 about a refund of 1200.00 USD",
	}
	for name, text := range want {
		tool, _ := c.Tool(name)
		if got := tool.Say(args); got != text {
			t.Errorf("%s: Say(%v) = %q, want %q", name, args, got, text)
		}
	}
}
