package decisions

import (
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// given is the answer as the row has it; nil where it is none.
func (a asked) given(q patterns.Asked, keys gateway.Ring) *patterns.Given {
	answer, err := gateway.ReadAnswer(a.Answer)
	if err != nil {
		return nil
	}
	g := &patterns.Given{Answer: answer, Signature: a.Signature, Channel: channelOf(a.Channel), Assurance: gateway.NoAssurance}
	if len(a.Args) > 0 {
		g.Args, _ = decodeArgs(a.Args)
	}
	grant := gateway.Grant{Approval: q.ID, Asked: q.Question, Answer: answer, Signature: a.Signature, Ring: keys}
	if sure, reason := grant.Heard(answer.At); reason == "" { // as it counted then
		g.Assurance = sure
	}
	return g
}

// channelOf is how an answer came, of what stands in the file; "none" for what nobody comes through.
func channelOf(text string) string {
	if text == "cli" || text == "page" {
		return text
	}
	return "none"
}

// recorded is the answer as the record has it by now: when the row has let go of it, of the arguments of an edit when it was
// taken, of all when a run ended that had redacted values. nil where there is none.
func (a Approvals) recorded(s store.Reader, n int64, key string) *patterns.Given {
	events, err := s.Events(n)
	if err != nil {
		return nil
	}
	if events, _, _, err = a.Host.Rules().Reveal(s, n, events); err != nil {
		return nil
	}
	for _, e := range events {
		if e.Kind == patterns.OutcomeEvent && e.Key == key {
			return recordedIn(e)
		}
	}
	return nil
}

// recordedIn is the answer that an outcome holds. A comment that is redacted is left out; what was signed of it then cannot
// be checked here, so the assurance is the one with which it was taken.
func recordedIn(e patterns.Event) *patterns.Given {
	v, err := journal.DecodeTrusted(e.Body)
	body, _ := v.(map[string]any)
	decision, _ := body["decision"].(map[string]any)
	if err != nil || decision == nil {
		return nil
	}
	word := func(of map[string]any, name string) string { s, _ := of[name].(string); return s }
	decision["comment"] = word(decision, "comment")
	answer, err := gateway.ReadAnswer(ijson.Canonical(decision))
	if err != nil {
		return nil
	}
	g := &patterns.Given{Answer: answer, Signature: word(body, "signature"), Channel: channelOf(word(body, "channel")), Assurance: gateway.NoAssurance}
	if sure := gateway.Assurance(word(body, "assurance")); sure.AtLeast(gateway.UserAssurance) {
		g.Assurance = sure
	}
	output, _ := body["output"].(map[string]any)
	g.Args, _ = output["args"].(map[string]any)
	return g
}
