package describe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// directory holds all tools and the patterns that may call them, encoded for answers. It does not change.
type directory struct {
	tools     []entry         // by name
	patterns  []offeredAs     // in the order of the configuration
	place     map[string]bool // the names of tools
	unused    int             // number of tools that no pattern may use
	simulated bool            // at least one tool is simulated
	lives     bool            // at least one tool has a state that can change
}

// entry is one tool, as describe_catalog shows it in both channels.
type entry struct {
	name     string
	patterns []int           // that may use it, by their position in the directory
	words    []string        // of its name and description, for queries
	row      json.RawMessage // without its end, where the state is added
	line     []byte          // the part before the state
	rest     []byte          // the part of the line after the state
	ready    func() catalog.Readiness
}

// offeredAs is one pattern, as describe_catalog shows it in both channels.
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
	Server      string          `json:"server,omitempty"` // the MCP server that has it; "" for built-in tools
	Patterns    []string        `json:"patterns"`
	Person      string          `json:"person"`
	// The members state and why follow. They are added for each answer; why is present only if state is not ready.
}

// patternRow is a pattern in structuredContent.
type patternRow struct {
	Name     string             `json:"name"`
	Kind     string             `json:"kind"`
	Budget   map[string]float64 `json:"budget"`
	Approver string             `json:"approver,omitempty"` // of a pattern that asks people
	// Workers and Routes are the names that the pattern gives to its tools and patterns, if they differ from the tools'
	// names.
	Workers []handRow `json:"workers,omitempty"`
	Routes  []handRow `json:"routes,omitempty"`
}

// handRow is a worker or route that has a name of its own in the pattern.
type handRow struct {
	Name        string `json:"name"`
	Tool        string `json:"tool,omitempty"`
	Pattern     string `json:"pattern,omitempty"`
	Description string `json:"description"`
}

// handsOf returns the workers or routes of a pattern that have names of their own.
func handsOf(spec patterns.Spec) []handRow {
	var rows []handRow
	for _, t := range arguments.NamedTools(spec) {
		switch {
		case t.Pattern != "":
			rows = append(rows, handRow{Name: t.Name, Pattern: t.Pattern, Description: t.Description})
		case t.Own() != t.Name:
			rows = append(rows, handRow{Name: t.Name, Tool: t.Own(), Description: t.Description})
		}
	}
	return rows
}

// calledBy returns the tools that a pattern may both name and call, as they are in the whole catalog. A worker or route
// with its own name is returned as the tool behind it. Patterns are left out.
func calledBy(spec patterns.Spec, all *catalog.Catalog) []catalog.Tool {
	var tools []catalog.Tool
	for _, t := range arguments.NamedTools(spec) {
		if t.Pattern != "" || !slices.Contains(spec.Execution, t.Name) {
			continue
		}
		if own, known := all.Tool(t.Own()); known && t.Own() != t.Name {
			t = own
		}
		t.Name, t.Of = t.Own(), ""
		if !slices.ContainsFunc(tools, func(o catalog.Tool) bool { return o.Name == t.Name }) {
			tools = append(tools, t)
		}
	}
	return tools
}

// stateReady is the state of a tool that can be called.
const stateReady = "ready"

// newDirectory lists the tools that a pattern may both name and call, and all other tools of the catalog. No row is
// longer than most bytes.
func newDirectory(offered []patterns.Spec, all *catalog.Catalog, most int) *directory {
	d := &directory{place: map[string]bool{}}
	tools, users := usable(offered, all)
	for _, name := range all.Names() {
		if t, _ := all.Tool(name); users[name] == nil {
			tools = append(tools, t)
			d.unused++
		}
	}
	slices.SortFunc(tools, func(a, b catalog.Tool) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range offered {
		d.patterns = append(d.patterns, newOfferedAs(p))
	}
	for _, t := range tools {
		d.place[t.Name] = true
		d.simulated = d.simulated || t.Simulated
		d.lives = d.lives || t.Ready != nil
		d.tools = append(d.tools, newEntry(t, offered, users[t.Name], most))
	}
	return d
}

// usable returns the tools that a pattern may both name and call. users holds the patterns of each tool, by their
// position.
func usable(offered []patterns.Spec, all *catalog.Catalog) (tools []catalog.Tool, users map[string][]int) {
	users = map[string][]int{}
	for i, p := range offered {
		for _, t := range calledBy(p, all) {
			if slices.Contains(users[t.Name], i) {
				continue
			}
			if users[t.Name] == nil {
				tools = append(tools, t)
			}
			users[t.Name] = append(users[t.Name], i)
		}
	}
	return tools, users
}

// checkNames returns an error if two patterns, or a pattern and the whole catalog, use one name for different tools.
// Otherwise one tool would hide the other.
func checkNames(offered []patterns.Spec, all *catalog.Catalog) error {
	named := map[string]catalog.Tool{}
	for _, name := range all.Names() {
		named[name], _ = all.Tool(name)
	}
	for _, p := range offered {
		for _, t := range arguments.NamedTools(p) {
			if t.Own() != t.Name || t.Pattern != "" { // the pattern chose this name
				continue
			}
			if other, there := named[t.Name]; there && !sameTool(other, t) {
				return errors.New(nameTaken(t.Name))
			}
			named[t.Name] = t
		}
	}
	return nil
}

// sameTool reports whether two definitions of a tool have the same effect, description and input schema.
func sameTool(a, b catalog.Tool) bool {
	return a.Effect == b.Effect && a.Description == b.Description && string(a.Input.JSON()) == string(b.Input.JSON())
}

// newEntry encodes a tool for both channels.
func newEntry(t catalog.Tool, offered []patterns.Spec, users []int, most int) entry {
	e := entry{name: t.Name, patterns: users, words: wordsOf(t.Name + " " + t.Description), ready: t.Ready}
	row := toolRow{
		Name: t.Name, Title: arguments.TitleOf(t), Description: t.Description, Effect: string(t.Effect), Idempotent: t.Idempotent,
		Person: string(asksOf(t.Name, offered, users)), Server: t.Server, Patterns: []string{},
	}
	most -= stateRoom
	hidden := []string{arguments.RequestID}
	if len(users) == 0 {
		hidden = nil
	}
	for _, i := range users {
		row.Patterns = append(row.Patterns, offered[i].Name)
		if offered[i].Kind != gateway.Orchestrator {
			hidden = nil
		}
	}
	row.InputSchema = t.Input.Without(hidden...).JSON()
	if e.row, _ = envelope.AppendJSON(nil, row); len(e.row) > most { // texts and schemas always encode
		e.row, _ = envelope.AppendJSON(nil, row.cut(most))
	}
	e.row = bytes.TrimSuffix(e.row, []byte("}"))
	e.line, e.rest = row.text(t, hidden, most)
	return e
}

// The limits of a tool's state, in bytes: the text that says why it is not ready, and the space for the state in a row
// or line.
const (
	maxState  = 200
	stateRoom = maxState + 64
)

// state returns the tool's present state, and why it is not ready.
func (e entry) state() (state, why string) {
	if e.ready == nil {
		return stateReady, ""
	}
	now := e.ready()
	if now.State == catalog.Ready {
		return stateReady, ""
	}
	return string(now.State), sentence.Short(now.Why, maxState)
}

// appendRow appends the row with the tool's present state.
func (e entry) appendRow(dst []byte) []byte {
	state, why := e.state()
	dst = envelope.AppendString(append(append(dst, e.row...), `,"state":`...), state)
	if why != "" {
		dst = envelope.AppendString(append(dst, `,"why":`...), why)
	}
	return append(dst, '}')
}

// appendLine appends the line with the tool's present state. It omits the state of a tool that is ready.
func (e entry) appendLine(dst []byte) []byte {
	dst = append(dst, e.line...)
	if state, why := e.state(); state != stateReady {
		dst = printable.Append(append(dst, state...), ": "+why)
		dst = append(dst, " | "...)
	}
	return append(dst, e.rest...)
}

// rowSize and lineSize return the maximum size of the tool in structuredContent and in the text, in bytes.
func (e entry) rowSize() int  { return len(e.row) + e.stateSize(len(`,"state":"ready"}`)) }
func (e entry) lineSize() int { return len(e.line) + len(e.rest) + e.stateSize(0) }

func (e entry) stateSize(ready int) int {
	if e.ready == nil {
		return ready
	}
	return stateRoom
}

// cut returns the row with the heads of its schema, title and description. No other member can be long.
func (r toolRow) cut(most int) toolRow {
	const head = 256
	n := len(r.InputSchema)
	r.InputSchema = ijson.Canonical(map[string]any{
		"truncated": true, "bytes": float64(n), "head": ijson.Cut(string(r.InputSchema), min(head, most/8)),
	})
	r.Title, r.Description = sentence.Short(r.Title, min(head, most/8)), sentence.Short(r.Description, min(head, most/8))
	return r
}

// asksOf combines what the patterns that may use a tool say about asking a person.
func asksOf(tool string, offered []patterns.Spec, users []int) gateway.Asks {
	said := map[gateway.Asks]bool{}
	for _, i := range users {
		said[offered[i].Asks(tool)] = true
	}
	if len(users) == 0 { // nothing may call it
		return gateway.AsksNever
	}
	if len(said) != 1 {
		return gateway.AsksMaybe
	}
	for asks := range said {
		return asks
	}
	return gateway.AsksMaybe
}

// text returns the row as a line: name and arguments, effect, person, patterns, and the description. The input schema
// follows if the signature does not describe an argument fully.
func (r toolRow) text(t catalog.Tool, hidden []string, most int) (line, rest []byte) {
	effect := r.Effect
	if r.Idempotent && r.Effect != string(catalog.Read) {
		effect += alsoIdempotent
	}
	if r.Server != "" {
		effect += onServer(r.Server)
	}
	users := strings.Join(r.Patterns, ", ")
	if users == "" {
		users = noPattern
	}
	line = printable.Append([]byte(sentence.Label(r.Name)), strings.TrimPrefix(t.Signature(hidden...), r.Name))
	line = append(line, " | "+effect+" | person "+r.Person+" | "+users+" | "...)
	rest = printable.Append(rest, ijson.Words(r.Description))
	if slices.ContainsFunc(t.Input.Properties(), nested) {
		rest = printable.Append(append(rest, " | "...), string(r.InputSchema))
	}
	if over := len(line) + len(rest) - most; over > 0 {
		rest = append([]byte(ijson.Cut(string(rest), max(0, len(rest)-over-len("...")))), "..."...)
	}
	if len(line) > most {
		line = append([]byte(ijson.Cut(string(line), most-len("... | "))), "... | "...)
	}
	return line, append(rest, '\n')
}

// nested reports whether an argument's type alone does not describe it.
func nested(p catalog.Property) bool { return p.Type == "object" || p.Type == "array" || p.Type == "" }

func newOfferedAs(spec patterns.Spec) offeredAs {
	r := patternRow{Name: spec.Name, Kind: string(spec.Kind), Budget: limitsOf(spec)}
	switch hands := handsOf(spec); spec.Kind {
	case gateway.Orchestrator:
		r.Workers = hands
	case gateway.Routing:
		r.Routes = hands
	}
	if spec.Kind == gateway.Supervisor || spec.Reviewer != nil {
		r.Approver = string(patterns.RejectApprover)
		if spec.Approver.Kind != "" {
			r.Approver = string(spec.Approver.Kind)
		}
	}
	row, _ := envelope.AppendJSON(nil, r) // texts and finite numbers always encode
	budget, _ := envelope.AppendJSON(nil, r.Budget)
	line := append([]byte(sentence.Label(r.Name)+" "+r.Kind+" | "), budget...)
	if r.Approver != "" {
		line = append(line, " | approver "+r.Approver...)
	}
	for _, h := range slices.Concat(r.Workers, r.Routes) {
		line = append(line, " | "+sentence.Label(h.Name)+": "+cmp.Or(h.Tool, "pattern "+h.Pattern)...)
	}
	return offeredAs{r.Name, row, append(line, '\n')}
}

// limitsOf returns the limits in force by the names that a result's budget uses.
func limitsOf(spec patterns.Spec) map[string]float64 {
	b := spec.Budget
	named := map[string]float64{"max_seconds": b.MaxTime.Seconds()}
	limits := map[string]gateway.Limit{"max_tool_calls": b.MaxToolCalls, "max_llm_calls": b.MaxLLMCalls, "max_tokens": b.MaxTokens}
	if b.MaxCost.Named() {
		named["max_cost_usd"] = float64(b.MaxCost)
	}
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
