package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/server/settings"
)

// reasonsIn are all stop reasons of a result: the run's, and its tasks'.
func reasonsIn(v any) (reasons []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if reason, ok := member.(string); ok && name == "stop_reason" && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			reasons = append(reasons, reasonsIn(member)...)
		}
	case []any:
		for _, item := range v {
			reasons = append(reasons, reasonsIn(item)...)
		}
	}
	return reasons
}

// hostileReason is by which stop reason a kind says how a call ended.
func hostileReason(kind gateway.Kind, end, tool string) string {
	family := map[gateway.Kind]string{gateway.Orchestrator: "worker", gateway.Routing: "route", gateway.Planning: "executor"}[kind]
	if family == "" {
		family = "tool"
	}
	switch {
	case (end == "late" || end == "timeout") && kind == gateway.Orchestrator:
		return "task_timeout"
	case (end == "late" || end == "timeout") && kind == gateway.Planning:
		return "subtask_timeout"
	case end == "late", end == "in_doubt":
		return "in_doubt:" + tool
	case end == "bad_result" && kind == gateway.Routing:
		return "route_bad_observation"
	}
	return family + "_" + end + ":" + tool
}

// Whatever a team's server or service does, each kind of pattern ends for its own reason, and other tools go on.
func TestHostileOwnTools(t *testing.T) {
	inCI(t, "it waits for time limits of many calls")
	s := serveHostiles(t, settings.MemoryState)
	for _, all := range []map[string]hostileEnds{hostileServers, hostileServices} {
		for name, ends := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				n := 0
				for kind := range hostileKinds {
					for what, end := range map[string]string{"look": ends.look, "act": ends.act} {
						tool := hostileName(name, kind) + "_" + what
						if n++; kind == gateway.Call && !isKnown(tool) {
							if _, err := s.client.CallRaw(t.Context(), tool, []byte(`{}`), nil); err == nil {
								t.Errorf("%s is called by itself, and nobody knows what it is", tool)
							}
							continue
						}
						result := s.run(t, kind, n, tool)
						if want := hostileReason(kind, end, tool); !slices.Contains(reasonsIn(result), want) {
							t.Errorf("%s of %s: %v, want %s: %v", kind, tool, reasonsIn(result), want, result["summary"])
						}
					}
				}
				if result := s.run(t, gateway.Call, n, "fine_look"); result["stop_reason"] != "success" {
					t.Errorf("another tool: %v: %v, want success", result["stop_reason"], result["summary"])
				}
			})
		}
	}
}

// What a server says of its tools is shown to nobody before a person accepted it: not at first, and not when it says
// something else in the middle of a run.
func TestPoisonIsNotShown(t *testing.T) {
	t.Parallel()
	s := serveHostiles(t, settings.MemoryState)
	result := s.run(t, gateway.TaskDecomposition, 1, "moody_look", "moody_turn", "moody_look")
	if trace, _ := result["trace"].([]any); result["stop_reason"] != "tool_unavailable:moody_look" || len(trace) != 3 {
		t.Errorf("a list changed in the middle of a run: %v after %d steps, want tool_unavailable:moody_look in the third", result["stop_reason"], len(trace))
	}
	kinds := killedKinds(t)
	if !slices.Contains(kinds, gateway.TaskDecomposition) { // a call of one tool cannot name the poisoned one
		kinds = append(kinds, gateway.TaskDecomposition)
	}
	for _, kind := range kinds {
		tools := []string{"moody_look", "poisoned_look"}
		if kind == gateway.Call {
			tools = tools[:1] // nothing of the other is known: it is not listed
		}
		for i, tool := range tools {
			if result, want := s.run(t, kind, 10+i, tool), hostileReason(kind, "unavailable", tool); !slices.Contains(reasonsIn(result), want) {
				t.Errorf("%s of %s: %v, want %s", kind, tool, reasonsIn(result), want)
			}
		}
		if result := s.run(t, kind, 20, "fine_look"); result["stop_reason"] != "success" {
			t.Errorf("%s of another tool: %v: %v", kind, result["stop_reason"], result["summary"])
		}
	}
	list, err := s.client.Definitions(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("tools/list: %d, %v", len(list), err)
	}
	shown, err := s.client.CallRaw(t.Context(), "describe_catalog", []byte(`{"limit":100}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if text := string(d.Description) + string(d.Input); strings.Contains(text, poison) || d.Tool() == "poisoned_look" {
			t.Errorf("%s is listed with %s", d.Tool(), text)
		}
	}
	if text := string(shown.Raw); strings.Contains(text, poison) || !strings.Contains(text, "moody_look") {
		t.Errorf("describe_catalog shows %s", text)
	}
}

// A business key that was used for something else, and a kill switch, end each kind of pattern.
func TestOwnCallsRefusedInEveryKind(t *testing.T) {
	inCI(t, "it starts processes, and runs every kind of pattern")
	t.Parallel()
	s := serveHostiles(t, filepath.Join(t.TempDir(), settings.StateFile))
	if result := s.run(t, gateway.Call, 1, "fine_act"); result["stop_reason"] != "success" {
		t.Fatalf("the first act: %v: %v", result["stop_reason"], result["summary"])
	}
	for kind := range hostileKinds {
		want := "policy_block:once_reused"
		if kind == gateway.Supervisor {
			want = "supervisor_block:once_reused"
		}
		if result := s.run(t, kind, 2, "fine_act"); !slices.Contains(reasonsIn(result), want) {
			t.Errorf("%s: %v, want %s: %v", kind, reasonsIn(result), want, result["summary"])
		}
	}
	if out, err := s.program("kill-switch", "on", "--tool", "fine_look", "--reason", "a test").CombinedOutput(); err != nil {
		t.Fatalf("kill-switch on: %v\n%s", err, out)
	}
	for kind := range hostileKinds {
		if result := s.run(t, kind, 3, "fine_look"); result["stop_reason"] != "kill_switch" {
			t.Errorf("%s: %v, want kill_switch: %v", kind, result["stop_reason"], result["summary"])
		}
		if result := s.run(t, kind, 4, "moody_turn"); result["stop_reason"] != "success" {
			t.Errorf("%s of another tool: %v: %v", kind, result["stop_reason"], result["summary"])
		}
	}
}
