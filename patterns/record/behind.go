package record

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Behind holds what an approver needs to know besides the call: its author, and the results that the policy could read. The zero value
// holds nothing.
type Behind struct {
	ProposedBy string     `json:"proposed_by,omitempty"` // caller, rules (the offline ones), model or its name, plan (a stored one)
	RevisedBy  []string   `json:"revised_by,omitempty"`  // rules of the policy that changed it afterwards
	Revised    []string   `json:"revised,omitempty"`     // the arguments that these rules wrote
	Observed   []Observed `json:"observed,omitempty"`
	Left       int        `json:"observed_left,omitempty"` // how many earlier calls are not shown
}

// Observed is what a call of the run returned before the question was asked. The policy reads these results. They are not checked.
type Observed struct {
	Key    string     `json:"key"`
	Tool   string     `json:"tool"`
	Result []Argument `json:"result"` // its values, by their pointers
	Left   int        `json:"result_left,omitempty"`
}

// How much of earlier results is shown. The whole is in the record.
const (
	maxObserved = 8  // calls, the newest
	maxResult   = 24 // values of one
)

// Behind returns the Behind of the question with an effect key; the zero value if the record has no such question. A rule counts as an
// author only if it changed a proposal of the same tool, and if no other proposal, call or question of the branch lies between.
func (s Story) Behind(key string) Behind {
	at := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Key == key && r.Kind == string(patterns.HumanEffect) })
	if at < 0 {
		return Behind{}
	}
	b := Behind{}
	asked := s.Rows[at]
	about, _ := asked.About()
	var was json.RawMessage // the arguments before a rule changed them
	for _, r := range s.Rows[:at] {
		if r.isCall() {
			b.observe(r)
		}
		if r.Branch() != asked.Branch() && r.Branch() != "" {
			continue
		}
		if who := r.proposer(); who != "" {
			b.ProposedBy, b.RevisedBy, was = who, nil, nil
		}
		if r.Kind == string(patterns.ToolEffect) || r.Kind == string(patterns.HumanEffect) {
			b.RevisedBy, was = nil, nil // what was changed before is another call
		}
		if r.Kind == Judged && r.Decision == gateway.Revise.String() && r.Rule != "" && r.Name != "" && r.Name == about {
			if was == nil {
				was = argsOf(r.input)
			}
			if !slices.Contains(b.RevisedBy, r.Rule) {
				b.RevisedBy = append(b.RevisedBy, r.Rule)
			}
		}
	}
	for _, edit := range editsOf(was, asked.args) {
		b.Revised = append(b.Revised, ijson.Cut(edit.Name, maxArgumentName))
	}
	if b.ProposedBy == "" && s.isPlanning() {
		b.ProposedBy = "plan"
	}
	b.Left = max(0, len(b.Observed)-maxObserved)
	b.Observed = b.Observed[b.Left:]
	return b
}

// argsOf returns the arguments of a proposal; nil if it has none.
func argsOf(proposal json.RawMessage) json.RawMessage {
	var p struct {
		Args json.RawMessage `json:"args"`
	}
	_ = ijson.DecodeKnown(proposal, &p) // a proposal of another form has none
	return p.Args
}

// observe adds the result of a call, if it has one.
func (b *Behind) observe(r Row) {
	if len(r.output) == 0 || r.ended == 0 || r.State != string(patterns.OK) && r.State != string(Duplicate) {
		return
	}
	o := Observed{Key: r.Key, Tool: r.Name}
	o.Result, o.Left = resultOf(r.output)
	b.Observed = append(b.Observed, o)
}

// proposer returns the author of the proposal in this row: caller, rules, model or its name. It returns "" for a row without one. If a
// model effect made no request, the offline rules are the author.
func (r Row) proposer() string {
	switch {
	case r.State != string(patterns.OK):
		return ""
	case r.Kind == string(patterns.CallerEffect):
		return "caller"
	case r.Kind != string(patterns.ModelEffect) || r.Name == string(patterns.AskAnswer):
		return ""
	case r.requests == 0:
		return "rules"
	case len(r.Models) > 0:
		return r.Models[len(r.Models)-1]
	}
	return "model"
}

// resultOf returns the values of a result by their pointers, and how many more there are.
func resultOf(output json.RawMessage) (list []Argument, left int) {
	v, err := ijson.Decode(output)
	if err != nil {
		return nil, 0
	}
	var walk func(pointer string, v any)
	walk = func(pointer string, v any) {
		text := ijson.Canonical(v)
		switch inner := v.(type) {
		case map[string]any:
			if len(inner) > 0 && !isRedacted(text) {
				for _, name := range slices.Sorted(maps.Keys(inner)) {
					walk(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), inner[name])
				}
				return
			}
		case []any:
			if len(inner) > 0 {
				for i, item := range inner {
					walk(pointer+"/"+strconv.Itoa(i), item)
				}
				return
			}
		}
		if len(list) == maxResult {
			left++
			return
		}
		list = append(list, argumentOf(pointer, text))
	}
	walk("", v)
	return list, left
}

// WrittenBy returns words for the author of a call and for the texts in args that they wrote; "" if the author is not known.
func (b Behind) WrittenBy(args map[string]any) string {
	known := map[string]string{
		"": "", "caller": theCaller, "rules": rulesNotPeople, "model": aModel, "plan": theStoredPlan,
	}
	who, plain := known[b.ProposedBy]
	if !plain {
		who = namedModel(b.ProposedBy)
	}
	if who == "" {
		return ""
	}
	texts := slices.DeleteFunc(textsOf(args), func(name string) bool { return slices.Contains(b.Revised, name) })
	switch names := strings.Join(texts, ", "); {
	case names == "":
	case b.ProposedBy == "rules":
		who = theyWroteTexts(who, names)
	default:
		who = itWroteTexts(who, names)
	}
	switch rules := strings.Join(b.RevisedBy, andRule); {
	case rules != "" && len(b.Revised) > 0:
		who = rulesWrote(who, rules, strings.Join(b.Revised[:min(len(b.Revised), 5)], ", "))
	case rules != "":
		who = rulesChanged(who, rules)
	}
	return who
}

// textsOf returns the names of arguments that hold a text, at most five.
func textsOf(args map[string]any) (names []string) {
	const most = 5
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, text := args[name].(string); text && len(names) < most {
			names = append(names, ijson.Cut(name, maxArgumentName))
		}
	}
	return names
}
