package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// maxRowName is how long the name of a test may be, in characters.
const maxRowName = 100

var rowItems = items[policy.Row]{
	name: "name", fits: isRowName, most: maxPolicyMembers, keys: rowKeys, value: rowValue,
	finish: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path, row *policy.Row) {
		if at := n.Member("call"); at != nil && at.Kind == yamldoc.Mapping && row.Call.Tool == "final" {
			if _, text := row.Call.Args["answer"].(string); !text || len(row.Call.Args) != 1 {
				r.faults.Add(at.At, path.Key("call"), yamldoc.Fault{Reason: "final has another form", Want: "write {tool: final, args: {answer: TEXT}}"})
			}
		}
	},
}

// reasonNames are those that a block may have: a rule's, or policy_error: with the id of the rule that could not be evaluated.
var reasonNames = nameRule{lazily(`^(policy_error:)?[a-z][a-z0-9_]{0,63}$`), "write a reason: a small letter, then up to 63 small letters, digits and _"}

func isRowName(text string) bool {
	return !ijson.Blank(text) && utf8.RuneCountInString(text) <= maxRowName
}

// rowKeys are the members of a test (spec/config.md section 5.3).
func rowKeys(row *policy.Row) []configKey {
	return []configKey{
		shortKey("name", &row.Name, maxRowName).need("write what it shows").means("What the test shows. Required."),
		callKey("call", &row.Call).need("write the call that is judged: {tool, args}").means("The call that is judged; of `final` the arguments are {answer}. Required."),
		wantKey("want", &row.Want).need("approve, revise, escalate or block?").means("What the policy must say; revise: approved after changes. Required."),
		spelledKey("want_reason", &row.WantReason, reasonNames).means("The reason that it must give."),
		spelledKey("want_rule", &row.WantRule, serverNames).means("The rule that must decide."),
		objectKey("want_args", &row.WantArgs).means("Arguments after all changes; only those named are compared."),
		namesListKey("want_need", &row.WantNeed, argumentNames, maxNeed).means("What a block must name as needed."),
		effectItems.key("effects", &row.Effects).means("The calls before it."),
		oneToolKey("pattern", &row.Pattern).means("The pattern whose params and input are taken. Not set: the policy's own params."),
		objectKey("params", &row.Params).means("Params laid over."),
		objectKey("input", &row.Input).means("The pattern's input fields."),
		principalKey("principal", &row.Principal).means("Whose run it is: {id, kind, name}."),
		clientKey("client", &row.Client).means("The program that asks: {name, version}."),
		timeKey("now", &row.Now).means("The time, as in 2026-11-22T09:30:00Z."),
		boolKey("approved", &row.Approved).means("Whether a person approved the arguments as revised."),
	}
}

// effectItems have no name: a path counts them.
var effectItems = items[policy.RowEffect]{
	fits: func(string) bool { return false }, most: gateway.MaxWindow, keys: effectKeys, value: effectValue,
}

func effectKeys(e *policy.RowEffect) []configKey {
	return []configKey{
		oneToolKey("tool", &e.Tool).need("write the tool that was called").means("The tool that was called. Required."),
		wordKey("status", &e.Status, gateway.Reserved, gateway.Finished, gateway.Failed, gateway.InDoubt).means("What became of it. Not set: done."),
		flagKey("ok", &e.OK).means("Whether it is done and its result carries no error. Not set: as status and result say."),
		objectKey("args", &e.Args).means("Its arguments."),
		objectKey("result", &e.Result).means("What it gave."),
		numberKey("seconds_ago", &e.SecondsAgo, bounds{max: 10 * 366 * 86_400, noun: "a number of seconds", seconds: true}).means("How long before the call."),
		boolKey("other_run", &e.OtherRun).means("Whether it was a call of an earlier run, which windows alone see."),
	}
}

// flagKey is a boolKey that may be not set.
func flagKey(name string, target **bool) configKey {
	key := boolKey(name, new(bool))
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind != yamldoc.Bool {
			r.wrong(n, path, boolWords(n))
			return
		}
		*target = &n.Flag
	}
	key.show = func() any {
		if *target == nil {
			return nil
		}
		return **target
	}
	return key
}

// objectKey is any mapping; nil where it is not there.
func objectKey(name string, target *map[string]any) configKey {
	return configKey{
		name: name, takes: "a mapping", form: func() map[string]any { return blockForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Mapping {
				r.wrong(n, path, "write a mapping, {} for none")
				return
			}
			if n.Readable() {
				*target, _ = n.Decoded().(map[string]any)
			}
		},
		show: func() any {
			if *target == nil {
				return nil
			}
			return *target
		},
	}
}

func callKey(name string, target *policy.RowCall) configKey {
	group := groupKey(name, oneToolKey("tool", &target.Tool).need("write the tool that is called"), objectKey("args", &target.Args))
	group.takes, group.form = "{tool, args}", func() map[string]any {
		return objectForm(map[string]any{"tool": nameForm, "args": orNull(blockForm)}, "tool")
	}
	return group
}

// wantKey is a decision in a word.
func wantKey(name string, target *gateway.Decision) configKey {
	decisions := []gateway.Decision{gateway.Approve, gateway.Revise, gateway.Escalate, gateway.Block}
	words := make([]string, len(decisions))
	for i, d := range decisions {
		words[i] = d.String()
	}
	return configKey{
		name: name, takes: yamldoc.Alternatives(words), form: func() map[string]any { return map[string]any{"enum": textValues(words)} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if word, ok := r.word(n, path, words); ok {
				*target = decisions[slices.Index(words, word)]
			}
		},
		show: func() any { return target.String() },
	}
}

func principalKey(name string, target *gateway.Principal) configKey {
	fits := func(text string) yamldoc.Fault {
		if ijson.Blank(text) || len(text) > maxClientName {
			return yamldoc.Fault{Reason: "not a name", Want: "write 1 to 256 bytes"}
		}
		return yamldoc.Fault{}
	}
	group := groupKey(name, optionalTextKey("id", &target.ID, fits), wordKey("kind", &target.Kind, "local", "token"), optionalTextKey("name", &target.Name, fits))
	group.takes, group.form = "{id, kind, name}, or an id: token:ci", func() map[string]any {
		return map[string]any{"anyOf": []any{textForm, objectForm(map[string]any{"id": orNull(textForm), "kind": map[string]any{"enum": []any{"local", "token", nil}}, "name": orNull(textForm)})}}
	}
	members := group.read
	group.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind != yamldoc.Text {
			members(r, n, path)
			*target = wholePrincipal(*target)
			return
		}
		kind, of, ok := strings.Cut(n.Text, ":")
		if !ok || kind != "local" && kind != "token" || fits(of).Reason != "" {
			r.wrong(n, path, "write local:NAME or token:NAME")
			return
		}
		*target = gateway.Principal{ID: n.Text, Kind: kind, Name: of}
	}
	return group
}

// wholePrincipal fills in what the rest of a principal says.
func wholePrincipal(p gateway.Principal) gateway.Principal {
	if kind, name, ok := strings.Cut(p.ID, ":"); ok {
		p.Kind, p.Name = cmp.Or(p.Kind, kind), cmp.Or(p.Name, name)
	}
	if p.Kind = cmp.Or(p.Kind, "local"); p.ID == "" {
		p.ID = p.Kind + ":" + p.Name
	}
	return p
}

func clientKey(name string, target *gateway.Client) configKey {
	fits := func(text string) yamldoc.Fault {
		if len(text) > maxClientName {
			return yamldoc.Fault{Reason: "too long", Want: "write at most 256 bytes"}
		}
		return yamldoc.Fault{}
	}
	group := groupKey(name, optionalTextKey("name", &target.Name, fits), optionalTextKey("version", &target.Version, fits))
	group.takes, group.form = "{name, version}", func() map[string]any {
		return objectForm(map[string]any{"name": orNull(textForm), "version": orNull(textForm)})
	}
	return group
}

func timeKey(name string, target *time.Time) configKey {
	return configKey{
		name: name, takes: "a time", form: func() map[string]any { return map[string]any{"type": "string", "format": "date-time"} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			const want = `write a time: "2026-11-22T09:30:00Z"`
			if n.Kind != yamldoc.Text {
				r.wrong(n, path, want)
				return
			}
			at, err := time.Parse(time.RFC3339Nano, n.Text)
			if err != nil || at.Year() < 1 || at.Year() > 9999 {
				r.faults.Add(n.At, path, yamldoc.Fault{Reason: "not a time", Got: yamldoc.Quoted(n.Text), Want: want})
				return
			}
			*target = at.UTC()
		},
		show: func() any {
			if target.IsZero() {
				return nil
			}
			return target.Format(time.RFC3339Nano)
		},
	}
}
