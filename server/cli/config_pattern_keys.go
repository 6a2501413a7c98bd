package cli

import (
	"fmt"
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server/settings/yamldoc"
)

// ownKinds are the kinds of patterns.
var ownKinds = []string{
	string(gateway.TaskDecomposition), string(gateway.Orchestrator), string(gateway.Routing), string(gateway.Supervisor),
	string(gateway.Planning), string(gateway.Call),
}

// keys are what a pattern of its kind may say (spec/config.md section 7).
func (p *PatternConfig) keys(known []string) []configKey {
	title := lineKey("title", &p.Title, maxTitle, "").means("What people read.")
	description := lineKey("description", &p.Description, maxDescription, "\n").means("What a client's model reads: what it does, and when to use it.")
	if p.own() && p.Kind != gateway.Call {
		title = title.need("write what people read, in a few words").means("What people read. Required.")
		description = description.need("write what it does and when to use it, for the model").
			means("What a client's model reads: what it does, and when to use it. Required.")
	}
	keys := []configKey{
		fixedKey("kind", string(p.Kind)).means("The kind of pattern. It cannot be changed."),
		boolKey("enabled", &p.Enabled).means("false: there is no such tool."),
		title, description,
	}
	if p.Kind == gateway.Call {
		keys = append(keys, oneToolKey("tool", &p.Tool).need("write the tool that it calls").means("The tool that it calls: one gated, recorded call. Required."))
	} else {
		keys = append(keys, p.handsKeys(known)...)
	}
	keys = append(keys,
		withLimitsOfOthers(groupKey("budget", p.budgetKeys()...), budgetOfOthers(p.Kind)),
		policyKey("policy", &p.Judge).means("The policy that judges its calls. Not set: none; supervised_refund over the demo has `demo_refunds`."),
		p.paramsKey("params"),
		groupKey("approver", approverKeys(&p.Approver)...),
	)
	return append(keys, p.textKeys()...)
}

// budgetKeys are its limits. Those that it has of its kind alone, and that a pattern which calls it has lower, are shown as not said:
// written they would be a fault.
func (p *PatternConfig) budgetKeys() []configKey {
	keys := budgetKeys(p.Kind, &p.Budget)
	for i := range keys {
		if _, unsaid := p.Handed[keys[i].name]; unsaid {
			keys[i].keep = keys[i].show
			keys[i].show = func() any { return nil }
		}
	}
	return keys
}

// handsKeys are what it takes and what it may call, of every kind but call.
func (p *PatternConfig) handsKeys(known []string) []configKey {
	tools := toolListKey("tools", &p.Tools)
	narrow := namesKey
	switch p.Kind {
	case gateway.Planning:
		tools = tools.means("The tools that a plan may name and that may be called; [] is none. Besides them a subtask may be the model's or the caller's work. The demo's refund tools are judged by the refund policy here too.")
		narrow = narrowKey
	default:
		tools = tools.means("The tools of this pattern, both allowlists; [] is none. Tools of the demo and others do not mix. Not set: the demo's, where it is on.")
	}
	keys := []configKey{
		inputKey("input", &p.Input).means("Its arguments beside the kind's own, for model, rules and policy. One is required unless `optional: true` or it has a default."),
		spelledKey("goal_argument", &p.Goal, serverNames).means("What the argument with the goal is called."),
		tools,
	}
	switch p.Kind {
	case gateway.Orchestrator:
		keys = append(keys,
			handsKey("workers", &p.Hands, false).means("In the place of tools: workers under names of its own, each {tool or pattern, description}, or a list of tools."),
			toolListKey("critical", &p.Critical).means("Workers without whose result the run stops, whatever its plan says."),
			aggregateKey("aggregate", &p.Aggregate).means("How the results are joined. Not set: by task."),
		)
	case gateway.Routing:
		keys = append(keys, handsKey("routes", &p.Hands, true).
			means("In the place of tools: routes under names of its own, each {tool or pattern, description, reroute}, or a list of tools."))
	}
	return append(keys, groupKey("allow",
		narrow("policy", &p.Policy, known, p.Kind).means("Narrows tools for what a plan, route or action may name. Not set: all of them; [] is nothing. A name that does not exist is a warning."),
		narrow("execution", &p.Execution, known, p.Kind).means("Narrows tools for what may be called. Not set: all of them; [] is nothing."),
	))
}

// textKeys are about what the model is told and answers; a call asks none.
func (p *PatternConfig) textKeys() []configKey {
	var keys []configKey
	switch p.Kind {
	case gateway.Call:
		return nil
	case gateway.Planning:
		keys = append(keys, wordKey("require_approval", &p.Planning.Require, patterns.RequireNone, patterns.RequirePlan, patterns.RequireWrite).
			means("Which plans a person approves whole, tools, order and arguments, before anything of them runs. plan: every plan; write: those in which a tool writes or destroys; none: no plan."))
	}
	keys = append(keys,
		groupKey("llm", p.LLM.keys()...),
		instructionsKey("instructions", &p.Instructions).means("What the model is told after this program's own prompts, at most 8 KiB: a Go template over the pattern's inputs, which it is given as data."),
	)
	if p.Kind != gateway.Supervisor {
		keys = append(keys, finalizeKey("finalize", &p.Finalize).
			means("Whether a final text is written where the call does not say. auto: yes, but not where the caller proposes and no model is configured."))
	}
	if p.Kind != gateway.Planning {
		keys = append(keys, rawKey("answer", "a mapping of members to JSON schemas", &p.Answer, checkListedSchemas).
			means("What the final answer must be: JSON of these members. Not set: text."))
	}
	return keys
}

// withLimitsOfOthers returns a group that says of a key that it does not know which other kinds have it.
func withLimitsOfOthers(k configKey, kindsOf func(key string) []string) configKey {
	show := k.show
	k.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		keys, _ := show().([]configKey)
		r.group(n, path, keys, func(key string, known []string) yamldoc.Fault {
			if kinds := kindsOf(key); len(kinds) > 0 {
				return yamldoc.Fault{Reason: "a limit of kind " + yamldoc.Alternatives(kinds), Want: "leave it out"}
			}
			return unknownKey(key, known)
		})
	}
	return k
}

// budgetOfOthers are the kinds that have a limit which this one has not.
func budgetOfOthers(kind gateway.Kind) func(key string) []string {
	return func(key string) (kinds []string) {
		for _, word := range ownKinds {
			var b gateway.Budget
			if other := gateway.Kind(word); other != kind && slices.Contains(keyNames(budgetKeys(other, &b)), key) {
				kinds = append(kinds, word)
			}
		}
		return kinds
	}
}

// unknownOf is an unknown key of a pattern: that of another kind says whose it is.
func unknownOf(kind gateway.Kind) func(key string, known []string) yamldoc.Fault {
	return func(key string, known []string) yamldoc.Fault {
		var kinds []string
		for _, word := range ownKinds {
			p := newPattern("NAME", gateway.Kind(word), Position{})
			if slices.Contains(keyNames(p.keys(nil)), key) {
				kinds = append(kinds, word)
			}
		}
		if len(kinds) == 0 {
			return unknownKey(key, known)
		}
		f := yamldoc.Fault{Reason: fmt.Sprintf("a key of kind %s, and this is of kind %s", yamldoc.Alternatives(kinds), kind), Want: "leave it out"}
		switch hands := handsKeyOf(kind); {
		case key == "tool" || key == "tools" || key == "workers" || key == "routes":
			switch {
			case kind == gateway.Call:
				f.Want = "write tool"
			case hands != "":
				f.Want = "write " + hands
			default:
				f.Want = "write tools"
			}
		}
		return f
	}
}

// checkListedSchemas are schemas that clients show: of the file's words in them no character plays tricks.
func checkListedSchemas(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
	checkArguments(r, n, path)
	checkSeen(r, n, path)
}

// checkSeen refuses text, at any depth, that is shown otherwise than it is.
func checkSeen(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
	for i, item := range n.Items {
		checkSeen(r, item, path.Item(i))
	}
	for _, m := range n.Members {
		if f := faultOfCharacters(m.Key, ""); f != (yamldoc.Fault{}) {
			r.faults.Add(m.At, path.Key(m.Key), f)
		}
		if m.Key != "pattern" || m.Value.Kind != yamldoc.Text { // which is matched, not read
			checkSeen(r, m.Value, path.Key(m.Key))
		}
	}
	if n.Kind == yamldoc.Text {
		if f := faultOfCharacters(n.Text, "\n"); f != (yamldoc.Fault{}) {
			r.faults.Add(n.At, path, f)
		}
	}
}

// finalizeKey is auto, true or false.
func finalizeKey(name string, target *patterns.Finalize) configKey {
	word := "auto"
	if *target != patterns.FinalizeAuto {
		word = string(*target)
	}
	key := demoKey(name, &word)
	read := key.read
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		if *target = patterns.Finalize(word); word == "auto" {
			*target = patterns.FinalizeAuto
		}
	}
	return key
}

// instructionsKey is a template. What it says of inputs is judged once they are known.
func instructionsKey(name string, target *string) configKey {
	key := textKey(name, target, func(text string) yamldoc.Fault {
		if len(text) > prompts.MaxInstructions {
			return yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(len(text))) + " bytes", Want: "write at most " + yamldoc.NumberText(prompts.MaxInstructions)}
		}
		return yamldoc.Fault{}
	})
	key.takes = "text, at most 8 KiB"
	return key
}
