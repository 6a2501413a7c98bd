package offline_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// plannedWorld is a catalog with ten goals for plans of subtasks. All goals were written before the rules for them were.
type plannedWorld struct {
	About string         `json:"about"`
	Tools []plannedTool  `json:"tools"` // none: the make-believe ones that only read
	Goals []intendedPlan `json:"goals"`
}

type plannedTool struct {
	inventedTool
	Output map[string]any `json:"output"`
}

// intendedPlan is a goal and what a sensible plan for it holds.
type intendedPlan struct {
	Name   string                    `json:"name"`
	Goal   string                    `json:"goal"`
	Want   []string                  `json:"want"` // tools of subtasks; one that is to be called twice stands there twice
	May    []string                  `json:"may"`
	Args   map[string]map[string]any `json:"args"`
	Levels int                       `json:"levels"` // how many subtasks at most wait for each other; 1: all run at once
	Fault  string                    `json:"fault"`
}

func readPlanned(t testing.TB, name string) (plannedWorld, []catalog.Tool) {
	t.Helper()
	text, err := os.ReadFile("testdata/planning/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var w plannedWorld
	if err := ijson.DecodeInto(text, &w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if w.Tools == nil {
		return w, demoTools(t, demo.ReadTools)
	}
	plain := make([]inventedTool, len(w.Tools))
	for i, tool := range w.Tools {
		plain[i] = tool.inventedTool
	}
	tools := invented(t, plain)
	for i, tool := range w.Tools {
		if tools[i].Output, err = catalog.CompileSchema(ijson.Canonical(tool.Output)); err != nil {
			t.Fatalf("output of %s: %v", tool.Name, err)
		}
	}
	return w, tools
}

// subtask is one of a proposed plan.
type subtask struct {
	ID, Description, Tool, Parent string
	Dependencies                  []string
	Args                          map[string]any
}

func (s subtask) String() string {
	return fmt.Sprintf("%s=%s%s<-%v", s.ID, s.Tool, ijson.Canonical(s.Args), s.Dependencies)
}

// proposedPlan asks for a plan of subtasks; payload's members lie over the usual ones.
func proposedPlan(t testing.TB, m patterns.Model, tools []catalog.Tool, payload map[string]any) (list []subtask, complete any, fault string) {
	t.Helper()
	whole := map[string]any{"strategy": "flat", "max_subtasks": 15.0, "max_depth": 3.0}
	maps.Copy(whole, payload)
	text, fault := ask(t, m, patterns.Question{Ask: patterns.AskSubtasks, Payload: whole, Tools: tools})
	if fault != "" {
		return nil, nil, fault
	}
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("answer %q: %v", text, err)
	}
	doc := v.(map[string]any)
	for _, row := range doc["subtasks"].([]any) {
		o := row.(map[string]any)
		s := subtask{ID: o["id"].(string), Description: o["description"].(string), Tool: o["tool"].(string), Args: o["args"].(map[string]any)}
		s.Parent, _ = o["parent"].(string)
		for _, d := range o["dependencies"].([]any) {
			s.Dependencies = append(s.Dependencies, d.(string))
		}
		list = append(list, s)
	}
	return list, doc["planning_complete"], ""
}

// longestWait is how many subtasks one after the other a plan has.
func longestWait(list []subtask) int {
	level := map[string]int{}
	for _, s := range list { // dependencies stand before those that wait for them
		for _, d := range s.Dependencies {
			level[s.ID] = max(level[s.ID], level[d])
		}
		level[s.ID]++
	}
	return slices.Max(slices.Collect(maps.Values(level)))
}

// judge says why a plan is not what was intended, or "".
func (g intendedPlan) judge(list []subtask, fault string) string {
	if fault != g.Fault {
		return fmt.Sprintf("fault %q, want %q", fault, g.Fault)
	}
	want := slices.Clone(g.Want)
	for _, s := range list {
		if at := slices.Index(want, s.Tool); at >= 0 {
			want = slices.Delete(want, at, at+1)
		} else if !slices.Contains(g.May, s.Tool) {
			return "not intended: " + s.Tool
		}
		for name, value := range g.Args[s.Tool] {
			if !ijson.Equal(s.Args[name], value) {
				return fmt.Sprintf("%s.%s = %v, want %v", s.Tool, name, s.Args[name], value)
			}
		}
	}
	if len(want) > 0 {
		return "missing: " + strings.Join(want, " ")
	}
	if fault == "" && longestWait(list) != g.Levels {
		return fmt.Sprintf("%d subtasks wait for each other, want %d", longestWait(list), g.Levels)
	}
	return ""
}

// TestSubtaskGoals prints what the rules plan for ten goals on the make-believe tools that read and ten on a catalog that
// they were not written for.
func TestSubtaskGoals(t *testing.T) {
	for name, least := range map[string]int{"demo": 10, "parcels": 10, "heldout": 9} {
		t.Run(name, func(t *testing.T) {
			rules := offline.New()
			rules.WriteTools = true
			w, tools := readPlanned(t, name)
			passed := 0
			for _, g := range w.Goals {
				list, _, fault := proposedPlan(t, rules, tools, map[string]any{"goal": g.Goal})
				verdict := "ok"
				if why := g.judge(list, fault); why != "" {
					verdict = "NO: " + why
				} else {
					passed++
				}
				t.Logf("%-28s %v %s: %s", g.Name, list, fault, verdict)
			}
			t.Logf("%d of %d goals as intended", passed, len(w.Goals))
			if len(w.Goals) != 10 || passed < least {
				t.Errorf("goals as intended: %d of %d, want at least %d of 10", passed, len(w.Goals), least)
			}
		})
	}
}
