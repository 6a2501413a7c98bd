package rules

import (
	"bytes"
	"os"
	"strings"

	"patterngate/gateway/policy"
	"patterngate/gateway/policy/refunds"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// Policy is one policy as a file declares it (spec/config.md section 5).
type Policy struct {
	policy.Source

	File     string        // the policy file that it was read from; "": it is inline in the configuration
	Text     []byte        // of that file
	Node     *yamldoc.Node // its members, for faults that are found later
	Unsound  bool          // reading it added a fault
	Embedded bool          // it judges like the embedded policy of its name
}

// Notes is what the reading of policies needs to know about the whole reading.
type Notes struct {
	Embeds bool              // the embedded default is being read
	Texts  map[string][]byte // replace the contents of files, by path
}

// The bounds of a policy.
const (
	maxPolicies      = 100
	maxPolicyFile    = 1 << 20 // bytes
	maxPolicyNote    = 4096    // characters
	MaxPolicyMembers = 1000    // params, vars, rules or tests
	maxWindows       = 50
	maxSay           = 300  // characters
	maxNeed          = 16   // names
	maxParamItems    = 1000 // of a list
	maxParamText     = 4096 // bytes
)

// Demo is the embedded policy that judges the demo's refund tools.
const Demo = refunds.Name

// PoliciesKey returns the key of the policies: the embedded one, which a file can replace as a whole, and the file's own in
// the order of the file.
func PoliciesKey(name string, list *[]Policy) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfNames, Entries: true,
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			r.Each(n, path, grammar.ServerNames, func(m yamldoc.Member, below *yamldoc.Path) {
				if len(*list) >= maxPolicies {
					r.Faults.Add(m.At, below, yamldoc.Fault{Reason: tooManyPolicies, Want: wantFewer})
					return
				}
				p := Policy{Source: policy.Source{Name: m.Key}}
				ReadPolicy(r, &p, m.Value, below)
				p.Embedded = grammar.NotesOf[Notes](r).Embeds || p.sameAs(*list)
				ReplaceOrAdd(list, p)
			})
		},
		Show: func() any {
			shown := make([]grammar.Key, len(*list))
			for i := range *list {
				p := &(*list)[i]
				shown[i] = grammar.Key{Name: p.Name, Show: func() any { return p.shown() }, Keep: func() any { return string(p.Kept()) }}
			}
			return shown
		},
		Below: func() []grammar.Key {
			p := Policy{}
			return p.keys(true)
		},
	}
}

// sameAs reports whether the policy judges like the embedded policy of its name.
func (p *Policy) sameAs(list []Policy) bool {
	for i := range list {
		if list[i].Name == p.Name && list[i].Embedded {
			return bytes.Equal(list[i].Kept(), p.Kept())
		}
	}
	return false
}

// ReplaceOrAdd replaces the policy of the same name in the list, or adds p at the end.
func ReplaceOrAdd(list *[]Policy, p Policy) {
	for i := range *list {
		if (*list)[i].Name == p.Name {
			(*list)[i] = p
			return
		}
	}
	*list = append(*list, p)
}

// ReadPolicy reads a policy: its members, {file: path}, or the text that a snapshot keeps.
func ReadPolicy(r *grammar.Reader, p *Policy, n *yamldoc.Node, path *yamldoc.Path) {
	before := len(r.Faults.Found)
	defer func() { p.Unsound = len(r.Faults.Found) > before }()
	if text, kept := grammar.KeptJSON(n); kept {
		n = yamldoc.Read("", text, r.Faults)
	}
	if n.Kind != yamldoc.Mapping {
		r.Wrong(n, path, wantRulesOrFile)
		return
	}
	p.Node = n
	if grammar.NotesOf[Notes](r).Embeds {
		p.Source, p.Node = refunds.Source(), nil
		return
	}
	if n.Member("file") != nil {
		readPolicyOfFile(r, p, n, path)
		return
	}
	r.Group(n, path, p.keys(true), grammar.UnknownKey)
}

// readPolicyOfFile reads a policy from a file of its own. Its faults carry that file's name.
func readPolicyOfFile(r *grammar.Reader, p *Policy, n *yamldoc.Node, path *yamldoc.Path) {
	at := n.Member("file")
	for _, m := range n.Members {
		if m.Key != "file" && m.Value.Kind != yamldoc.Null {
			r.Faults.Add(m.At, path.Key(m.Key), yamldoc.Fault{Reason: besideFile, Want: wantInFile})
		}
	}
	if at.Kind != yamldoc.Text || at.Text == "" || strings.Contains(at.Text, "\x00") {
		r.Wrong(at, path.Key("file"), wantFile)
		return
	}
	p.File = grammar.AbsolutePath(r, at)
	text, f := readPolicyText(r, p.File)
	if len(text) > maxPolicyFile && f.Reason == "" {
		f = yamldoc.Fault{Reason: largeFile, Want: wantSmallerFile}
	}
	switch {
	case f.Reason == machine.NoSuchFile:
		r.Faults.Add(at.At, path.Key("file"), yamldoc.Fault{Reason: machine.NoSuchFile + " " + p.File, Want: wantFile})
		return
	case f.Reason != "":
		r.Faults.Add(yamldoc.Place{Source: p.File}, path, f)
		return
	}
	p.Text, p.Node = text, yamldoc.Read(p.File, text, r.Faults)
	switch p.Node.Kind {
	case yamldoc.Unreadable:
		return
	case yamldoc.Mapping:
	default:
		r.Wrong(p.Node, path, wantRules)
		return
	}
	top := *p.Node
	top.Members = withoutAnchors(top.Members)
	r.Group(&top, path, p.keys(false), grammar.UnknownKey)
}

// withoutAnchors returns the members of a file's root without those whose key begins with x-. These only hold anchors.
func withoutAnchors(all []yamldoc.Member) []yamldoc.Member {
	list := make([]yamldoc.Member, 0, len(all))
	for _, m := range all {
		if len(m.Key) < 2 || m.Key[:2] != "x-" {
			list = append(list, m)
		}
	}
	return list
}

// keys returns the keys of a policy. If inline is true, the policy can name a file instead.
func (p *Policy) keys(inline bool) []grammar.Key {
	windows := windowEntries.Key("windows", &p.Windows)
	windows.Show = func() any {
		if len(p.Windows) == 0 {
			return nil
		}
		return windowsJSON(p.Windows)
	}
	keys := []grammar.Key{
		notKept(grammar.Short("description", &p.Description, maxPolicyNote).Means("What the policy is for. People read it.")),
		paramsKey("params", &p.Params).Means("Values that a pattern can replace: numbers, texts, booleans or lists of one of these. A number is an int; it is a double if its name ends with `_usd` or `_seconds` or if it is written with a fraction."),
		varsKey("vars", &p.Vars).Means("Named CEL expressions. A var is evaluated when a rule first reads it, once a pass. It can read the vars above it."),
		windows.Means("Earlier runs that rules see as `windows.NAME`: {effects, since}."),
		ruleItems.Key("rules", &p.Rules).Means("What is judged, in this order: the first block decides, else the first revise, then any escalate, then any approve. If no rule fires, the call is blocked."),
		notKept(RowsKey("tests", &p.Tests).Means("Calls and the verdict that the policy must give. They run at every load. A test that fails is a fault.")),
	}
	if inline {
		file := grammar.Text("file", new(string), func(string) yamldoc.Fault { return yamldoc.Fault{} }).Means("A file with these members at its root, at most 1 MiB. It replaces all other keys here.")
		file.Takes = "path"
		file.Show = func() any { return nil }
		keys = append(keys, file)
	}
	return keys
}

// paramsKey returns the key of the values that a pattern can replace.
func paramsKey(name string, target *[]policy.Param) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfValues, Form: func() map[string]any { return grammar.MapForm(ParamForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			*target = nil
			r.Each(n, path, grammar.ServerNames, func(m yamldoc.Member, below *yamldoc.Path) {
				if v, fraction, ok := ReadParam(r, m.Value, below); ok {
					*target = append(*target, policy.Param{Name: m.Key, Value: v, Fraction: fraction})
				}
			})
			grammar.CheckMost(r, n, path, len(n.Members), MaxPolicyMembers)
		},
		Show: func() any { return paramsJSON(*target) },
	}
}

// ParamForm is the JSON schema of a param.
var ParamForm = map[string]any{"anyOf": []any{
	map[string]any{"type": "number"}, grammar.TextForm, map[string]any{"type": "boolean"},
	grammar.ListForm(map[string]any{"type": []any{"number", "string", "boolean"}}),
}}

// ReadParam reads a number, text or bool, or a list of one of these. fraction is true if a number is written with a
// fraction or an exponent.
func ReadParam(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) (v any, fraction, ok bool) {
	const want = wantParam
	switch n.Kind {
	case yamldoc.Number:
		return n.Number, isFraction(n), true
	case yamldoc.Text:
		if len(n.Text) > maxParamText {
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: tooLong, Got: yamldoc.NumberText(float64(len(n.Text))) + " bytes", Want: wantShortParam})
			return nil, false, false
		}
		return n.Text, false, true
	case yamldoc.Bool:
		return n.Flag, false, true
	case yamldoc.List:
		return readParamList(r, n, path, want)
	}
	r.Wrong(n, path, want)
	return nil, false, false
}

func readParamList(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, want string) (v any, fraction, ok bool) {
	if !grammar.CheckMost(r, n, path, len(n.Items), maxParamItems) {
		return nil, false, false
	}
	list := make([]any, 0, len(n.Items))
	for i, item := range n.Items {
		if item.Kind == yamldoc.List || item.Kind == yamldoc.Unreadable || item.Kind != n.Items[0].Kind {
			r.Wrong(item, path.Item(i), want)
			return nil, false, false
		}
		one, of, fine := ReadParam(r, item, path.Item(i))
		if !fine {
			return nil, false, false
		}
		list, fraction = append(list, one), fraction || of
	}
	return list, fraction, true
}

// isFraction reports whether a number is written with a fraction or an exponent.
func isFraction(n *yamldoc.Node) bool { return strings.ContainsAny(n.Text, ".eE") }

// varsKey returns the key of CEL expressions by name, in the order of the file.
func varsKey(name string, target *[]policy.Named) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfCEL, Form: func() map[string]any { return grammar.MapForm(grammar.ExpressionForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			*target = nil
			r.Each(n, path, grammar.ServerNames, func(m yamldoc.Member, below *yamldoc.Path) {
				if text, ok := r.Expression(m.Value, below); ok {
					*target = append(*target, policy.Named{Name: m.Key, Text: text})
				}
			})
			grammar.CheckMost(r, n, path, len(n.Members), MaxPolicyMembers)
		},
		Show: func() any { return varsJSON(*target) },
	}
}

// windowEntries reads the windows: spans of time with earlier runs.
var windowEntries = grammar.Entries[policy.WindowSource]{
	Names: grammar.ServerNames,
	Named: func(w *policy.WindowSource) string { return w.Name },
	Fresh: func(name string, _ grammar.Position) policy.WindowSource { return policy.WindowSource{Name: name} },
	Keys:  windowKeys,
	Finish: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, w *policy.WindowSource) {
		seconds, calendar := n.Member("seconds"), n.Member("calendar")
		said := func(m *yamldoc.Node) bool { return m != nil && m.Kind != yamldoc.Null }
		switch {
		case said(seconds) && said(calendar):
			r.Faults.Add(calendar.At, path.Key("calendar"), yamldoc.Fault{Reason: spanAndCalendar, Want: wantOneSpan})
		case !said(seconds) && !said(calendar):
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: noSpan, Want: wantSpan})
		case said(n.Member("timezone")) && !said(calendar):
			r.Faults.Add(n.Member("timezone").At, path.Key("timezone"), yamldoc.Fault{Reason: zoneWithoutCalendar, Want: wantRemoved})
		}
	},
}

func windowKeys(w *policy.WindowSource) []grammar.Key {
	scope := "everyone"
	if w.Principal {
		scope = "principal"
	}
	seconds := grammar.Number("seconds", &w.Seconds, grammar.Bounds{Min: 60, Max: 2_678_400, Unit: grammar.InSeconds}).Means("How far back the window reaches.")
	show := seconds.Show
	seconds.Numeric = false
	seconds.Show = func() any {
		if w.Seconds == 0 {
			return nil
		}
		return show()
	}
	whose := grammar.Word("scope", &scope, "everyone", "principal").Means("Whose runs: everyone's (the default), or only those of the run's principal.")
	read := whose.Read
	whose.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		w.Principal = scope == "principal"
	}
	return []grammar.Key{
		grammar.ToolList("tools", &w.Tools).Need(wantWindowTools).Means("The tools whose calls it holds. Required."),
		seconds,
		grammar.Word("calendar", &w.Calendar, "day", "week", "month").Means("The start of the day, week (from Monday) or month, instead of seconds."),
		grammar.OptionalText("timezone", &w.Timezone, faultOfZone).Means("The time zone in which the calendar's day begins, an IANA name such as Europe/Berlin. Not set: UTC."),
		whose,
	}
}

// faultOfZone refuses a text that cannot be an IANA name. Loading the zone later finds out whether it exists.
func faultOfZone(text string) yamldoc.Fault {
	if ijson.Blank(text) || len(text) > yamldoc.MaxQuoted || text == "Local" {
		return yamldoc.Fault{Reason: notZone, Got: yamldoc.Quoted(text), Want: wantZone}
	}
	return yamldoc.Fault{}
}

// ReadFile reads a file that only trusted users can write. It refuses anything but a regular file, since reading a pipe
// could wait forever.
func ReadFile(path string) ([]byte, yamldoc.Fault) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, yamldoc.Fault{Reason: notFile, Want: wantFile}
	}
	return machine.ReadTrusted(path)
}

// readPolicyText returns the text of a policy's file, or the text that replaces it.
func readPolicyText(r *grammar.Reader, path string) ([]byte, yamldoc.Fault) {
	if text, written := grammar.NotesOf[Notes](r).Texts[path]; written {
		return text, yamldoc.Fault{}
	}
	return ReadFile(path)
}
