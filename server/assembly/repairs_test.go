package assembly

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/local"
)

// writtenFault is one fault that a model makes, and its replies from then on: each is sent only where the problems that it was
// handed back name the place of the fault before.
type writtenFault struct {
	Name, Pattern string
	Replies       []string
	Reason        string // by which the first reply is refused
	Pointer       string // where
	Turns         int    // until it is right; 0: never
}

func writtenFaults(t testing.TB) []writtenFault {
	t.Helper()
	text, err := os.ReadFile("testdata/repairs/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []writtenFault
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// mending is a model that makes a fault, and mends it where it is told.
type mending struct {
	row writtenFault

	mu      sync.Mutex
	asked   int
	turn    int
	repairs int
}

func (m *mending) answer(r llmtest.Request) llmtest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	payload, _ := r.User().(map[string]any)
	repair, repairing := payload["repair"].(map[string]any)
	_, finalizing := payload["history"].([]any)
	switch {
	case repairing:
		if m.repairs++; m.names(repair) && m.turn < len(m.row.Replies)-1 {
			m.turn++
		}
	case m.row.Pattern == "sheet" && !finalizing:
		return llmtest.Content(honest["report"])
	case m.asked > 1 && !(m.row.Pattern == "sheet" && m.asked == 2):
		if m.row.Pattern == "careful" {
			return llmtest.Content(`{"kind":"final","answer":"done"}`)
		}
		return llmtest.Content("Done.")
	}
	return llmtest.Content(m.row.Replies[m.turn])
}

// names reports whether what was handed back has the reply, and a problem at the fault's place; of later faults any will do.
func (m *mending) names(repair map[string]any) bool {
	problems, _ := repair["problems"].([]any)
	if repair["reply"] == nil || len(problems) == 0 {
		return false
	}
	for _, p := range problems {
		row, _ := p.(map[string]any)
		if pointer, _ := row["pointer"].(string); m.turn > 0 || pointer == m.row.Pointer || m.row.Pointer == "" {
			return true
		}
	}
	return false
}

// run is how a run with such a model ends where its replies go back to it so often.
func (row writtenFault) run(t *testing.T, turns int) (reason string, m *mending) {
	t.Helper()
	web := httptest.NewServer(&injectedService{})
	defer web.Close()
	m = &mending{row: row}
	server := llmtest.NewFunc(m.answer)
	defer server.Close()
	d := declaredFile(t, "testdata/injections/pg.yaml", strings.NewReplacer("$SERVICE", web.URL, "$MODEL", server.URL, "$DESCRIPTION", "Reads.", "max_retries: 0", fmt.Sprintf("max_retries: 0, repair_turns: %d", turns)))
	job, err := d.Job(patterns.Begun{Pattern: row.Pattern, Caller: patterns.Caller{Principal: "local:1"}, Arguments: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	job.Task = patterns.Task{Goal: "What is the state of order A-1001?", Finalize: true}
	if row.Pattern == "report" {
		job.Task.Inputs = patterns.Inputs{"note": "none"}
	}
	ended, err := (&local.Engine{}).Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if got := ended.Result.Usage.Requests; got != m.asked {
		t.Errorf("the run counts %d requests, the model was asked %d times", got, m.asked)
	}
	return ended.Result.StopReason, m
}

// TestRepairs measures which of the written faults are fixed: none without a turn, with turns those whose model needs no more.
// The share stands in docs/models.md.
func TestRepairs(t *testing.T) {
	t.Parallel()
	rows := writtenFaults(t)
	if len(rows) != 40 {
		t.Errorf("%d faults, want 40", len(rows))
	}
	const most = 2
	var mended [most + 1]int
	var mu sync.Mutex
	t.Run("faults", func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.Name, func(t *testing.T) {
				t.Parallel()
				for turns := range most + 1 {
					reason, m := row.run(t, turns)
					ok := row.Turns > 0 && row.Turns <= turns
					if ok != (reason == patterns.Success) || turns == 0 && reason != row.Reason {
						t.Errorf("with %d turns it ends in %s, want %s", turns, reason, map[bool]string{true: patterns.Success, false: row.Reason}[ok])
					}
					if m.repairs > turns {
						t.Errorf("with %d turns it was handed back %d times", turns, m.repairs)
					}
					if ok {
						mu.Lock()
						mended[turns]++
						mu.Unlock()
					}
				}
			})
		}
	})
	var b strings.Builder
	b.WriteString("| `repair_turns` | Runs that continue after the fault |\n|---|---|\n")
	for turns, n := range mended {
		fmt.Fprintf(&b, "| %d | %d of %d (%d %%) |\n", turns, n, len(rows), 100*n/len(rows))
	}
	b.WriteString("\n| Fault | Pattern | Refused by | Turns |\n|---|---|---|---|\n")
	for _, row := range rows {
		turns := "never fixed"
		if row.Turns > 0 {
			turns = fmt.Sprint(row.Turns)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", row.Name, row.Pattern, row.Reason, turns)
	}
	generated(t, "../../docs/models.md", "repairs", b.String(), *update)
}
