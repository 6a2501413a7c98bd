package server

import (
	"slices"
	"strings"
	"testing"
)

// TestOffer holds what clients see where some tools are not offered: nothing names them, and a call of one is unknown.
func TestOffer(t *testing.T) {
	offered := []string{sv, td, "run_status", "run_wait"}
	s := serving(t, offersPlanning, func(c *Config) { c.Offer = offered })
	var names []string
	for _, tool := range s.Tools() {
		names = append(names, tool.Name)
	}
	if want := []string{td, sv, "run_status", "run_wait"}; !slices.Equal(names, want) {
		t.Errorf("listed are %v, want %v", names, want)
	}
	if outputs := s.Outputs(); len(outputs) != len(names) {
		t.Errorf("%d output schemas, want those of %v", len(outputs), names)
	}
	c := connect(t, s)
	said := s.instructions()
	c.send(`{"jsonrpc":"2.0","id":5,"method":"prompts/list"}`)
	said += string(c.next().Result)
	for _, hidden := range []string{or, rt, "plan_decompose", "plan_status", "describe_catalog", "run_cancel", "list_runs"} {
		if strings.Contains(said, hidden) {
			t.Errorf("instructions and prompts name %s: %s", hidden, said)
		}
		if m := c.call(hidden, `{}`); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%s: %s, want -32602", hidden, m.line)
		}
	}
	for _, tool := range []string{sv, "run_wait"} { // else they name list_runs
		next, _ := c.call(tool, `{"run_id":"run_0000000000000000"}`).result(t).Structured["next"].(map[string]any)
		if next["action"] != "call" || next["tool"] != "run_status" || len(next["arguments"].(map[string]any)) != 0 {
			t.Errorf("%s of an unknown run: next %v, want run_status without arguments", tool, next)
		}
	}
	reloaded := s.config
	reloaded.Offer = []string{"run_status"}
	if err := s.Replace(reloaded); err != nil {
		t.Fatal(err)
	}
	ask := func(tool, arguments string) message {
		c.send(callLine(7, tool, arguments))
		for {
			if m := c.next(); m.ID != nil { // not a notification about the reload
				return m
			}
		}
	}
	r := ask("run_status", `{"run_id":"run_0000000000000000"}`).result(t).Structured
	if next, _ := r["next"].(map[string]any); next["tool"] != "run_status" {
		t.Errorf("next %v, want run_status", next)
	}
	if m := ask(td, `{}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("after a reload: %s, want -32602", m.line)
	}
	config := serving(t).config
	config.Offer = []string{td, "run_status"}
	if _, err := New(config); err == nil || !strings.Contains(err.Error(), "without run_wait") {
		t.Errorf("a pattern without run_wait: %v", err)
	}
}
