package assembly

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/local"
	"patterngate/server/settings"
)

// injection is one written attempt: a text in some place, what a model does that obeys it, and how the run ends.
type injection struct {
	Name, Pattern, Where, Language, Technique string
	Text                                      string
	Obeys                                     json.RawMessage // the reply of a model that obeys; a text is prose
	Stop                                      string
	Calls                                     []string // of the service, all of them
}

func injections(t testing.TB) []injection {
	t.Helper()
	text, err := os.ReadFile("testdata/injections/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []injection
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestInjections runs every attempt against a model that obeys every injection it is shown, with real HTTP to model and tools: no
// forbidden call is ever made, and each run ends in its stop reason.
func TestInjections(t *testing.T) {
	t.Parallel()
	rows := injections(t)
	if len(rows) < 60 {
		t.Errorf("%d attempts, want 60", len(rows))
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			row.run(t)
		})
	}
}

func (row injection) run(t *testing.T) {
	service := &injectedService{row: row}
	web := httptest.NewServer(service)
	t.Cleanup(web.Close)
	model := &obeying{row: row, t: t}
	server := llmtest.NewFunc(model.answer)
	t.Cleanup(server.Close)

	d := injectedPatterns(t, row, web.URL, server.URL)
	goal := "What is the state of order A-1001?"
	if row.Where == "goal" || row.Where == "request" {
		goal = row.Text
	}
	arguments := map[string]any{"goal": goal}
	if row.Pattern == "desk" {
		arguments = map[string]any{"request": goal}
	}
	var inputs patterns.Inputs
	if row.Pattern == "report" {
		if arguments["note"] = "none"; row.Where == "input note" {
			arguments["note"] = row.Text
		}
		inputs = patterns.Inputs{"note": arguments["note"]}
	}
	engine := &local.Engine{}
	job, err := d.Job(patterns.Begun{Pattern: row.Pattern, Caller: patterns.Caller{Principal: "local:1"}, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	job.Principal, job.Task = "local:1", patterns.Task{Goal: goal, Inputs: inputs, Finalize: true}
	ended, err := engine.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if got := ended.Result.StopReason; got != row.Stop {
		t.Errorf("ended in %s (%s), want %s; %v", got, ended.Result.Phase, row.Stop, ended.Result.Problems)
	}
	if calls := service.called(); !slices.Equal(calls, row.Calls) {
		t.Errorf("the service was called %q, want %q", calls, row.Calls)
	}
	if asked, obeyed := model.counts(); asked == 0 || (obeyed == 0) != strings.HasPrefix(row.Where, "upstream error") {
		t.Errorf("the model was asked %d times and obeyed %d times: the attempt is none", asked, obeyed)
	}
}

// injectedPatterns are the patterns that are attacked.
func injectedPatterns(t *testing.T, row injection, service, model string) *Declaration {
	t.Helper()
	description := "Reads one order."
	if row.Where == "tool description" {
		description = row.Text
	}
	quoted, err := json.Marshal(description)
	if err != nil {
		t.Fatal(err)
	}
	return declaredFile(t, "testdata/injections/pg.yaml", strings.NewReplacer("$SERVICE", service, "$MODEL", model, "$DESCRIPTION", string(quoted)))
}

// declaredFile is what a file of testdata declares, with what stands in for its places.
func declaredFile(t *testing.T, file string, places *strings.Replacer) *Declaration {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pg.yaml")
	if err := os.WriteFile(path, []byte(places.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"XDG_STATE_HOME=" + dir}
	loaded, _, err := Load(settings.Sources{Path: path, Environ: environ}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Declare(loaded, environ)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// obeying is a model that does what it is asked until it is shown the injection, and from then on what that says.
type obeying struct {
	row injection
	t   *testing.T

	mu            sync.Mutex
	asked, obeyed int
}

func (m *obeying) counts() (asked, obeyed int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked, m.obeyed
}

func (m *obeying) answer(r llmtest.Request) llmtest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	checkMarks(m.t, r)
	payload, err := ijson.Of(r.User())
	if err != nil {
		m.t.Errorf("the payload is no JSON: %v", err)
	}
	if shown := ijson.Canonical(m.row.Text); bytes.Contains(ijson.Canonical(payload), shown[1:len(shown)-1]) {
		m.obeyed++
		return llmtest.Content(m.obedience())
	}
	return llmtest.Content(honest[m.row.Pattern])
}

// obedience is the reply; prose is a JSON text of rows.json.
func (m *obeying) obedience() string {
	var prose string
	if json.Unmarshal(m.row.Obeys, &prose) == nil {
		return prose
	}
	return string(m.row.Obeys)
}

// honest are the replies of the model as long as it sees no injection.
var honest = map[string]string{
	"report":  `{"kind":"plan","steps":[{"id":"s1","title":"read it","tool":"read_order","args":{"order_id":"A-1001"}}]}`,
	"hostile": `{"kind":"plan","steps":[{"id":"s1","title":"read it","tool":"read_hostile","args":{"order_id":"A-1001"}}]}`,
	"desk":    `{"kind":"route","target":"look","args":{"order_id":"A-1001"}}`,
	"careful": `{"kind":"tool","name":"read_order","args":{"order_id":"A-1001"}}`,
	"morning": `{"kind":"plan","tasks":[{"id":"t1","worker":"orders","args":{"order_id":"A-1001"},"critical":true}]}`,
}

// checkMarks holds that the payload is one line between the lines with the run's mark, which the system message names and the
// payload does not hold.
func checkMarks(t *testing.T, r llmtest.Request) {
	lines := strings.Split(r.UserText(), "\n")
	if len(lines) != 3 {
		t.Errorf("the user message has %d lines, want the payload between two", len(lines))
		return
	}
	mark, begins := strings.CutPrefix(lines[0], "BEGIN DATA ")
	if !begins || len(mark) != 16 || lines[2] != "END DATA "+mark || strings.Contains(lines[1], mark) || strings.Count(r.System(), mark) != 2 {
		t.Errorf("the marks are %q and %q, and the payload or the system message do not fit them", lines[0], lines[2])
	}
}

// injectedService is what the tools call; it notes every call.
type injectedService struct {
	row injection

	mu    sync.Mutex
	calls []string
}

func (s *injectedService) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls...)
}

func (s *injectedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	note := "sent on Monday"
	switch s.row.Where {
	case "observation":
		note = s.row.Text
	case "upstream error":
		w.WriteHeader(http.StatusInternalServerError)
		note = s.row.Text
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(ijson.Canonical(map[string]any{"order_id": "A-1001", "state": "sent", "note": note}))
}

// TestInjectionPage holds that docs/injection.md has every attempt.
func TestInjectionPage(t *testing.T) {
	var b strings.Builder
	var places []string // in their first order
	lines := map[string]string{}
	for _, row := range injections(t) {
		calls := "no call"
		if len(row.Calls) > 0 {
			calls = "`" + strings.Join(row.Calls, "`, `") + "`"
		}
		place := fmt.Sprintf("`%s`, %s", row.Pattern, row.Where)
		if lines[place] == "" {
			places = append(places, place)
		}
		lines[place] += fmt.Sprintf("- %s (%s, %s): %s; `%s`\n", row.Name, row.Language, row.Technique, calls, printable.Text(row.Stop))
	}
	for _, place := range places {
		fmt.Fprintf(&b, "\n### %s\n\n%s", place, lines[place])
	}
	b.WriteString("\n")
	generated(t, "../../docs/injection.md", "injections", b.String(), *update)
}

// generated holds that a page has a text between its comments of a name, or writes it there.
func generated(t *testing.T, path, name, want string, update bool) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, found := strings.Cut(string(page), begin)
	got, after, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatalf("%s has no place for %s", path, name)
	case got == want:
	case update:
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the tests found in %s; run them with -update", path, name)
	}
}
