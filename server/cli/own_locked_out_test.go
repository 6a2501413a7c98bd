package cli

import (
	"errors"
	"os"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// linesList is payList, where what an order has is a list of amounts: their types are in the lock alone.
var linesList = strings.NewReplacer(
	`"required":["order"]}},
 {"name":"pay"`, `"required":["order"]},
  "outputSchema":{"type":"object","properties":{"payments":{"type":"array","items":{"type":"object","properties":{"cents":{"type":"integer"}},"required":["cents"]}}}}},
 {"name":"pay"`,
	`"SECRETWORDS":{"enum":["SECRETWORDS"]}`, `"lines":{"type":"array","items":{"type":"object","properties":{"cents":{"type":"integer"}},"required":["cents"]}}`,
).Replace(payList)

// An expression that needs the types of a tool's definition locks nobody out of the state file while no line of the lock counts:
// the tool is held, and all else goes on, above all what accepts it.
func TestExpressionsOfHeldToolsLockNobodyOut(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]string{
		"a business key": `once: 'args.order + "-" + string(sum(args.lines.map(l, l.cents)))'`,
		"a lost call":    `reconcile: {tool: look, args: {order: effect.args.order}, happened: 'sum(result.payments.map(p, p.cents)) >= 1'}`,
	} {
		t.Run(name, func(t *testing.T) {
			if name != "a business key" {
				inCI(t, "it signs many times")
			}
			t.Parallel()
			s := &payScene{ownScene: newOwnScene(t, strings.Replace(payTools, "Notes an order.", "Notes an order., "+member, 1), payPatterns)}
			s.ownScene.declare(t, linesList)
			s.accepts(t, "look", "pay", "note")
			run := s.begins(t, "decomposition", "first")
			s.enrol(t)
			s.secrets = []string{goodPassphrase}
			s.does(t, console.ExitDone, "kill-switch", "on", "--tool", "drift")
			s.does(t, console.ExitDone, "runs", "cancel", run.RunID)

			served, _ := s.opens(t)
			stopsHeld(t, clientInside(t, served))
			if got, code, errs := acceptStates(t, s.ownScene, s.secrets, "--yes", "crm/look", "crm/note"); code != console.ExitDone || got["crm/note"] != "unsigned" {
				t.Errorf("catalog accept ends with %d: %s; states %v", code, errs, got)
			}
			if got, code, errs := acceptStates(t, s.ownScene, nil, "crm/note"); code != console.ExitDone || got["crm/note"] != "same" {
				t.Errorf("signed: catalog accept ends with %d: %s; states %v", code, errs, got)
			}
		})
	}
}

// stopsHeld holds that a plan with a call of note stops for that it is held.
func stopsHeld(t *testing.T, c *docsClient) {
	t.Helper()
	const plan = `{"kind":"plan","steps":[{"id":"a","title":"a","tool":"note","args":{"order":"A1"}},{"id":"b","title":"b","tool":"look","args":{"order":"A1"}},` +
		`{"id":"c","title":"c","tool":"look","args":{"order":"A2"}}]}`
	raw := string(c.request("tools/call", `{"name":"run_task_decomposition","arguments":{"goal":"g","finalize":false,"plan":`+plan+`}}`))
	if !strings.Contains(raw, `"tool_unavailable:note"`) {
		t.Errorf("a plan with a held tool ends as %s", raw)
	}
}

// A state file that cannot be read may hold keys: what counts of a lock is not guessed.
func TestCatalogAcceptNeedsTheKeys(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "")
	s.must(t, "catalog", "accept", "--yes")
	if err := errors.Join(os.Remove(s.state), os.WriteFile(s.state, []byte(strings.Repeat("no state file ", 100)), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"accept", "list"} {
		if code, out, errs := s.command(t, nil, "catalog", word); code != console.ExitFault || out != "" || !strings.Contains(errs, s.state) {
			t.Errorf("catalog %s ends with %d: %s%s", word, code, out, errs)
		}
	}
}
