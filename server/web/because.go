package web

import (
	"net/url"

	"patterngate/gateway/stopreason"
	"patterngate/patterns/record"
)

// valuesOf are the values that made a rule true, for a page: a model may have written what they hold. more says how many are not
// shown; "": none.
func valuesOf(list []record.Value, left int) (shown []argument, more string) {
	for _, v := range list {
		shown = append(shown, argument{Name: visible(v.Expression), Value: visible(v.Text)})
	}
	if left > 0 {
		more = "And " + count(left, "more value") + ". They are in the export of the run."
	}
	return shown, more
}

// because are what a row of a timeline says of its rule besides its name.
func (s *step) because(b record.Because) {
	if b.Said != "" {
		s.Facts = append(s.Facts, "The rule says: "+clip(b.Said, maxSaid))
	}
	if words := passWords(b.Passes); words != "" {
		s.Facts = append(s.Facts, capital(words))
	}
	if b.Earlier {
		s.Facts = append(s.Facts, "Earlier runs were looked at")
	}
	s.Values, s.MoreValues = valuesOf(b.Read())
}

// maxSaid is how much of what a rule says stands on a page, in characters.
const maxSaid = 300

// passWords say how often the policy judged; "" where that was once.
func passWords(passes int) string {
	if passes < 2 {
		return ""
	}
	return "judged " + grouped(passes) + " times until nothing changed"
}

// byRulePath is the inbox with what one rule asks for; "" for what is no rule's name.
func byRulePath(rule string) string {
	if !stopreason.IsReason(rule) {
		return ""
	}
	return "/?" + url.Values{"rule": {rule}}.Encode()
}
