package local_test

import (
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A state file as it was written has nothing wrong with it, with a run that ended and one that waits for its caller. The tests in
// audit_content_test.go have approvals, settled calls, child runs, hidden values and pruned runs.
func TestAuditFindsNothing(t *testing.T) {
	t.Parallel()
	e := openPort(t, newState(t), &begun{})
	for _, ends := range []bool{true, false} {
		if id := begin(t, e, refundJob(t, lookUp)).RunID; ends {
			send(t, e, id, object{"actions": []any{final}})
		}
	}
	if found, err := e.Operator().Audit(); err != nil || len(found) > 0 {
		t.Errorf("%v, %v; want nothing", found, err)
	}
}

// Rows that point at nothing, and tables that are others than Patterngate makes, are found out, and whose they are.
func TestAudit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		query string
		want  string
		run   bool // the damage names the run
	}{
		"events of no run":      {"INSERT INTO events (n, seq, at, kind, key, body, hash) VALUES (7, 1, 1, 'note', '', '{}', x'00')", "events of a missing run", false},
		"a run without events":  {"DELETE FROM events WHERE n = ?1", "a run without events", true},
		"hidden values":         {"INSERT INTO redacted VALUES (7, x'00', x'00')", "hidden values of a missing run", false},
		"a settled call":        {"INSERT INTO settled VALUES (7, 'k', 'ok', 'a')", "settled calls of a missing run", false},
		"an approval of no run": {"INSERT INTO approvals (ap, n, seq, rule, digest, since, expires, shown) VALUES (3, 7, 1, 'r', 'd', 1, 1, x'7b7d')", "request for approval of a missing run", false},
		"an approval unasked":   {"INSERT INTO approvals (ap, n, seq, rule, digest, since, expires, shown) VALUES (3, ?1, 1, 'r', 'd', 1, 1, x'7b7d')", "no event asks for", true},
		"an approval missing": {`INSERT INTO events (n, seq, at, kind, key, body, hash)
			VALUES (?1, 99, 1, 'intent', 'k', '{"effect_kind":"human","object":{"run":"x"}}', x'00')`, "is missing", true},
		"a share":          {"INSERT INTO plan_shares VALUES (3, 's', 'o')", "a spent share", false},
		"a business key":   {"INSERT INTO acted VALUES ('pay', 'k', x'00', 7, 'e', 'a', NULL)", "a business key", false},
		"a parent":         {"UPDATE runs SET parent = 7 WHERE n = ?1", "a child run whose parent is missing", true},
		"a trigger":        {"CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END", "trigger t does not belong in a Patterngate state file", false},
		"a table":          {"CREATE TABLE more (x)", "table more does not belong in a Patterngate state file", false},
		"an index missing": {"DROP INDEX approvals_run", "index approvals_run is missing", false},
		"a table altered":  {"ALTER TABLE approvals ADD COLUMN more TEXT", "table approvals differs from what Patterngate creates", false},
	} {
		t.Run(name, func(t *testing.T) {
			e := openPort(t, newState(t), &begun{})
			id := begin(t, e, refundJob(t, lookUp)).RunID
			if strings.Contains(tt.query, "?1") {
				e.Alter(t, tt.query, local.Number(id))
			} else {
				e.Alter(t, tt.query)
			}
			found, err := e.Operator().Audit()
			if err != nil || len(found) != 1 || !strings.Contains(found[0].Reason, tt.want) || (found[0].Run == id) != tt.run {
				t.Errorf("%+v, %v; want %q, of the run: %v", found, err, tt.want, tt.run)
			}
		})
	}
}

// While others write nothing is taken for damage: rows and the record are seen in one state of the file.
func TestVerifyWhileRunsGoOn(t *testing.T) {
	t.Parallel()
	path := newState(t)
	e, other := openPort(t, path, &begun{}), openPort(t, path, &begun{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 20 {
			ended, err := e.Start(t.Context(), presented(refundJob(t, lookUp)))
			if err == nil {
				_, err = e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: ended.RunID, Given: object{"actions": []any{final}}})
			}
			if err != nil {
				t.Errorf("a run: %v", err)
			}
		}
	}()
	for going := true; going; {
		select {
		case <-over:
			going = false
		default:
		}
		if found, err := other.Operator().Audit(); err != nil || len(found) > 0 {
			t.Fatalf("while runs go on: %v, %v", found, err)
		}
		page, err := other.Operator().List(patterns.Filter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Rows {
			if r := checked(t, other, row.RunID); !r.OK {
				t.Fatalf("while %s goes on: %v", row.RunID, r.Broken)
			}
		}
	}
}
