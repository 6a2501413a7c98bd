package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// maxRowName is the maximum length of the name of a test in characters.
const maxRowName = 100

var rowItems = grammar.Items[policy.Row]{
	Name: "name", Fits: isRowName, Most: MaxPolicyMembers, Keys: rowKeys,
	Finish: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, row *policy.Row) {
		if at := n.Member("call"); at != nil && at.Kind == yamldoc.Mapping && row.Call.Tool == "final" {
			if _, text := row.Call.Args["answer"].(string); !text || len(row.Call.Args) != 1 {
				r.Faults.Add(at.At, path.Key("call"), yamldoc.Fault{Reason: finalForm, Want: wantFinalForm})
			}
		}
	},
}

// reasonNames are the reasons that a block can have: a rule's, or policy_error: with the id of the rule that could not be
// evaluated.
var reasonNames = grammar.NameRule{Fits: grammar.Lazily(`^(policy_error:)?[a-z][a-z0-9_]{0,63}$`), Want: wantReason}

func isRowName(text string) bool {
	return !ijson.Blank(text) && utf8.RuneCountInString(text) <= maxRowName
}

// rowKeys returns the keys of a test (spec/config.md section 5.3).
func rowKeys(row *policy.Row) []grammar.Key {
	return []grammar.Key{
		grammar.Short("name", &row.Name, maxRowName).Need(wantTestName).Means("What the test shows. Required."),
		callKey("call", &row.Call).Need(wantJudgedCall).Means("The call that is judged. For `final` the arguments are {answer}. Required."),
		wantKey("want", &row.Want).Need(wantVerdict).Means("The verdict that the policy must give. revise means approved after changes. Required."),
		grammar.Spelled("want_reason", &row.WantReason, reasonNames).Means("The reason that it must give."),
		grammar.Spelled("want_rule", &row.WantRule, grammar.ServerNames).Means("The rule that must decide."),
		objectKey("want_args", &row.WantArgs).Means("Arguments after all changes. Only the named ones are compared."),
		namesListKey("want_need", &row.WantNeed, grammar.ArgumentNames, maxNeed).Means("What a block must name as needed."),
		effectItems.Key("effects", &row.Effects).Means("The calls before it."),
		grammar.OneTool("pattern", &row.Pattern).Means("The pattern whose params and input are taken. Not set: the policy's own params."),
		objectKey("params", &row.Params).Means("Params that replace the policy's."),
		objectKey("input", &row.Input).Means("The pattern's input fields."),
		principalKey("principal", &row.Principal),
		clientKey("client", &row.Client),
		timeKey("now", &row.Now).Means("The time, as in 2026-11-22T09:30:00Z."),
		grammar.Bool("approved", &row.Approved).Means("Whether a person approved the arguments as revised."),
	}
}

// effectItems are items without names, so a path contains their index.
var effectItems = grammar.Items[policy.RowEffect]{
	Fits: func(string) bool { return false }, Most: gateway.MaxWindow, Keys: effectKeys,
}

func effectKeys(e *policy.RowEffect) []grammar.Key {
	return []grammar.Key{
		grammar.OneTool("tool", &e.Tool).Need(wantEarlierTool).Means("The tool that was called. Required."),
		grammar.Word("status", &e.Status, gateway.Reserved, gateway.Finished, gateway.Failed, gateway.InDoubt).Means("The status of the call. Not set: done."),
		flagKey("ok", &e.OK).Means("Whether the call is done and its result has no error. Not set: as status and result say."),
		objectKey("args", &e.Args).Means("Its arguments."),
		objectKey("result", &e.Result).Means("Its result."),
		grammar.Number("seconds_ago", &e.SecondsAgo, grammar.Bounds{Max: 10 * 366 * 86_400, Unit: grammar.InSeconds}).Means("How long before the call."),
		grammar.Bool("other_run", &e.OtherRun).Means("Whether it was a call of an earlier run. Only windows see those."),
	}
}

// flagKey returns the key of a boolean that can be unset. Unset is shown as null.
func flagKey(name string, target **bool) grammar.Key {
	key := grammar.Bool(name, new(bool))
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind != yamldoc.Bool {
			r.Wrong(n, path, grammar.BoolWords(n))
			return
		}
		*target = &n.Flag
	}
	key.Show = func() any {
		if *target == nil {
			return nil
		}
		return **target
	}
	return key
}

// objectKey returns the key of any mapping. It is nil if the file does not set it.
func objectKey(name string, target *map[string]any) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "mapping", Form: func() map[string]any { return grammar.BlockForm },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Mapping {
				r.Wrong(n, path, wantArguments)
				return
			}
			if n.Readable() {
				*target, _ = n.Decoded().(map[string]any)
			}
		},
		Show: func() any {
			if *target == nil {
				return nil
			}
			return *target
		},
	}
}

func callKey(name string, target *policy.RowCall) grammar.Key {
	args := objectKey("args", &target.Args)
	args.Keep = func() any { return ObjectOr(target.Args) }
	keys := []grammar.Key{grammar.OneTool("tool", &target.Tool).Need(wantCalledTool), args}
	group := grammar.InBrief(grammar.Group(name, keys...))
	group.Keep = func() any { return grammar.ValueOf(keys, grammar.Key.Kept) } // with args, even if there are none
	return group
}

// wantKey returns the key of a decision, written as a word.
func wantKey(name string, target *gateway.Decision) grammar.Key {
	decisions := []gateway.Decision{gateway.Approve, gateway.Revise, gateway.Escalate, gateway.Block}
	words := make([]string, len(decisions))
	for i, d := range decisions {
		words[i] = d.String()
	}
	return grammar.Key{
		Name: name, Takes: yamldoc.Alternatives(words), Form: func() map[string]any { return map[string]any{"enum": grammar.TextValues(words)} },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if word, ok := r.Word(n, path, words); ok {
				*target = decisions[slices.Index(words, word)]
			}
		},
		Show: func() any { return target.String() },
	}
}

func principalKey(name string, target *gateway.Principal) grammar.Key {
	fits := func(text string) yamldoc.Fault {
		if ijson.Blank(text) || len(text) > MaxClientName {
			return yamldoc.Fault{Reason: notName, Want: wantBytes}
		}
		return yamldoc.Fault{}
	}
	group := grammar.InBrief(grammar.Group(name, grammar.OptionalText("id", &target.ID, fits), grammar.Word("kind", &target.Kind, principalKinds...), grammar.OptionalText("name", &target.Name, fits)))
	group = group.Means(principalMeaning(group.Takes))
	group.Takes += orPrincipalID
	group.Form = func() map[string]any {
		return map[string]any{"anyOf": []any{grammar.TextForm, grammar.BriefForm(group.Below())}}
	}
	members := group.Read
	group.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind != yamldoc.Text {
			members(r, n, path)
			*target = wholePrincipal(*target)
			return
		}
		kind, of, ok := strings.Cut(n.Text, ":")
		if !ok || !slices.Contains(principalKinds, kind) || fits(of).Reason != "" {
			r.Wrong(n, path, wantPrincipal)
			return
		}
		*target = gateway.Principal{ID: n.Text, Kind: kind, Name: of}
	}
	return group
}

// principalKinds are the kinds of a principal: a user of this machine, or the holder of a token.
var principalKinds = []string{"local", "token"}

// wholePrincipal sets the members of a principal that are empty from the others.
func wholePrincipal(p gateway.Principal) gateway.Principal {
	if kind, name, ok := strings.Cut(p.ID, ":"); ok {
		p.Kind, p.Name = cmp.Or(p.Kind, kind), cmp.Or(p.Name, name)
	}
	if p.Kind = cmp.Or(p.Kind, "local"); p.ID == "" {
		p.ID = p.Kind + ":" + p.Name
	}
	return p
}

func clientKey(name string, target *gateway.Client) grammar.Key {
	fits := func(text string) yamldoc.Fault {
		if len(text) > MaxClientName {
			return yamldoc.Fault{Reason: tooLong, Want: wantShortText}
		}
		return yamldoc.Fault{}
	}
	group := grammar.InBrief(grammar.Group(name, grammar.OptionalText("name", &target.Name, fits), grammar.OptionalText("version", &target.Version, fits)))
	return group.Means(clientMeaning(group.Takes))
}

func timeKey(name string, target *time.Time) grammar.Key {
	return grammar.Key{
		Name: name, Takes: aTime, Form: func() map[string]any { return map[string]any{"type": "string", "format": "date-time"} },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			const want = wantTime
			if n.Kind != yamldoc.Text {
				r.Wrong(n, path, want)
				return
			}
			at, err := time.Parse(time.RFC3339Nano, n.Text)
			if err != nil || at.Year() < 1 || at.Year() > 9999 {
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: notTime, Got: yamldoc.Quoted(n.Text), Want: want})
				return
			}
			*target = at.UTC()
		},
		Show: func() any {
			if target.IsZero() {
				return nil
			}
			return target.Format(time.RFC3339Nano)
		},
	}
}

// MaxClientName is the maximum length of a client's name in bytes.
const MaxClientName = 256

// RowsKey returns the key of the tests of a policy.
func RowsKey(name string, list *[]policy.Row) grammar.Key { return rowItems.Key(name, list) }
