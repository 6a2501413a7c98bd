package gateway

// Results counts the calls of a run, and the calls without a result. A repeated call counts once. It has a result if
// one of its attempts had one. The zero value is that of a run without calls.
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

// Answered returns the result member answered. It is "" if every call returned a result, or no call was made.
func (r Results) Answered() string {
	switch {
	case r.Missing == 0:
		return ""
	case r.Missing == r.Calls:
		return AnsweredNo
	}
	return AnsweredPartly
}

// AnsweredWords returns a value of answered in words, without a full stop; "" for "".
func AnsweredWords(answered string) string {
	switch answered {
	case AnsweredNo:
		return noResults
	case AnsweredPartly:
		return fewResults
	}
	return ""
}

// ResultsOf counts the calls of a ledger. It leaves out calls that a dry run assumes.
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

// HasResult reports whether the call returned a result. The tool must have answered as its schema allows, without an
// error, and with more than a warning.
func (e Entry) HasResult() bool {
	if e.Status != Finished || e.Unfit {
		return false
	}
	_, failed := Reported(e.Observation)
	return !failed && !onlyWarns(e.Observation)
}

// onlyWarns reports whether an observation holds only a warning. If the observation has an object result, it checks
// that object.
func onlyWarns(observation any) bool {
	obj, _ := observation.(map[string]any)
	if inner, ok := obj["result"].(map[string]any); ok {
		obj = inner
	}
	return len(obj) == 1 && obj["warning"] != nil
}
