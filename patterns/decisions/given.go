package decisions

import (
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// given returns the answer that the row holds; nil: none.
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
	if sure, reason := grant.Heard(answer.At); reason == "" { // by the keys that counted at that time
		g.Assurance = sure
	}
	return g
}

// channelOf returns the channel of an answer from the text in the file: "cli" or "page". It returns "none" for any other text.
func channelOf(text string) string {
	if text == "cli" || text == "page" {
		return text
	}
	return "none"
}

// recorded returns the answer from the record; nil: none. The row drops the arguments of an edit after the run took it up. It drops the
// whole answer after the end of a run with redacted values.
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

// recordedIn returns the answer that an outcome holds; nil: none. It leaves out a redacted comment. The signature cannot be checked without
// it, so the assurance is the recorded one.
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
