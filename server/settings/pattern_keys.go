package settings

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// OwnKinds are the kinds that a pattern of the file can have.
var OwnKinds = []string{
	string(gateway.TaskDecomposition), string(gateway.Orchestrator), string(gateway.Routing), string(gateway.Supervisor),
	string(gateway.Planning), string(gateway.Call),
}

// Keys returns the keys of a pattern of its kind (spec/config.md section 7). known are the names that allow lists can hold
// without a warning.
func (p *Pattern) Keys(known []string) []grammar.Key {
	title := grammar.Line("title", &p.Title, tools.MaxTitle, "").Means("What people read.")
	description := grammar.Line("description", &p.Description, tools.MaxDescription, "\n").Means("What a client's model reads: what the tool does and when to use it.")
	if p.IsOwn() && p.Kind != gateway.Call {
		title = title.Need(wantTitle).Means("What people read. Required.")
		description = description.Need(wantDescription).
			Means("What a client's model reads: what the tool does and when to use it. Required.")
	}
	keys := []grammar.Key{
		grammar.Fixed("kind", string(p.Kind)).Means("The kind of pattern. It cannot be changed."),
		grammar.Bool("enabled", &p.Enabled).Means("false: the tool does not exist."),
		title, description,
	}
	if p.Kind == gateway.Call {
		keys = append(keys, grammar.OneTool("tool", &p.Tool).Need(wantItsTool).Means("The tool that it calls: one checked, recorded call. Required."))
	} else {
		keys = append(keys, p.handsKeys(known)...)
	}
	keys = append(keys,
		withLimitsOfOthers(grammar.Group("budget", p.budgetKeys()...), budgetOfOthers(p.Kind)),
		grammar.OnePolicy("policy", &p.Judge).Means("The policy that judges its calls. Not set: none; supervised_refund with the demo has `demo_refunds`."),
		p.paramsKey("params"),
		grammar.Group("approver", approverKeys(&p.Approver)...),
	)
	return append(keys, p.textKeys()...)
}

// budgetKeys returns the keys of the pattern's limits. A limit in Handed is shown as not set: in a file it would be a
// fault.
func (p *Pattern) budgetKeys() []grammar.Key {
	keys := budgetKeys(p.Kind, &p.Budget)
	for i := range keys {
		if _, unsaid := p.Handed[keys[i].Name]; unsaid {
			keys[i].Keep = keys[i].Show
			keys[i].Show = func() any { return nil }
		}
	}
	return keys
}

// handsKeys returns the keys of the arguments and of what the pattern can call, for every kind but call.
func (p *Pattern) handsKeys(known []string) []grammar.Key {
	tools := grammar.ToolList("tools", &p.Tools)
	narrow := namesKey
	switch p.Kind {
	case gateway.Planning:
		tools = tools.Means("The tools that a plan can name and that can be called; [] is none. A subtask can also be the model's or the caller's work. The refund policy judges the demo's refund tools here too.")
		narrow = narrowKey
	default:
		tools = tools.Means("The tools of this pattern, for both allow lists; [] is none. Demo tools and others cannot be mixed. Not set: the demo's, if it is on.")
	}
	keys := []grammar.Key{
		inputKey("input", &p.Input).Means("Its own arguments, besides those of its kind, for model, rules and policy. An argument is required unless it has `optional: true` or a default."),
		grammar.Spelled("goal_argument", &p.Goal, grammar.ServerNames).Means("The name of the argument with the goal."),
		tools,
	}
	switch p.Kind {
	case gateway.Orchestrator:
		keys = append(keys,
			handsKey("workers", &p.Hands, false).Means(workersMeaning(eachHand(false))),
			grammar.ToolList("critical", &p.Critical).Means("Workers whose result the run needs, whatever its plan says. Without it the run stops."),
			aggregateKey("aggregate", &p.Aggregate).Means("How the results are joined. Not set: by task."),
		)
	case gateway.Routing:
		keys = append(keys, handsKey("routes", &p.Hands, true).
			Means(routesMeaning(eachHand(true))))
	}
	return append(keys, grammar.Group("allow",
		narrow("policy", &p.Policy, known, p.Kind).Means("The tools that a plan, route or action can name. Not set: all of tools; [] is none. A name that does not exist is a warning."),
		narrow("execution", &p.Execution, known, p.Kind).Means("The tools that can be called. Not set: all of tools; [] is none."),
	))
}

// textKeys returns the keys about the model's instructions and answers. Kind call has none, since it asks no model.
func (p *Pattern) textKeys() []grammar.Key {
	var keys []grammar.Key
	switch p.Kind {
	case gateway.Call:
		return nil
	case gateway.Planning:
		keys = append(keys, grammar.Word("require_approval", &p.Planning.Require, patterns.RequireNone, patterns.RequirePlan, patterns.RequireWrite).
			Means("Which plans a person approves as a whole (tools, order and arguments) before anything runs. plan: every plan. write: plans with a tool that writes or destroys. none: no plan."))
	}
	keys = append(keys,
		grammar.Group("llm", p.LLM.keys()...),
		instructionsKey("instructions", &p.Instructions).Means("Further instructions for the model after this program's own prompts. A Go template over the pattern's inputs, which the model gets as data."),
	)
	if p.Kind != gateway.Supervisor {
		keys = append(keys, finalizeKey("finalize", &p.Finalize).
			Means("Whether a final text is written if the call does not say. auto: yes, unless the caller proposes and no model is configured."))
	}
	if p.Kind != gateway.Planning {
		keys = append(keys, grammar.Raw("answer", mappingOfMembers, &p.Answer, checkListedSchemas).
			Means("What the final answer must be: JSON with these members. Not set: text."))
	}
	return keys
}

// withLimitsOfOthers returns a group that reads k's keys. For an unknown key that other kinds have, its fault names these
// kinds.
func withLimitsOfOthers(k grammar.Key, kindsOf func(key string) []string) grammar.Key {
	show := k.Show
	k.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		keys, _ := show().([]grammar.Key)
		r.Group(n, path, keys, func(key string, known []string) yamldoc.Fault {
			if kinds := kindsOf(key); len(kinds) > 0 {
				return yamldoc.Fault{Reason: limitOfKind(yamldoc.Alternatives(kinds)), Want: wantRemoved}
			}
			return grammar.UnknownKey(key, known)
		})
	}
	return k
}

// budgetOfOthers returns a function that returns the other kinds that have a limit.
func budgetOfOthers(kind gateway.Kind) func(key string) []string {
	return func(key string) (kinds []string) {
		for _, word := range OwnKinds {
			var b gateway.Budget
			if other := gateway.Kind(word); other != kind && slices.Contains(grammar.NamesOf(budgetKeys(other, &b)), key) {
				kinds = append(kinds, word)
			}
		}
		return kinds
	}
}

// unknownOf returns the fault function for unknown keys of a pattern. If other kinds have the key, the fault names them.
func unknownOf(kind gateway.Kind) func(key string, known []string) yamldoc.Fault {
	return func(key string, known []string) yamldoc.Fault {
		var kinds []string
		for _, word := range OwnKinds {
			p := newPattern("NAME", gateway.Kind(word), grammar.Position{})
			if slices.Contains(grammar.NamesOf(p.Keys(nil)), key) {
				kinds = append(kinds, word)
			}
		}
		if len(kinds) == 0 {
			return grammar.UnknownKey(key, known)
		}
		f := yamldoc.Fault{Reason: keyOfKind(yamldoc.Alternatives(kinds), string(kind)), Want: wantRemoved}
		switch hands := handsKeyOf(kind); {
		case key == "tool" || key == "tools" || key == "workers" || key == "routes":
			switch {
			case kind == gateway.Call:
				f.Want = wantToolKey
			case hands != "":
				f.Want = "write " + hands
			default:
				f.Want = wantToolsKey
			}
		}
		return f
	}
}

// checkListedSchemas checks schemas that clients show to people, and refuses characters in them that mislead a reader.
func checkListedSchemas(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
	tools.CheckArguments(r, n, path)
	checkSeen(r, n, path)
}

// checkSeen refuses text, at any depth, that looks different from what it is.
func checkSeen(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
	for i, item := range n.Items {
		checkSeen(r, item, path.Item(i))
	}
	for _, m := range n.Members {
		if f := grammar.FaultOfCharacters(m.Key, ""); f != (yamldoc.Fault{}) {
			r.Faults.Add(m.At, path.Key(m.Key), f)
		}
		if m.Key != "pattern" || m.Value.Kind != yamldoc.Text { // a pattern is matched, not shown
			checkSeen(r, m.Value, path.Key(m.Key))
		}
	}
	if n.Kind == yamldoc.Text {
		if f := grammar.FaultOfCharacters(n.Text, "\n"); f != (yamldoc.Fault{}) {
			r.Faults.Add(n.At, path, f)
		}
	}
}

// finalizeKey returns a key whose value is auto, true or false.
func finalizeKey(name string, target *patterns.Finalize) grammar.Key {
	word := "auto"
	if *target != patterns.FinalizeAuto {
		word = string(*target)
	}
	key := demoKey(name, &word)
	read := key.Read
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		if *target = patterns.Finalize(word); word == "auto" {
			*target = patterns.FinalizeAuto
		}
	}
	return key
}

// instructionsKey returns the key of the instructions template. A later check, when the inputs are known, checks its use of
// inputs.
func instructionsKey(name string, target *string) grammar.Key {
	key := grammar.Text(name, target, func(text string) yamldoc.Fault {
		if len(text) > prompts.MaxInstructions {
			return yamldoc.Fault{Reason: tooLong, Got: yamldoc.NumberText(float64(len(text))) + " bytes", Want: wantAtMost(yamldoc.NumberText(prompts.MaxInstructions))}
		}
		return yamldoc.Fault{}
	})
	key.Takes = shortText
	return key
}
