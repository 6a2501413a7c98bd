package record

import (
	"cmp"
	"encoding/json"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// settlement is the name of the question whether a call in doubt happened. Other questions ask whether a call may be made.
const settlement = "settle"

// Duplicate is the state of a call whose business key an earlier call had. Its outcome is that of the earlier call.
const Duplicate patterns.State = "duplicate"

// phaseOf returns the phase of an effect, derived from its kind. It is used if the record does not name the phase.
func phaseOf(kind string, b patterns.IntentBody) string {
	pattern := gateway.Kind(kind)
	switch {
	case pattern == gateway.Planning:
		return planningPhase(b)
	case b.EffectKind == patterns.ModelEffect && b.Name == string(patterns.AskAnswer):
		return patterns.PhaseFinalize
	case b.EffectKind == patterns.ModelEffect, b.EffectKind == patterns.CallerEffect:
		return map[gateway.Kind]string{
			gateway.TaskDecomposition: patterns.PhasePlan, gateway.Orchestrator: patterns.PhasePlan,
			gateway.Routing: patterns.PhaseRoute, gateway.Supervisor: patterns.PhaseWorker,
		}[pattern]
	case b.EffectKind == patterns.HumanEffect && b.Name != settlement:
		return patterns.PhaseHuman
	case b.EffectKind == patterns.HumanEffect, b.EffectKind == patterns.ToolEffect:
		return map[gateway.Kind]string{
			gateway.TaskDecomposition: patterns.PhaseExecute, gateway.Orchestrator: patterns.PhaseDispatch,
			gateway.Routing: patterns.PhaseDelegate, gateway.Supervisor: patterns.PhaseExecution,
			gateway.Call: patterns.PhaseCall,
		}[pattern]
	}
	return ""
}

// nameOf returns the effect's own name in its key: "payments_worker" of "task#2/payments_worker#1".
func nameOf(key string) string {
	name := key[strings.LastIndexByte(key, '/')+1:]
	name, _, _ = strings.Cut(name, "#")
	return name
}

// argsHash returns the hash of recorded arguments; "" if they are not an object or have redacted values. The result has the hash of
// the arguments that were sent.
func argsHash(input json.RawMessage) string {
	var args map[string]any
	if ijson.DecodeKnown(input, &args) != nil || args == nil || strings.Contains(string(input), `{"$redacted":`) {
		return ""
	}
	return ijson.ArgsHash(args)
}

// About returns what a person was asked about: the tool, and for a settlement the key of the call in doubt.
func (r Row) About() (tool, effect string) {
	if r.Kind != string(patterns.HumanEffect) {
		return "", ""
	}
	var q struct {
		Action json.RawMessage `json:"action"`
		Tool   string          `json:"tool"`
		Effect string          `json:"effect"`
	}
	_ = ijson.DecodeKnown(r.input, &q) // another form: nothing is known
	return cmp.Or(q.Tool, proposed(q.Action)), q.Effect
}

// proposed returns the name of what a proposal calls; "" if it has none.
func proposed(proposal json.RawMessage) string {
	var p struct {
		Name   any `json:"name"`
		Tool   any `json:"tool"`
		Worker any `json:"worker"`
		Target any `json:"target"`
	}
	if ijson.DecodeKnown(proposal, &p) != nil {
		return ""
	}
	for _, v := range []any{p.Name, p.Tool, p.Worker, p.Target} {
		if name, ok := v.(string); ok && name != "" {
			return name
		}
	}
	return ""
}

// ruleOf returns the rule by which a person is asked about a call.
func ruleOf(b patterns.IntentBody) string {
	if b.Rule != "" {
		return b.Rule
	}
	var asked struct {
		Rule string `json:"rule"`
	}
	_ = ijson.DecodeKnown(b.Input, &asked) // the question may have no rule
	return asked.Rule
}

// decided fills the row with a person's decision. The decision is in the outcome's own members, or in its output.
func (r *Row) decided(b patterns.OutcomeBody) {
	var said struct {
		Approved  *bool           `json:"approved"`
		Happened  *bool           `json:"happened"`
		Args      json.RawMessage `json:"args"`
		Decision  string          `json:"decision"`
		Comment   string          `json:"comment"`
		By        string          `json:"by"`
		Channel   string          `json:"channel"`
		Assurance string          `json:"assurance"`
		Key       string          `json:"key"`
		Approval  string          `json:"approval"`
		At        string          `json:"at"`
		Compared  *bool           `json:"compared"`
	}
	for _, text := range []json.RawMessage{b.Output, b.Decision} {
		if plain := patterns.RedactedAsText(text); plain != nil {
			text = plain
		}
		_ = ijson.DecodeKnown(text, &said) // members of another type are not shown
	}
	var word string
	if ijson.DecodeKnown(b.Decision, &word) == nil {
		said.Decision = word
	}
	switch {
	case said.Decision != "":
	case said.Approved != nil:
		said.Decision = map[bool]string{true: "approve", false: "reject"}[*said.Approved]
	case said.Happened != nil:
		said.Decision = map[bool]string{true: "happened", false: "did_not_happen"}[*said.Happened]
	}
	r.Decision, r.Comment = said.Decision, said.Comment
	r.By, r.Channel, r.Sure = cmp.Or(b.By, said.By), cmp.Or(b.Channel, said.Channel), cmp.Or(b.Assurance, said.Assurance)
	r.Approval, r.KeyID, r.DecidedAt, r.Compared = said.Approval, said.Key, said.At, said.Compared
	if said.Decision == "edit" {
		r.Edits = editsOf(r.args, said.Args)
	}
}

// DecisionWord returns a decision of the policy or of a person in words for use in a sentence; "" for an unknown decision.
func DecisionWord(decision string) string {
	switch decision {
	case "approve":
		return wordApproved
	case "revise":
		return wordChanged
	case "escalate":
		return wordEscalated
	case "block":
		return wordBlocked
	case "refused":
		return wordRefused
	case "reject":
		return wordRejected
	case "edit":
		return wordEdited
	case "happened":
		return wordHappened
	case "did_not_happen":
		return wordNotHappened
	}
	return ""
}

// NoteWord returns an act on a run from outside in words for use in a sentence; "" for an unknown act.
func NoteWord(what string) string {
	switch what {
	case "cancel":
		return noteCanceled
	case "seize":
		return noteSeized
	case "takeover":
		return noteTaken
	case "detach":
		return noteLeft
	case "settle":
		return noteSettled
	case "rest":
		return noteRests
	case "wake":
		return noteWakes
	case "reload":
		return noteReloaded
	}
	return ""
}

// ByItself reports whether Patterngate did what a note says without a person or a channel.
func (r Row) ByItself() bool { return r.Channel == "engine" }

// ComparedWords returns ", digest not compared" if compared is false, and "" otherwise. It follows the assurance in a sentence.
func ComparedWords(compared *bool) string {
	if compared == nil || *compared {
		return ""
	}
	return wordNotCompared
}
