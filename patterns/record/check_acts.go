package record

import (
	"encoding/json"
	"fmt"

	"patterngate/gateway"
	"patterngate/patterns"
)

// acts are acts of people on a run that do not answer a question: they settled a doubt, or took the run from its owner.
type acts struct {
	nonces  map[string]bool
	settled map[string]bool // by effect in doubt: the signed statement whether it happened
}

// signedActs maps words of notes to the acts that need a signature if an approver key is enrolled.
var signedActs = map[string]string{"settle": gateway.ActSettle, "seize": gateway.ActSeize}

// note checks an act on the run from outside.
func (c *checker) note(e patterns.Event, b patterns.NoteBody) (reason string) {
	act, needsKey := signedActs[b.What]
	switch {
	case !needsKey:
		return ""
	case len(b.Act) == 0 && b.Signature == "":
		return c.unsigned(momentOf(e))
	}
	signed := gateway.SignedAct{Signature: b.Signature}
	var err error
	if signed.Act, err = gateway.ReadAct(b.Act); err != nil {
		if c.hidden(e) {
			return ""
		}
		return noAct + err.Error()
	}
	if reason := c.knows(signed.Key, signed.At); reason != "" {
		return reason
	}
	switch c.ring.Check(signed, momentOf(e)) {
	case nil:
	case gateway.ErrStaleAct:
		return staleAct
	default:
		if c.hidden(e) {
			return ""
		}
		return fmt.Sprintf(wrongActSign, signed.Key)
	}
	if reason := c.acts.take(c.evidence.RunID, act, signed.Act, b.Effect); reason != "" {
		return reason
	}
	c.signed(signed.Key)
	return ""
}

// take checks a signed act and records that it was used.
func (s *acts) take(run, want string, act gateway.Act, about string) string {
	effect, _ := act.Subject["effect"].(string)
	switch {
	case act.Act != want:
		return fmt.Sprintf(otherAct, act.Act)
	case act.Subject["run"] != run:
		return otherRunsAct
	case about != "" && effect != about:
		return otherEffectsAct
	case s.nonces[act.Nonce]:
		return actUsed
	}
	if s.nonces == nil {
		s.nonces, s.settled = map[string]bool{}, map[string]bool{}
	}
	s.nonces[act.Nonce] = true
	if happened, ok := act.Subject["happened"].(bool); ok && effect != "" {
		s.settled[effect] = happened
	}
	return ""
}

// settledBy compares what the run received about a call in doubt with the signed statement, if there is one.
func (s *acts) settledBy(effect string, output json.RawMessage) string {
	var out struct {
		Happened *bool `json:"happened"`
	}
	readKnown(output, &out)
	if signed, ok := s.settled[effect]; ok && (out.Happened == nil || *out.Happened != signed) {
		return fmt.Sprintf(otherSettlement, effect)
	}
	return ""
}
