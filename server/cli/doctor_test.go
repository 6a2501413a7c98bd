package cli

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// doctorRow is a check as "doctor --json" prints it.
type doctorRow struct{ Client, Check, State, Detail, Fix string }

// The states of a check.
const (
	doctorOK   = "ok"
	doctorWarn = "warn"
	doctorFail = "FAIL"
)

// doctorRows returns what doctor finds in a home, and its exit code.
func doctorRows(t *testing.T, h initHome, args ...string) ([]doctorRow, int) {
	t.Helper()
	out, errs, code := setupRun(t, h.command(t, append([]string{"doctor", "--json"}, args...)...))
	var rows []doctorRow
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatalf("doctor ends with %d, %v: %s%s", code, err, out, errs)
	}
	return rows, code
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	crm := foreignServer(t, "crm-server")
	ours := func(h initHome, args ...string) map[string]any {
		return map[string]any{"command": h.self, "args": append([]string{"serve"}, args...)}
	}
	for name, c := range map[string]struct {
		servers func(h initHome) map[string]any
		code    int
		want    []doctorRow // State, Check and a part of Detail
	}{
		"healthy": {func(h initHome) map[string]any { return map[string]any{"patterngate": ours(h)} }, console.ExitDone, []doctorRow{
			{State: doctorOK, Check: "start"}, {State: doctorOK, Check: "first answer"}, {State: doctorOK, Check: "stdout"}, {State: doctorOK, Check: "config"},
			{State: doctorOK, Check: "tools"}, {State: doctorOK, Check: "size", Detail: "tokens"}, {State: doctorOK, Check: "state"}, {State: doctorOK, Check: "approvers"},
		}},
		"no entry": {func(initHome) map[string]any { return map[string]any{} }, console.ExitFault, []doctorRow{{State: doctorFail, Check: "entry"}}},
		"gone": {func(initHome) map[string]any {
			return map[string]any{"patterngate": map[string]any{"command": "/no/such/patterngate"}}
		}, console.ExitFault, []doctorRow{{State: doctorFail, Check: "start", Detail: "there is no program"}}},
		"bad configuration": {func(h initHome) map[string]any {
			putFile(t, filepath.Join(h.dir, "bad.yaml"), "version: 1\nlgo: {}\n")
			return map[string]any{"patterngate": ours(h, "--config", filepath.Join(h.dir, "bad.yaml"))}
		}, console.ExitFault, []doctorRow{{State: doctorFail, Check: "config", Detail: "bad.yaml:2:"}, {State: doctorFail, Check: "start", Detail: "it does not start with this configuration"}}},
		"junk and bad tools": {func(initHome) map[string]any {
			return map[string]any{"patterngate": map[string]any{"command": foreignServer(t, "patterngate"), "args": []string{"serve"}, "env": map[string]string{
				foreignSays:  "hello",
				foreignTools: `[{"name":"a b","description":"x","inputSchema":{"type":"object","properties":{"x":{"oneOf":[]}}}}]`,
			}}}
		}, console.ExitFault, []doctorRow{{State: doctorFail, Check: "stdout", Detail: "hello"}, {State: doctorFail, Check: "names"}, {State: doctorFail, Check: "schemas", Detail: "oneOf at /properties/x/"}}},
		"way around": {func(h initHome) map[string]any {
			return map[string]any{"patterngate": ours(h), "crm": crmEntry(crm, nil)}
		}, console.ExitDone, []doctorRow{{State: doctorWarn, Check: "gate", Detail: "the client starts the server crm directly, without your policy ("}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newInitHome(t, "{}")
			putFile(t, h.client, clientText(t, c.servers(h)))
			rows, code := doctorRows(t, h, "cursor")
			if code != c.code {
				t.Errorf("doctor ends with %d, want %d: %+v", code, c.code, rows)
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(rows, func(r doctorRow) bool {
					return r.Client == "cursor" && r.State == want.State && r.Check == want.Check && strings.Contains(r.Detail, want.Detail) && (r.State == doctorOK || r.Fix != "")
				}) {
					t.Errorf("no row %+v in %+v", want, rows)
				}
			}
		})
	}
}

// What is switched off, and what nobody accepted, doctor reports with the command that fixes it.
func TestDoctorTellsOfSwitchesAndHeldTools(t *testing.T) {
	t.Parallel()
	h := newInitHome(t, "{}")
	crm := foreignServer(t, "crm-server")
	config, state := filepath.Join(h.dir, "pg.yaml"), filepath.Join(h.dir, "state.db")
	putFile(t, config, "version: 1\ncatalog:\n  servers: {crm: {stdio: {command: '"+crm+"', env: {"+foreignTools+": '[{\"name\":\"find_customer\",\"inputSchema\":{\"type\":\"object\"}}]'}}, tools: {find_customer: {effect: read}}}}\n"+
		"  http: {look: {description: Looks., effect: read, request: {method: GET, url: 'https://a.example'}}}\n  expose: [look]\n")
	putFile(t, h.client, clientText(t, map[string]any{"patterngate": map[string]any{"command": h.self, "args": []string{"serve", "--config", config, "--state", state}}}))
	for _, args := range [][]string{{"--tool", "look", "--reason", "audit"}, {"--pattern", "look"}, {}} {
		if out, errs, code := setupRun(t, h.command(t, append([]string{"kill-switch", "on", "--config", config, "--state", state}, args...)...)); code != console.ExitDone {
			t.Fatalf("kill-switch on %v ends with %d: %s%s", args, code, out, errs)
		}
	}
	rows, code := doctorRows(t, h, "cursor")
	if code != console.ExitDone {
		t.Errorf("doctor ends with %d: %+v", code, rows)
	}
	for _, want := range []doctorRow{
		{Check: "kill switch", Detail: "calls of the tool look are stopped since ", Fix: "patterngate kill-switch off --tool look --config " + config + " --state " + state},
		{Check: "kill switch", Detail: "runs of the pattern look are stopped since ", Fix: "patterngate kill-switch off --pattern look --config " + config + " --state " + state},
		{Check: "kill switch", Detail: "all calls are stopped since ", Fix: "patterngate kill-switch off --config " + config + " --state " + state},
		{Check: "tools", Detail: "find_customer is held: ", Fix: "patterngate catalog accept --config " + config},
	} {
		if !slices.ContainsFunc(rows, func(r doctorRow) bool {
			return r.State == doctorWarn && r.Check == want.Check && strings.HasPrefix(r.Detail, want.Detail) && r.Fix == want.Fix
		}) {
			t.Errorf("no row %+v in %+v", want, rows)
		}
	}
}
