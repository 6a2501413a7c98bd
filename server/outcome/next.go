package outcome

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// next returns the advice after a run. Once a call wrote something, or may have, next offers nothing that could repeat
// it.
func (a account) next() envelope.Next {
	switch a.Spec.Kind {
	case gateway.Planning:
		return a.planNext()
	case gateway.Call:
		return a.singleNext()
	}
	if a.OK() {
		return envelope.Next{Action: envelope.ActionAnswer}
	}
	row, _ := stopreason.Lookup(a.StopReason)
	switch {
	case a.Phase == patterns.PhaseFinalize && row.Next == stopreason.NextCallOrAns:
		return envelope.Next{Action: envelope.ActionAnswer, Say: sentence.AtMost(printable.Text(a.Say), sentence.MaxLength)}
	case gateway.Wrote(a.Ledger):
		return envelope.Next{Action: envelope.ActionTell, Say: a.say()}
	}
	switch row.Next {
	case stopreason.NextFixOrCall:
		if a.ByCall {
			return a.fix()
		}
		return a.ownIntent(a.IntentSkeleton())
	case stopreason.NextFixOrTell:
		if a.ByCall {
			return a.fix()
		}
	case stopreason.NextCallOrAns:
		if n, ok := a.ownFinal(); ok {
			return n
		}
		return a.ownIntent(a.IntentSkeleton())
	case stopreason.NextOfBlock:
		return a.unblocked()
	case stopreason.NextCallOrTel:
		if a.StopReason == "caller_expired" {
			return a.ownIntent(a.continued())
		}
	}
	return envelope.Next{Action: envelope.ActionTell, Say: a.say()}
}

// fix offers the caller's call with the certain fixes.
func (a account) fix() envelope.Next {
	var also []ijson.Pointer
	if a.StopReason == "max_execute_steps" {
		also = append(also, "/plan/steps")
	}
	return fixed(a.Call, a.Repaired(a.Shifted(a.placed()), also...))
}

// fixed advises to send a repaired call. If no repaired call keeps the meaning, it advises which places to fix first.
func fixed(c arguments.Call, r arguments.Repair) envelope.Next {
	if r.Undecided {
		return envelope.Next{Action: envelope.ActionFix, Tool: c.Tool, Say: decisions(r.Left)}
	}
	return envelope.Next{Action: envelope.ActionFix, Tool: c.Tool, Arguments: envelope.Showable(r.Arguments), Changed: r.Changed, Fill: r.Fill}
}

// ownFinal offers the caller's own actions again if only the final answer was refused. The reader writes the answer anew.
func (a account) ownFinal() (envelope.Next, bool) {
	name := a.IntentName()
	problems := a.Shifted(a.placed())
	if !a.ByCall || !strings.HasPrefix(a.StopReason, "invalid_answer:") || len(problems) == 0 {
		return envelope.Next{}, false
	}
	tokens := problems[0].Pointer.Tokens()
	if len(tokens) < 3 || tokens[0] != name || tokens[2] != "answer" {
		return envelope.Next{}, false
	}
	inList := ijson.Pointer("").Member(tokens[1]).Member(tokens[2])
	if _, sent := inList.In(a.Intents[name]); !sent {
		return envelope.Next{}, false
	}
	actions, ok := ijson.Set(a.Intents[name], inList, "")
	if !ok {
		return envelope.Next{}, false
	}
	args := maps.Clone(a.Arguments)
	args[name] = actions
	return envelope.Next{
		Action: envelope.ActionCall, Tool: a.Tool, Arguments: envelope.Showable(args),
		Fill: []ijson.Pointer{ijson.Pointer("").Member(name) + inList}, Say: sentence.AtMost(decisions(problems)+a.answerForm(), sentence.MaxLength),
	}, true
}

// answerForm says which form the pattern's answer has, or returns "" if it can be any text.
func (a account) answerForm() string {
	form := catalog.Tool{Output: a.Spec.Answer}.ReturnWords()
	if form == nil {
		return ""
	}
	return answerHasForm(printable.Text(sentence.Short(string(ijson.Canonical(form)), maxWanted)))
}

// ownIntent offers the same call with an intent that the reader writes. skeleton shows the form of the intent.
func (a account) ownIntent(skeleton any) envelope.Next {
	name := a.IntentName()
	args := map[string]any{name: skeleton}
	for n, v := range a.Arguments {
		if n != name {
			args[n] = v
		}
	}
	return envelope.Next{
		Action: envelope.ActionCall, Tool: a.Tool, Arguments: envelope.Showable(args),
		Fill: []ijson.Pointer{ijson.Pointer("").Member(name)}, Say: a.invitation(),
	}
}

// invitation says what to fill in.
func (a account) invitation() string {
	switch {
	case len(a.Need) > 0:
		return a.needs()
	case a.Say != "": // from the offline rules, which say what they lack
		return sentence.AtMost(printable.Text(a.Say), sentence.MaxLength)
	case a.StopReason == "caller_expired" && a.Spec.Kind == gateway.Routing:
		return sendOtherRoute(a.decliners())
	case a.StopReason == "caller_expired":
		return sendAllActions
	}
	return sendOwn(a.IntentName())
}

// decliners names the specialists that sent the ticket back.
func (a account) decliners() string {
	var names []string
	for _, row := range a.History {
		if d, ok := row.(patterns.Delegation); ok {
			target, _ := d.Route["target"].(string)
			names = append(names, target)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return alreadyDeclined(sentence.Names(names))
}

// continued returns the caller's own actions with a place for the missing final one. For other kinds it returns the
// form of an intent.
func (a account) continued() any {
	own, ok := a.Intents["actions"].([]any)
	if !ok || a.Spec.Kind != gateway.Supervisor {
		return a.IntentSkeleton()
	}
	return append(slices.Clip(own), arguments.FinalAction())
}

// placed returns the run's problems. A problem about the whole call at which the run stopped gets the position of that
// call.
func (a account) placed() []document.Problem {
	problems := slices.Clone(a.Problems)
	for i, p := range problems {
		if p.Pointer == "" && (strings.Contains(p.Reason, "_denied:") || strings.Contains(p.Reason, "_missing:")) {
			problems[i].Pointer = a.nameAt()
		}
	}
	return problems
}

// nameAt returns where the intent has the tool's name of the call at which the run stopped.
func (a account) nameAt() ijson.Pointer {
	at := ijson.Pointer("")
	if a.ByCall {
		at = at.Member(a.IntentName())
	}
	n := len(a.History)
	switch a.Spec.Kind {
	case gateway.Call:
		return ""
	case gateway.TaskDecomposition:
		return at.Member("steps").Index(n).Member("tool")
	case gateway.Routing:
		return at.Member("target")
	case gateway.Supervisor:
		if a.ByCall {
			at = at.Index(n - a.Shift)
		}
		return at.Member("name")
	}
	return at
}

// say returns what to tell the person: the question that only the person can answer, or else what happened and what did
// not.
func (a account) say() string {
	if a.Say != "" {
		said := printable.Text(a.Say)
		if gateway.Wrote(a.Ledger) {
			said = sentence.Joined(said, a.written())
		}
		return sentence.AtMost(said, sentence.MaxLength)
	}
	_, why := a.why()
	if a.RawName != "" {
		_, why = a.refusal()
	}
	return sentence.Paragraph(why, a.counsel(), a.written(), a.notDone(), a.candidates())
}

// candidates asks which of the similar names is meant. It returns "" if there are none.
func (a account) candidates() string {
	var names []string
	for _, p := range a.Problems {
		if p.Reason == arguments.ReasonCandidate {
			name := ""
			_ = json.Unmarshal(p.Got, &name) // a long name is an object here, and becomes an empty label
			names = append(names, sentence.Label(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return whichIsMeant(sentence.List(names))
}
