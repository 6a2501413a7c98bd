package patterns

import (
	"testing"
	"time"

	"patterngate/gateway"
)

// listed are approvals of which only the list is asked.
type listed struct {
	Approvals
	rows []Asked
}

func (l listed) ListApprovals(f ApprovalFilter) (ApprovalPage, error) {
	if !f.All {
		return ApprovalPage{}, nil
	}
	return ApprovalPage{Rows: l.rows}, nil
}

// Equal calls are told that wait or were approved within a day; others are not.
func TestAlike(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	args := map[string]any{"user_id": 42.0, "amount_usd": 1200.0}
	asked := func(id, tool string, args map[string]any, state AskedState, given *Given) Asked {
		return Asked{ID: id, Question: gateway.Question{Tool: tool, Args: args}, State: state, Given: given}
	}
	decided := func(choice gateway.Choice, ago time.Duration, args map[string]any) *Given {
		return &Given{Answer: gateway.Answer{Choice: choice, At: now.Add(-ago)}, Args: args}
	}
	other := map[string]any{"user_id": 42.0, "amount_usd": 800.0}
	rows := []Asked{
		asked("itself", "pay", args, AskedOpen, nil),
		asked("waits", "pay", args, AskedOpen, nil),
		asked("approved", "pay", args, AskedDecided, decided(gateway.ChooseApprove, time.Hour, nil)),
		asked("edited to it", "pay", other, AskedDecided, decided(gateway.ChooseEdit, time.Hour, args)),
		asked("edited to another", "pay", args, AskedDecided, decided(gateway.ChooseEdit, time.Hour, other)),
		asked("edit that is not kept", "pay", args, AskedDecided, decided(gateway.ChooseEdit, time.Hour, nil)),
		asked("rejected", "pay", args, AskedDecided, decided(gateway.ChooseReject, time.Hour, nil)),
		asked("long ago", "pay", args, AskedDecided, decided(gateway.ChooseApprove, 25*time.Hour, nil)),
		asked("expired", "pay", args, AskedExpired, nil),
		asked("unreadable", "pay", args, AskedDecided, nil),
		asked("another tool", "wire", args, AskedOpen, nil),
		asked("other arguments", "pay", other, AskedOpen, nil),
	}
	list, err := Alike(listed{rows: rows}, rows[0], now)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, a := range list {
		got += a.ID + "; "
	}
	if want := "waits; approved; edited to it; "; got != want {
		t.Errorf("Alike = %s, want %s", got, want)
	}
}
