package server

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

// What is switched off is told wherever somebody asks how things stand, also that it cannot be read.
func TestSwitchesAreTold(t *testing.T) {
	var on atomic.Pointer[[]patterns.Switch]
	var fault atomic.Pointer[error]
	s := serving(t, overOrders(t), func(c *Config) {
		c.Switches = func() ([]patterns.Switch, error) {
			if err := fault.Load(); err != nil {
				return nil, *err
			}
			if list := on.Load(); list != nil {
				return *list, nil
			}
			return nil, nil
		}
	})
	c := connect(t, s)
	c.call("read_order", `{"order_id":"A-1234"}`)
	ask := func(want string) {
		t.Helper()
		for _, tool := range []string{arguments.CatalogTool, arguments.StatusTool, arguments.ListTool} {
			summary, _ := c.call(tool, `{}`).result(t).Structured["summary"].(string)
			if strings.Contains(summary, "switch") != (want != "") || !strings.Contains(summary, want) {
				t.Errorf("%s: %q, want it to say %q", tool, summary, want)
			}
		}
	}
	ask("")
	on.Store(&[]patterns.Switch{{Tool: "pay_back", Reason: "wrong\nsums", By: "local:1000"}, {Pattern: "refund"}})
	ask(`Kill switch on: pay_back was switched off by local:1000, reason: "wrong\nsums", and 1 more.`)
	on.Store(&[]patterns.Switch{{Tool: "pay_back"}, {By: "local:7"}}) // who reads the first must not take it for all that is off
	ask("Kill switch on: everything was switched off by local:7, and 1 more.")
	on.Store(nil)
	ask("")
	broken := errors.New("the state file is locked")
	fault.Store(&broken)
	ask("Whether a kill switch is on could not be read.")
	fault.Store(nil)
	for _, tt := range []struct {
		off  patterns.Switch
		want []string // in the summary, and in what the person is told
	}{
		{patterns.Switch{Tool: "pay_back", By: "local:7"}, []string{"pay_back was switched off by local:7", "`patterngate kill-switch off --tool pay_back`."}},
		{patterns.Switch{Pattern: "refund"}, []string{"pattern refund was switched off", "`patterngate kill-switch off --pattern refund`."}},
		{patterns.Switch{}, []string{"everything was switched off", "`patterngate kill-switch off`."}},
		{patterns.Switch{Tool: "read_order"}, []string{"kill switch"}},
	} {
		on.Store(&[]patterns.Switch{tt.off})
		tool := s.toolOf("refund")
		e := tool.envelope(tool.NewCall(map[string]any{"order_id": "a", "cents": 1.0}),
			patterns.Ended{RunID: "run_1", Result: patterns.Result{StopReason: outcome.KillSwitch, Phase: patterns.PhaseCall}})
		for _, want := range tt.want {
			if !strings.Contains(e.Next.Say, want) || e.Next.Action != envelope.ActionTell || !strings.Contains(e.Summary, want) {
				t.Errorf("%+v: %s %q, summary %q; want %q in both", tt.off, e.Next.Action, e.Next.Say, e.Summary, want)
			}
		}
	}
}
