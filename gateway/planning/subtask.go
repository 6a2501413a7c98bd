package planning

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// maxDescription bounds a subtask's description, in characters.
const maxDescription = 4000

// subtaskRow is a subtask during the checks.
type subtaskRow struct {
	Subtask
	members map[string]any
	known   bool    // the id is good
	left    bool    // left out of the later checks
	marked  bool    // the arguments contain references
	node    int32   // in the parser's order
	on      []int32 // nodes of the dependencies that exist
}

// subtaskParser reads and checks the subtasks of one plan.
type subtaskParser struct {
	*document.Faults
	rules Rules
	at    ijson.Pointer // of the list
	ids   *document.IDs
	rows  []subtaskRow
	known []string // members of a subtask

	byID    map[string]int32 // nodes: first the earlier subtasks, then the plan's
	order   waits
	tools   map[string]bool // whether allowed
	cycle   []string
	schemas map[int32]*catalog.Schema // schemas of the results of callers' subtasks
}

func newSubtaskParser(f *document.Faults, rules Rules, list []any, at ijson.Pointer) *subtaskParser {
	p := &subtaskParser{Faults: f, rules: rules, at: at, ids: document.NewIDs(list), rows: make([]subtaskRow, len(list))}
	p.known = []string{"id", "description", "dependencies", "tool", "args", "critical", "expect"}
	if rules.Strategy == Hierarchical {
		p.known = append(p.known, "parent")
	}
	p.tools = map[string]bool{}
	for _, name := range rules.Allowed {
		p.tools[name] = true
	}
	p.tools[CallerExecutor], p.tools[ModelExecutor] = true, rules.LLM // even if the catalog has tools of these names
	return p
}

// subtaskObject is one subtask of the list, as the plan has it.
type subtaskObject struct {
	document.Object
	i int
}

func (o subtaskObject) fault(reason, key, want string) *document.Problem {
	return o.Wrong("subtask_"+strconv.Itoa(o.i+1)+"_"+reason, key, want)
}

// parse reads the subtask at index i and checks it alone.
func (p *subtaskParser) parse(i int, v any) {
	row := &p.rows[i]
	before := p.Count()
	o := subtaskObject{document.Object{Faults: p.Faults, At: p.at.Index(i)}, i}
	var ok bool
	if o.Members, ok = v.(map[string]any); !ok {
		p.Add("subtask_"+strconv.Itoa(i+1)+"_not_object", o.At, v, subtaskForm)
		row.left = true
		return
	}
	row.members = o.Members
	if o.HasOther(p.known) {
		o.ExtraPresent("subtask_"+strconv.Itoa(i+1)+"_extra_keys", ofSubtask(p.executorNames()), p.known)
	}
	row.ID, row.known = o.subtaskID(p.ids)
	row.Description = o.description()
	row.Dependencies = o.dependencies()
	row.Tool = o.tool(p.rules.LLM)
	if row.Args, ok = o.Members["args"].(map[string]any); !ok {
		row.Args = o.noArgs()
	}
	row.marked = marked(row.Args)
	row.Critical = o.critical()
	if p.rules.Strategy == Hierarchical {
		row.Parent = o.parent()
	}
	row.Expect = o.expect(row.Tool)
	row.left = p.Count() > before
}

func (o subtaskObject) subtaskID(ids *document.IDs) (string, bool) {
	v := o.Members["id"]
	s, isText := v.(string)
	id := ijson.Trim(s)
	switch {
	case isSubtaskID(id):
		return id, true
	case v == nil || isText && id == "":
		o.fault("missing_id", "id", textThatNames)
	default:
		p := o.fault("bad_id", "id", idForm)
		if fix := document.Retype("string", o.At.Member("id"), v); fix != nil && p.Listed() && isSubtaskID(fix.Value.(string)) {
			fix.Value = ids.Unused(fix.Value.(string))
			p.Fix = fix
		}
	}
	return "", false
}

func (o subtaskObject) description() string {
	v := o.Members["description"]
	s, _ := v.(string)
	switch {
	case ijson.Blank(s):
		o.fault("missing_description", "description", textOfWork).Fix = document.Retype("string", o.At.Member("description"), v)
	case len(s) > maxDescription && utf8.RuneCountInString(s) > maxDescription:
		o.fault("bad_description", "description", shortText)
	}
	return s
}

// dependencies reads a list of different ids. Whether they exist is checked later.
func (o subtaskObject) dependencies() []string {
	v, there := o.Members["dependencies"]
	if !there {
		return []string{}
	}
	list, ok := v.([]any)
	ids := make([]string, len(list))
	for i, entry := range list {
		if s, isText := entry.(string); isText {
			ids[i] = ijson.Trim(s)
		}
		ok = ok && ids[i] != ""
	}
	if !ok || repeats(ids) {
		o.fault("bad_dependencies", "dependencies", idList)
	}
	return ids
}

func repeats(names []string) bool {
	if len(names) <= 8 {
		for i, n := range names {
			if slices.Contains(names[:i], n) {
				return true
			}
		}
		return false
	}
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		seen[n] = true
	}
	return len(seen) < len(names)
}

// tool reads the name of the executor, without blanks around it; "" if it is not a text.
func (o subtaskObject) tool(llm bool) string {
	v := o.Members["tool"]
	s, ok := document.Text(v)
	switch {
	case v == nil && llm:
		return ModelExecutor
	case v == nil:
		return CallerExecutor
	case !ok:
		o.fault("bad_tool", "tool", toolModelOrCaller)
	}
	return s
}

func (o subtaskObject) noArgs() map[string]any {
	if v := o.Members["args"]; v != nil {
		o.fault("bad_args", "args", argumentsObject).Fix = document.AsObject(o.At.Member("args"), v)
	}
	return map[string]any{}
}

func (o subtaskObject) critical() bool {
	v := o.Members["critical"]
	critical, ok := v.(bool)
	if !ok && v != nil {
		o.fault("bad_critical", "critical", aBool).Fix = document.Retype("boolean", o.At.Member("critical"), v)
	}
	return critical
}

func (o subtaskObject) parent() string {
	v := o.Members["parent"]
	s, ok := document.Text(v)
	if !ok && v != nil {
		o.fault("bad_parent", "parent", joiningSubtask)
	}
	return s
}

// expect reads the schema for a result, which only a caller's subtask can have.
func (o subtaskObject) expect(tool string) any {
	v := o.Members["expect"]
	if v == nil {
		return nil
	}
	if tool != CallerExecutor && tool != "" {
		o.fault("bad_expect", "expect", onlyCaller).Choose = chooseCaller
	} else if schema, _ := compileExpect(v); schema == nil {
		o.fault("bad_expect", "expect", schemaForm)
	}
	return v
}

// ofSubtask returns other names of the members of a subtask.
func ofSubtask(allowed []string) []document.Synonym {
	return []document.Synonym{
		{Name: "id", Words: []string{"subtaskid", "taskid", "stepid"}, As: document.Textual}, {Name: "dependencies", Words: wordsOfNeeds, As: idsOf},
		{Name: "tool", Words: slices.Concat(document.WordsOfTool, []string{"executor", "worker"}), As: document.NamedIn(allowed)},
		{Name: "description", Words: []string{"title", "name", "task", "desc", "label"}, As: document.Textual}, document.ArgsSynonym(),
		{Name: "parent", Words: []string{"parentid"}, As: document.Textual},
	}
}

// wordsOfNeeds are other names of dependencies.
var wordsOfNeeds = []string{"dependson", "dependencyids", "needs", "after", "requires", "prerequisites", "deps"}

// idsOf is a [document.Synonym.As] that takes a list of texts. A single id becomes a list.
func idsOf(v any) (any, bool) {
	if id, ok := document.Text(v); ok && isSubtaskID(id) {
		return []any{id}, true
	}
	list, ok := v.([]any)
	return v, ok && !slices.ContainsFunc(list, func(id any) bool { _, isText := document.Text(id); return !isText })
}
