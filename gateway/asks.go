package gateway

// Asks says whether a call of a tool may need a person.
type Asks string

// The values of Asks, which are known before a call is proposed.
const (
	AsksNever  Asks = "never"  // no call of the tool needs a person
	AsksMaybe  Asks = "maybe"  // it depends on the arguments and on earlier calls
	AsksAlways Asks = "always" // every call that is not blocked needs a person
)

// Foreteller is a [Reviewer] that knows before a call whether it may ask a person.
type Foreteller interface {
	Reviewer
	// Asks returns what holds for every call of the tool, for any arguments. With [AsksNever], Review never escalates a
	// call. With [AsksAlways], Review never approves one.
	Asks(tool string) Asks
}

// AsksBefore reports whether a policy may ask a person about calls of a tool. Without a policy the result is
// [AsksNever]. For a policy that is no [Foreteller] it is [AsksMaybe].
func AsksBefore(policy Reviewer, tool string) Asks {
	if policy == nil {
		return AsksNever
	}
	if f, ok := policy.(Foreteller); ok {
		return f.Asks(tool)
	}
	return AsksMaybe
}
