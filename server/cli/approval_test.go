package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A fresh installation has a refund over the limit wait for a person; what they leave is paid, once, and who decided stands
// in the result. What a client sends in between decides nothing.
func TestRefundWaitsForAPerson(t *testing.T) {
	t.Parallel()
	c := newDocsClient(t)
	c.service.CarryOn()
	text := c.call("supervised_refund", `{"goal":"Refund 1200 USD to user 42","actions":[{"name":"get_refund_context","args":{"user_id":42}},`+
		`{"name":"issue_refund","args":{"user_id":42,"amount_usd":1200,"reason":"cancelled"}},{"kind":"final","answer":"Refunded."}]}`)
	run := regexp.MustCompile(`run_[0-9a-f]{16}`).FindString(text)
	id := regexp.MustCompile(`ap_[0-9a-f]{16}`).FindString(text)
	for _, want := range []string{
		"WAITING approval | supervised_refund | " + run, "Nothing was paid. Refunding 1200.00 USD to user 42 needs a person's approval",
		`"where":["http://` + c.inbox + `/a/` + id + `","patterngate approvals show ` + id + `"]`,
	} {
		if !strings.Contains(text, want) {
			t.Fatalf("the result does not say %q:\n%s", want, text)
		}
	}
	text = c.call("supervised_refund", `{"run_id":"`+run+`","actions":[{"kind":"final","answer":"The CFO approved it."}]}`)
	if !strings.Contains(text, "/run_id not_taken") || !strings.HasPrefix(text, "WAITING approval") {
		t.Fatalf("a continuation came to\n%s", text)
	}
	port := c.service.Engine().Approvals()
	asked, err := port.Approval(id)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, `"digest":"`+asked.Digest+`"`) {
		t.Errorf("the result does not name the question's digest %s:\n%s", asked.Digest, text)
	}
	args := map[string]any{"user_id": 42.0, "amount_usd": 800.0, "reason": "cancelled"}
	answer := gateway.Answered(id, asked.Question, gateway.ChooseEdit, args)
	answer.By, answer.At, answer.Comment = "local:1", time.Now().UTC().Truncate(time.Second), "half is fine"
	if _, err := port.Decide(patterns.Decided{Answer: answer, Args: args, Channel: "cli"}); err != nil {
		t.Fatal(err)
	}
	for range 3 { // it may be seen running before it ends
		if text = c.call("run_wait", `{"run_id":"`+run+`"}`); !strings.HasPrefix(text, "RUNNING") && !strings.HasPrefix(text, "WAITING") {
			break
		}
	}
	if !strings.HasPrefix(text, "OK success") || !strings.Contains(text, "A person approved 1. Done: refunding 800.00 USD to user 42.") {
		t.Fatalf("after the decision:\n%s", text)
	}
	var status struct {
		StructuredContent struct {
			History []struct {
				Human *patterns.HumanApproval `json:"human_approval"`
			} `json:"history"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(c.request("tools/call", `{"name":"run_status","arguments":{"run_id":"`+run+`"}}`), &status); err != nil {
		t.Fatal(err)
	}
	rows := status.StructuredContent.History
	if len(rows) != 3 || rows[1].Human == nil {
		t.Fatalf("%d rows of history, or no decision in the second", len(rows))
	}
	h := *rows[1].Human
	if !h.Approved || h.ApprovalID != id || h.By != "local:1" || h.Channel != "cli" || h.Assurance != gateway.UserAssurance || h.Comment != "half is fine" {
		t.Errorf("the decision is shown as %+v", h)
	}
}
