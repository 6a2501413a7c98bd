package local_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

var places = []string{
	"/args/message", "/args/report_date", "/args/manager_id", "/args/ticket", "/result/*/tier", "/result/amount_usd", "/input/goal", "/answer",
}

// redacting is an engine over a state file that keeps values at some places out of records.
func redacting(t testing.TB, path string, source patterns.Source, places []string) *local.Engine {
	t.Helper()
	e, err := local.Open(local.Options{Path: path, Source: source, Config: "sha256:test", Snapshot: []byte("{}"), Redact: places})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

const zanzibar = `Paid to "Zanzibar" 7731`

// redactedRuns are runs in which values stand at places of redacting, and texts that may not be found.
var redactedRuns = map[string]struct {
	kind    gateway.Kind
	task    patterns.Task
	replies []string
	secrets []string
}{
	"decompose":   {gateway.TaskDecomposition, patterns.Task{Goal: "April", Finalize: true}, []string{plan, zanzibar}, []string{"Zanzibar"}},
	"orchestrate": {gateway.Orchestrator, patterns.Task{Goal: "Morning", Inputs: patterns.Inputs{"region": "US", "report_date": "2026-02-26"}, Finalize: true}, []string{tasks, zanzibar}, []string{"Zanzibar"}},
	"route": {gateway.Routing, patterns.Task{Goal: "refund please user_id=42", Finalize: true}, []string{
		`{"kind":"route","target":"billing_specialist","args":{"ticket":"refund please user_id=42"}}`, zanzibar,
	}, []string{"Zanzibar"}},
	"supervise": {gateway.Supervisor, patterns.Task{Goal: "1200"}, []string{
		`{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}`,
		`{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200}}`,
		`{"kind":"tool","name":"send_refund_email","args":{"user_id":42,"amount_usd":800,"message":"Paid to \u0022Zanzibar\u0022 7731"}}`,
		`{"kind":"final","answer":"Told them: Paid to \"Zanzibar\" 7731."}`,
	}, []string{"Zanzibar"}},
}

// A run whose values are redacted comes to the result of any other, wherever it is carried on, and leaves none of them.
func TestRedactedRunGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	for name, run := range redactedRuns {
		t.Run(name, func(t *testing.T) {
			want, record := carryOut(t, spec(t, run.kind, 0.01), run.task, &script{replies: run.replies})
			for at := range record.Events() {
				place(t, at, func(t *testing.T) {
					path := newState(t)
					job := patterns.Job{
						Spec: spec(t, run.kind, 0.01), Task: run.task, Model: &steady{replies: run.replies}, Caller: patterns.Caller{Principal: "local:1"}, Redact: places,
						Present: func(ended patterns.Ended, _ error) patterns.Presented {
							return patterns.Presented{Envelope: []byte(asJSON(t, ended.Result)), Summary: "said " + ended.Result.Answer}
						},
					}
					ended := leave(t, redacting(t, path, jobs{job.Spec.Name: job}, places), job, at)
					noneIn(t, path, run.secrets)
					later := redacting(t, path, jobs{job.Spec.Name: job}, [][]string{places, nil}[at%2]) // its own configuration says so or not
					later.Go()
					s, ok := later.Wait(t.Context(), "local:1", ended.RunID, patterns.Mark{State: patterns.Running})
					if !ok || s.State != patterns.Over && s.Ended.Waiting.Kind != patterns.ForSettlement {
						t.Fatalf("%t, %+v", ok, s)
					}
					if s.State == patterns.Over && s.Ended.Result.StopReason != want.StopReason {
						t.Errorf("%s, want %s", s.Ended.Result.StopReason, want.StopReason)
					}
					if s.State == patterns.Over && !strings.Contains(string(s.Kept), patterns.Redacted) {
						t.Errorf("kept %s", s.Kept)
					}
					later.Close()
					noneIn(t, path, run.secrets)
					for _, secret := range run.secrets {
						if s.State == patterns.Over {
							notInFiles(t, filepath.Dir(path), secret)
						}
					}
				})
			}
		})
	}
}

// noneIn looks through all tables but the one that may hold the values.
func noneIn(t testing.TB, path string, secrets []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"runs", "events", "configs", "tombstones", "approvals"} {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values, places := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
			for i := range values {
				places[i] = &values[i]
			}
			if err := rows.Scan(places...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				for _, secret := range secrets {
					if strings.Contains(string(v), secret) {
						t.Errorf("%s.%s has %q: %s", table, columns[i], secret, v)
					}
				}
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// notInFiles looks through the bytes of all files.
func notInFiles(t testing.TB, dir, secret string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil && strings.Contains(string(b), secret) {
			t.Errorf("%s holds %q", f.Name(), secret)
		}
	}
}

// While others have the file open its log is not folded away: it is emptied soon after the end of a run that had values.
func TestRedactedLogIsEmptied(t *testing.T) {
	run := redactedRuns["supervise"]
	path := newState(t)
	job := patterns.Job{Spec: spec(t, run.kind, 0.01), Task: run.task, Model: &script{replies: run.replies}, Caller: patterns.Caller{Principal: "local:1"}}
	other := redacting(t, path, jobs{}, places)
	e := redacting(t, path, jobs{job.Spec.Name: job}, places)
	e.Tidied()
	if _, err := e.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	e.Close()
	notInFiles(t, filepath.Dir(path), "Zanzibar")
	other.Close()
}

// What a person says about a run that nobody carries on is hidden as all else: why it was cancelled, why it was seized.
func TestReasonsHideWhatTheirRunHides(t *testing.T) {
	const secret = "Zanzibar 7731"
	about := patterns.Note{By: mine, Reason: "not " + secret}
	t.Run("cancelled", func(t *testing.T) {
		path := newState(t)
		job := patterns.Job{
			Spec: spec(t, gateway.Supervisor, 0.01), Caller: patterns.Caller{Principal: mine}, Arguments: object{"goal": secret},
			Task: patterns.Task{Goal: secret, Caller: patterns.Proposals("actions", []any{})},
		}
		e := redacting(t, path, jobs{job.Spec.Name: job}, places)
		ended, err := e.Start(t.Context(), job)
		if err != nil || ended.Waiting == nil {
			t.Fatalf("%+v, %v; want a run that waits", ended, err)
		}
		if s, err := e.Cancel(t.Context(), mine, ended.RunID, about); err != nil || s.State != patterns.Over {
			t.Fatalf("%s, %v", s.State, err)
		}
		noneIn(t, path, []string{secret})
		port{e, nil}.intact(t, ended.RunID)
	})
	t.Run("seized", func(t *testing.T) {
		path, g := newState(t), newGate(t, catalog.Read)
		job := g.job(t, 1)
		job.Arguments, job.Wait = object{"goal": secret}, -1
		e := redacting(t, path, jobs{job.Spec.Name: job}, places)
		ended, err := e.Start(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		<-g.entered
		if err := e.Operator().Seize(ended.RunID, about, gateway.SignedAct{}); err != nil {
			t.Fatal(err)
		}
		noneIn(t, path, []string{secret})
		port{e, nil}.intact(t, ended.RunID)
	})
}
