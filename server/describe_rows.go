package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// directory is all that may be called and by which patterns, encoded for showing. It does not change.
type directory struct {
	tools    []entry         // by name
	patterns []offeredAs     // in the order in which they are served
	place    map[string]bool // the names in tools
	demo     bool            // one of them is make-believe
}

// entry is one tool behind the gate, as describe_catalog shows it in both channels.
type entry struct {
	name     string
	patterns []int    // that may use it, by their place in the directory
	words    []string // of its name and description, by which it is found
	row      json.RawMessage
	line     []byte // with its line's end
}

// offeredAs is one pattern, likewise.
type offeredAs struct {
	name string
	row  json.RawMessage
	line []byte
}

// toolRow is a tool in structuredContent (spec/surface.md section 2).
type toolRow struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Effect      string          `json:"effect"`
	Idempotent  bool            `json:"idempotent"`
	InputSchema json.RawMessage `json:"input_schema"`
	Patterns    []string        `json:"patterns"`
	Person      string          `json:"person"`
	State       string          `json:"state"`
}

// patternRow is a pattern there.
type patternRow struct {
	Name     string             `json:"name"`
	Kind     string             `json:"kind"`
	Budget   map[string]float64 `json:"budget"`
	Approver string             `json:"approver,omitempty"` // of one that asks people
}

// stateReady is the one state that a tool can have while all of them are our own.
const stateReady = "ready"

// newDirectory lists the tools that a pattern may both name and call. No row is longer than most bytes.
func newDirectory(offered []Pattern, most int) *directory {
	d := &directory{place: map[string]bool{}}
	tools, users := usable(offered)
	for _, p := range offered {
		d.patterns = append(d.patterns, newOfferedAs(p.Spec))
	}
	for _, t := range tools {
		d.place[t.Name] = true
		d.demo = d.demo || t.Demo
		d.tools = append(d.tools, newEntry(t, offered, users[t.Name], most))
	}
	return d
}

// usable are the tools that a pattern may both name and call, by name, and by which patterns.
func usable(offered []Pattern) (tools []catalog.Tool, users map[string][]int) {
	users = map[string][]int{}
	for i, p := range offered {
		for _, t := range toolsOf(p.Spec) {
			if !slices.Contains(p.Spec.Execution, t.Name) || slices.Contains(users[t.Name], i) {
				continue
			}
			if users[t.Name] == nil {
				tools = append(tools, t)
			}
			users[t.Name] = append(users[t.Name], i)
		}
	}
	slices.SortFunc(tools, func(a, b catalog.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, users
}

// checkNames reports names by which two patterns mean different tools: one of them would hide the other.
func checkNames(offered []Pattern) error {
	named := map[string]catalog.Tool{}
	for _, p := range offered {
		for _, t := range toolsOf(p.Spec) {
			if other, there := named[t.Name]; there && !sameTool(other, t) {
				return fmt.Errorf("tool %q: two tools have this name", t.Name)
			}
			named[t.Name] = t
		}
	}
	return nil
}

// sameTool reports whether two patterns mean the same by a name.
func sameTool(a, b catalog.Tool) bool {
	return a.Effect == b.Effect && a.Description == b.Description && string(a.Input.JSON()) == string(b.Input.JSON())
}

// newEntry encodes a tool for both channels.
func newEntry(t catalog.Tool, offered []Pattern, users []int, most int) entry {
	e := entry{name: t.Name, patterns: users, words: wordsOf(t.Name + " " + t.Description)}
	row := toolRow{
		Name: t.Name, Title: titled(t), Description: t.Description, Effect: string(t.Effect), Idempotent: t.Idempotent,
		Person: string(asksOf(t.Name, offered, users)), State: stateReady,
	}
	hidden := []string{requestID}
	for _, i := range users {
		row.Patterns = append(row.Patterns, offered[i].Spec.Name)
		if offered[i].Spec.Kind != gateway.Orchestrator {
			hidden = nil
		}
	}
	row.InputSchema = t.Input.Without(hidden...).JSON()
	if e.row, _ = appendJSON(nil, row); len(e.row) > most { // texts and a schema are always JSON
		e.row, _ = appendJSON(nil, row.cut(most))
	}
	e.line = row.text(t, hidden, most)
	return e
}

// cut is the row with the beginnings of its schema and its words, which are all that may be long.
func (r toolRow) cut(most int) toolRow {
	const head = 256
	n := len(r.InputSchema)
	r.InputSchema = ijson.Canonical(map[string]any{
		"truncated": true, "bytes": float64(n), "head": ijson.Cut(string(r.InputSchema), min(head, most/8)),
	})
	r.Title, r.Description = short(r.Title, min(head, most/8)), short(r.Description, min(head, most/8))
	return r
}

// asksOf puts together what the patterns that may use a tool say about asking a person.
func asksOf(tool string, offered []Pattern, users []int) gateway.Asks {
	said := map[gateway.Asks]bool{}
	for _, i := range users {
		said[offered[i].Spec.Asks(tool)] = true
	}
	if len(said) != 1 {
		return gateway.AsksMaybe
	}
	for asks := range said {
		return asks
	}
	return gateway.AsksMaybe
}

// text is the row as a line: name and arguments, effect, person, patterns, and what it does. Arguments of which the
// signature does not say all are followed by their schema.
func (r toolRow) text(t catalog.Tool, hidden []string, most int) []byte {
	effect := r.Effect
	if r.Idempotent && r.Effect != string(catalog.Read) {
		effect += ", idempotent"
	}
	line := appendVisible([]byte(label(r.Name)), strings.TrimPrefix(t.Signature(hidden...), r.Name))
	line = append(line, " | "+effect+" | person "+r.Person+" | "+strings.Join(r.Patterns, ", ")+" | "...)
	line = appendVisible(line, ijson.Words(r.Description))
	if slices.ContainsFunc(t.Input.Properties(), nested) {
		line = appendVisible(append(line, " | "...), string(r.InputSchema))
	}
	if len(line) > most {
		line = append([]byte(ijson.Cut(string(line), most-len("..."))), "..."...)
	}
	return append(line, '\n')
}

// nested reports whether there is more to know of an argument than its type.
func nested(p catalog.Property) bool { return p.Type == "object" || p.Type == "array" || p.Type == "" }

func newOfferedAs(spec patterns.Spec) offeredAs {
	r := patternRow{Name: spec.Name, Kind: string(spec.Kind), Budget: limitsOf(spec)}
	if spec.Kind == gateway.Supervisor || spec.Reviewer != nil {
		r.Approver = string(patterns.RejectApprover)
		if spec.Approver.Kind != "" {
			r.Approver = string(spec.Approver.Kind)
		}
	}
	row, _ := appendJSON(nil, r) // texts and finite numbers
	budget, _ := appendJSON(nil, r.Budget)
	line := append([]byte(label(r.Name)+" "+r.Kind+" | "), budget...)
	if r.Approver != "" {
		line = append(line, " | approver "+r.Approver...)
	}
	return offeredAs{r.Name, row, append(line, '\n')}
}

// limitsOf names the limits in force as a result's budget does.
func limitsOf(spec patterns.Spec) map[string]float64 {
	b := spec.Budget
	named := map[string]float64{"max_seconds": b.MaxTime.Seconds()}
	limits := map[string]gateway.Limit{"max_tool_calls": b.MaxToolCalls, "max_llm_calls": b.MaxLLMCalls, "max_tokens": b.MaxTokens}
	switch spec.Kind {
	case gateway.TaskDecomposition:
		named["max_plan_steps"], limits["max_execute_steps"] = float64(b.MaxPlanSteps), b.MaxExecuteSteps
	case gateway.Orchestrator:
		named["max_tasks"], named["max_parallel"] = float64(b.MaxTasks), float64(b.MaxParallel)
		named["max_retries_per_task"], named["task_timeout_seconds"] = float64(b.MaxRetriesPerTask), b.TaskTimeout.Seconds()
		limits["max_dispatches"] = b.MaxDispatches
	case gateway.Routing:
		named["max_route_attempts"], limits["max_delegations"] = float64(b.MaxRouteAttempts), b.MaxDelegations
	case gateway.Supervisor:
		named["max_steps"] = float64(b.MaxSteps)
	}
	for name, limit := range limits {
		if limit.Named() {
			named[name] = float64(limit)
		}
	}
	return named
}
