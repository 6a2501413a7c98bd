package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// What the server of parked runs declares: a call of pay is lost, so that its run waits until somebody says what became of it.
// The words are those of a line that nobody signed.
const payList = `[
 {"name":"look","description":"Looks an order up.","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}},
 {"name":"pay","description":"Pays an order.","inputSchema":{"type":"object","properties":{"order":{"type":"string"},"request_id":{"type":"string"}},"required":["order"]}},
 {"name":"note","description":"Notes an order, SECRETWORDS.","inputSchema":{"type":"object","properties":{"order":{"type":"string"},"SECRETWORDS":{"enum":["SECRETWORDS"]}},"required":["order"]}}
]`

// payTools are the tools of payList besides look, with words of the file's own.
const payTools = "        pay: {effect: write, description: Pays an order.}\n        note: {effect: write, description: Notes an order.}\n"

// payPatterns are what plans over them; the rules make plans, and write.
const payPatterns = `llm: {provider: rules}
patterns:
  run_task_decomposition: {tools: [look, pay, note]}
  run_orchestrator: {tools: [look, pay, note], budget: {task_timeout_seconds: 30, max_seconds: 60}}
  supervised_refund: {tools: [look, pay, note]}
`

// payCalls begin a run that looks an order up, pays and notes it.
var payCalls = map[string][]string{
	"decomposition": {"run_task_decomposition", "goal=Look up order A1, pay order A1 and note order A1.", "finalize=false"},
	"orchestrator": {
		"run_orchestrator", "goal=g", "report_date=2026-02-26", "region=US", "finalize=false",
		`plan:={"kind":"plan","tasks":[{"id":"a","worker":"pay","args":{"order":"A1"},"critical":true}]}`,
	},
	"supervisor": {"supervised_refund", "goal=Look up order A1, pay order A1 and note order A1."},
}

// payScene is a scene with runs that wait because a payment was lost.
type payScene struct {
	*ownScene
	secrets []string
}

func newPayScene(t *testing.T) *payScene {
	t.Helper()
	s := &payScene{ownScene: newOwnScene(t, payTools, payPatterns)}
	s.ownScene.declare(t, payList)
	return s
}

// does carries out a command; where a key is enrolled it is signed.
func (s *payScene) does(t *testing.T, want int, args ...string) string {
	t.Helper()
	code, out, errs := s.command(t, s.secrets, args...)
	if code != want {
		t.Fatalf("%q ends with %d, want %d: %s%s", args, code, want, out, errs)
	}
	return out
}

func (s *payScene) accepts(t *testing.T, tools ...string) {
	t.Helper()
	args := []string{"catalog", "accept", "--yes"}
	for _, name := range tools {
		args = append(args, "crm/"+name)
	}
	s.does(t, console.ExitDone, args...)
}

// begins begins a run, which waits for what became of its payment.
func (s *payScene) begins(t *testing.T, kind, key string) tillRun {
	t.Helper()
	code, out, errs := s.command(t, nil, slices.Concat([]string{"call", "--json"}, payCalls[kind], []string{"idempotency_key=" + key})...)
	var run tillRun
	if err := json.Unmarshal([]byte(out), &run); err != nil || run.WaitingFor.Kind != "settlement" {
		t.Fatalf("a call of %s ends with %d, %v: %s%s", kind, code, err, out, errs)
	}
	return run
}

// settles holds that a run still waits, and says what became of its payment.
func (s *payScene) settles(t *testing.T, run tillRun) {
	t.Helper()
	var now tillRun
	out := s.does(t, exitWaiting, "call", "run_wait", "run_id="+run.RunID, "max_wait_seconds=0", "--json")
	if err := json.Unmarshal([]byte(out), &now); err != nil || now.Status != "waiting" {
		t.Errorf("it stands as %s", out)
	}
	s.does(t, console.ExitDone, "runs", "settle", run.RunID, run.WaitingFor.Key, "--happened", "--result", `{"paid":true}`)
}

// Runs that were begun before a key was enrolled, or while nobody had signed what a server declares, go on as they began
// whatever is signed since: what is held is not called, and nothing else of them changes.
func TestRunsGoOnWhoeverSigned(t *testing.T) {
	t.Parallel()
	const held = "stopped tool_unavailable:note"
	enrolled := func(t *testing.T, s *payScene) {
		s.enrol(t)
		s.secrets = []string{goodPassphrase}
	}
	all := func(t *testing.T, s *payScene) { s.accepts(t, "look", "pay", "note") }
	allButNote := func(t *testing.T, s *payScene) {
		all(t, s)
		enrolled(t, s)
		s.accepts(t, "look", "pay")
	}
	for name, tt := range map[string]struct {
		kind          string
		before, since func(t *testing.T, s *payScene)
		want          string
		always        bool // also without CI
	}{
		"a key since":             {"decomposition", all, enrolled, held, true},
		"a key since, its own":    {"orchestrator", all, enrolled, "ok success", false},
		"a key since, one by one": {"supervisor", all, enrolled, held, false},
		"still unsigned":          {"decomposition", allButNote, func(*testing.T, *payScene) {}, held, false},
		"signed since":            {"decomposition", allButNote, func(t *testing.T, s *payScene) { s.accepts(t, "note") }, held, false},
	} {
		t.Run(name, func(t *testing.T) {
			if !tt.always {
				inCI(t, "it signs many times")
			}
			t.Parallel()
			s := newPayScene(t)
			tt.before(t, s)
			goes, ends := s.begins(t, tt.kind, "first"), s.begins(t, tt.kind, "second")
			tt.since(t, s)
			if out := s.does(t, console.ExitDone, "runs", "cancel", ends.RunID); !strings.Contains(out, "stopped cancelled") {
				t.Errorf("cancelled it ends as %s", out)
			}
			s.settles(t, goes)
			if out := s.does(t, console.ExitDone, "runs", "resume", goes.RunID); !strings.Contains(out, tt.want) {
				t.Errorf("settled it ends as %s; want %s", out, tt.want)
			}
			_, told, _ := s.command(t, nil, "call", "run_status", "run_id="+goes.RunID)
			if begin, accept := strings.Contains(told, "start a new run"), strings.Contains(told, "patterngate catalog accept"); begin != (name == "signed since") || accept != (tt.want == held && !begin) {
				t.Errorf("what to do about it is told as %s", told)
			}
			if _, _, errs := s.command(t, nil, "runs", "export", goes.RunID, "--as", "test"); strings.Contains(errs, "cannot be replayed") {
				t.Errorf("a test of it: %s", errs)
			}
			if called := s.called(t); slices.Contains(called, "note") {
				t.Errorf("calls of %q", called)
			}
		})
	}
}

// A reload after a key was enrolled shows nothing more of what it did not sign, not even in what is wrong with a call; runs that
// began before the next one go on as they began.
func TestReloadHoldsWhatNobodySigned(t *testing.T) {
	t.Parallel()
	s := newPayScene(t)
	s.write(t, strings.Replace(payTools, "Notes an order.", "Notes an order., once: args.order", 1), payPatterns)
	s.declare(t, strings.Replace(payList, `["SECRETWORDS"]}},"required":["order"]`, `["SECRETWORDS"]}},"required":["SECRETWORDS"]`, 1))
	s.accepts(t, "look", "pay", "note")
	served, _ := s.opens(t)
	c := clientInside(t, served)
	reloads := func() {
		t.Helper()
		loaded, _, err := served.Load(settings.Sources{Path: s.config, State: s.state})
		if err == nil {
			err = served.Put(loaded, nil, func(assembly.Loaded) error { return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.enrol(t)
	s.secrets = []string{goodPassphrase}
	s.accepts(t, "look", "pay")
	reloads()
	const plan = `{"kind":"plan","steps":[{"id":"a","title":"a","tool":"note","args":{}},{"id":"b","title":"b","tool":"look","args":{"order":"A1"}},` +
		`{"id":"c","title":"c","tool":"look","args":{"order":"A2"}}]}`
	raw := string(c.request("tools/call", `{"name":"run_task_decomposition","arguments":{"goal":"g","finalize":false,"plan":`+plan+`}}`))
	if !strings.Contains(raw, `"tool_unavailable:note"`) {
		t.Errorf("a plan with a held tool ends as %s", raw)
	}
	raw += string(c.request("tools/list", `{}`)) + string(c.request("tools/call", `{"name":"describe_catalog","arguments":{}}`))
	if strings.Contains(raw, "SECRETWORDS") {
		t.Errorf("a client reads what nobody signed: %s", raw)
	}

	run := s.begins(t, "decomposition", "first")
	s.accepts(t, "note")
	reloads()
	s.settles(t, run)
	list, err := served.Engine().Operator().Resume(t.Context(), run.RunID)
	if err != nil || len(list) != 1 || list[0].Ended.Result.OK() || list[0].Ended.Result.StopReason != "tool_unavailable:note" {
		t.Errorf("begun before it was signed: %+v, %v", list, err)
	}
	if raw := string(c.request("tools/call", `{"name":"describe_catalog","arguments":{}}`)); !strings.Contains(raw, "SECRETWORDS") {
		t.Errorf("what was signed is not shown: %s", raw)
	}
}
