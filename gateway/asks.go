package gateway

// Asks says whether a person may be asked before a tool is called.
type Asks string

// What can be said beforehand of a tool's calls.
const (
	AsksNever  Asks = "never"  // no call of it is put to a person
	AsksMaybe  Asks = "maybe"  // that depends on the arguments and on what was done before
	AsksAlways Asks = "always" // none is made without a person
)

// Foreteller is a [Reviewer] that can say beforehand which calls it puts to a person.
type Foreteller interface {
	Reviewer
	// Asks says what holds for every call of the tool, whatever its arguments: after [AsksNever] Review does not escalate
	// one, after [AsksAlways] it does not approve one.
	Asks(tool string) Asks
}

// AsksBefore says whether a policy may put calls of a tool to a person. Without a policy nobody is asked; one that cannot
// tell may ask.
func AsksBefore(policy Reviewer, tool string) Asks {
	if policy == nil {
		return AsksNever
	}
	if f, ok := policy.(Foreteller); ok {
		return f.Asks(tool)
	}
	return AsksMaybe
}
