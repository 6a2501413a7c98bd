package local_test

import (
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// approvedRun is a run whose call a person approved, and the request.
func approvedRun(t *testing.T, e *local.Engine, job patterns.Job) patterns.Asked {
	t.Helper()
	q := waits(t, e, job)
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	if r := over(t, e, q.Question.Run).Result; !r.OK() {
		t.Fatalf("the run ended %s", r.StopReason)
	}
	return q
}

// sound checks that an audit and the check of each run find nothing.
func sound(t *testing.T, e *local.Engine) {
	t.Helper()
	if found, err := e.Operator().Audit(); err != nil || len(found) > 0 {
		t.Errorf("the audit finds %+v, %v", found, err)
	}
	for _, id := range e.RunIDs(mine) {
		if r := checked(t, port{e, nil}, id); !r.OK {
			t.Errorf("%s: %v", id, r.Broken)
		}
	}
}

// An audit finds nothing wrong with a run in any of the states that people bring it into.
func TestAuditFindsNothingOfDecisions(t *testing.T) {
	t.Parallel()
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	waits(t, e, job)
	sound(t, e)
	approvedRun(t, e, job)
	sound(t, e)
	rejected := waits(t, e, job)
	if _, err := e.Approvals().Decide(say(rejected, gateway.ChooseReject, nil)); err != nil {
		t.Fatal(err)
	}
	over(t, e, rejected.Question.Run)
	sound(t, e)
	cancelled := waits(t, e, job)
	if _, err := e.Cancel(t.Context(), mine, cancelled.Question.Run, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
		t.Fatal(err)
	}
	over(t, e, cancelled.Question.Run)
	sound(t, e)
	list, err := e.Operator().Prune(time.Now().Add(time.Hour), false)
	if err != nil || len(list) != 3 {
		t.Errorf("pruned %d runs, %v; want 3", len(list), err)
	}
	sound(t, e)
}

// An audit finds nothing wrong with a call in doubt, before and after somebody settles it.
func TestAuditFindsNothingOfSettlements(t *testing.T) {
	t.Parallel()
	for name, settlement := range map[string]local.Settlement{"it happened": {Happened: true}, "it did not": {}} {
		t.Run(name, func(t *testing.T) {
			c := &cashier{sent: make(chan string, 1)}
			path, job := newState(t), c.job(t, false)
			id := c.interrupt(t, path, job)
			e := opened(t, path, jobs{job.Spec.Name: job})
			sound(t, e)
			e.Go()
			port{e, nil}.until(t, id, patterns.Parked)
			sound(t, e)
			if err := e.Operator().Settle(id, "pay#1", settlement); err != nil {
				t.Fatal(err)
			}
			over(t, e, id)
			sound(t, e)
		})
	}
}

// An audit finds nothing wrong with child runs that wait and are cancelled, whose values are hidden.
func TestAuditFindsNothingOfChildren(t *testing.T) {
	t.Parallel()
	h := desk(t, nil)
	h.asks()
	h.says["hall"] = to("desk", `{"goal":"pay to DE02"}`)
	e := redacting(t, newState(t), h, []string{"/input/iban"})
	e.Go()
	job := h.job("hall")
	job.Arguments["iban"] = "DE02"
	ended, err := e.Start(t.Context(), job)
	if err != nil || ended.Waiting == nil {
		t.Fatalf("%+v, %v; want it to wait", ended.Result, err)
	}
	if n := e.Count(t, "SELECT count(DISTINCT n) FROM redacted"); n < 2 {
		t.Fatalf("%d runs hide something, want 2 or more", n)
	}
	sound(t, e)
	if _, err := e.Cancel(t.Context(), mine, ended.RunID, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range e.RunIDs(mine) {
		port{e, nil}.until(t, id, patterns.Over)
	}
	sound(t, e)
}

// An audit compares what the rows of runs, approvals, plans and settled calls say with the events.
func TestAuditComparesContents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ query, want string }{
		"the rule":             {"UPDATE approvals SET rule = 'other'", "differs from its event"},
		"the digest":           {"UPDATE approvals SET digest = 'sha256:00'", "differs from its event"},
		"the time":             {"UPDATE approvals SET since = since - 1", "differs from its event"},
		"the expiry":           {"UPDATE approvals SET expires = expires + 1000000", "differs from its event"},
		"open again":           {"UPDATE approvals SET state = 'open'", "the state of a request for approval differs from its record"},
		"answered again":       {"UPDATE approvals SET state = 'answered'", "the state of a request for approval differs from its record"},
		"no state":             {"UPDATE approvals SET state = 'x'", "the state of a request for approval differs from its record"},
		"the answer":           {"UPDATE approvals SET answer = x'7b7d'", "the decision about a request for approval differs from its record"},
		"the signature":        {"UPDATE approvals SET signature = 'x'", "the decision about a request for approval differs from its record"},
		"the channel":          {"UPDATE approvals SET channel = 'page'", "the decision about a request for approval differs from its record"},
		"not spent":            {"UPDATE approvals SET consumed = NULL", "the call that spent an approval differs from its record"},
		"spent on another":     {"UPDATE approvals SET consumed = 'pg_other'", "the call that spent an approval differs from its record"},
		"the id":               {"UPDATE approvals SET ap = ap - 1, consumed = NULL", "another id"},
		"no configuration":     {"UPDATE runs SET config = 'sha256:" + strings.Repeat("0", 64) + "'", "configuration is missing"},
		"a configuration":      {"INSERT INTO configs VALUES ('sha256:" + strings.Repeat("0", 64) + "', x'7b7d')", "a stored configuration was altered"},
		"a run of no state":    {"UPDATE runs SET state = 'x'", "state or times"},
		"a run without begin":  {"UPDATE runs SET began = ''", "state or times"},
		"a share spent anew":   {"INSERT INTO plan_shares SELECT ap, 's', 'pg_other' FROM approvals", "no call in its record spent it"},
		"settled without call": {"INSERT INTO settled SELECT n, 'pg_other', 'ok', 'pay#1' FROM runs", "a settled call that is not in its run's record"},
		"a plan":               {"INSERT INTO plans VALUES (1, 'local:1', 'p', 1, 1, 1, 1, NULL, NULL, x'00', x'7b7d')", "a stored plan was altered"},
	} {
		t.Run(name, func(t *testing.T) {
			job := inbox(t, "")
			e := opened(t, newState(t), jobs{job.Spec.Name: job})
			e.Go()
			approvedRun(t, e, job)
			e.Alter(t, tt.query)
			found, err := e.Operator().Audit()
			if err != nil || len(found) == 0 || !strings.Contains(found[0].Reason, tt.want) {
				t.Errorf("%+v, %v; want %q", found, err, tt.want)
			}
		})
	}
}
