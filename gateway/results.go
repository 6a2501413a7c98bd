package gateway

// Results counts the calls of a run, and the calls that returned no result. A call that was repeated counts once, and counts as
// one with a result when one of its attempts had one. The zero value is of a run without calls.
type Results struct {
	Calls   int
	Missing int      // calls without a result
	Without []string // their tools, in the order of the calls, each once
}

// The values of the result member answered.
const (
	AnsweredNo     = "no"     // no call of the run returned a result
	AnsweredPartly = "partly" // some calls returned none
)

// Answered is the result member answered; "" where every call returned a result, or none was made.
func (r Results) Answered() string {
	switch {
	case r.Missing == 0:
		return ""
	case r.Missing == r.Calls:
		return AnsweredNo
	}
	return AnsweredPartly
}

// AnsweredWords says a value of answered in words, without a full stop; "" for "".
func AnsweredWords(answered string) string {
	switch answered {
	case AnsweredNo:
		return "no call returned a result"
	case AnsweredPartly:
		return "some calls returned no result"
	}
	return ""
}

// ResultsOf counts the calls of a ledger. Calls that a dry run assumes are left out.
func ResultsOf(ledger []Entry) Results {
	type call struct{ tool, hash string }
	with, counted, named := map[call]bool{}, map[call]bool{}, map[string]bool{}
	for _, e := range ledger {
		c := call{e.Tool, e.Hash}
		with[c] = with[c] || e.HasResult()
	}
	var r Results
	for _, e := range ledger {
		c := call{e.Tool, e.Hash}
		if counted[c] || e.Assumed {
			continue
		}
		counted[c] = true
		r.Calls++
		if with[c] {
			continue
		}
		if r.Missing++; !named[e.Tool] {
			named[e.Tool] = true
			r.Without = append(r.Without, e.Tool)
		}
	}
	return r
}

// HasResult reports whether the call returned a result: it was answered as its schema allows, the answer carries no error, and
// its result is more than a warning.
func (e Entry) HasResult() bool {
	if e.Status != Finished || e.Unfit {
		return false
	}
	_, failed := Reported(e.Observation)
	return !failed && !onlyWarns(e.Observation)
}

// onlyWarns reports whether the member result of an observation, or else the observation, holds a warning and nothing besides.
func onlyWarns(observation any) bool {
	obj, _ := observation.(map[string]any)
	if inner, ok := obj["result"].(map[string]any); ok {
		obj = inner
	}
	return len(obj) == 1 && obj["warning"] != nil
}
