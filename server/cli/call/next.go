package call

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/cli/toolargs"
)

// nextStep is the member next of a result (spec/surface.md section 1).
type nextStep struct {
	Action    string          `json:"action"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Changed   []struct {
		Pointer string          `json:"pointer"`
		From    json.RawMessage `json:"from"`
		To      json.RawMessage `json:"to"`
	} `json:"changed"`
	Fill []string `json:"fill"`
	Say  string   `json:"say"`
	Wait float64  `json:"wait_seconds"`
}

// words returns the next step for a person at a shell: a sentence, what changed, what is missing, and the command line of
// the next call.
func (c *toolCall) words(e envelope) string {
	n := e.Next
	var b strings.Builder
	line := func(text string) { b.WriteString(printable.Text(text) + "\n") }
	b.WriteString(c.Paint(console.Bold, "next:") + " ")
	line(e.sentence())
	for _, change := range n.Changed {
		line("  changed " + changed(change.Pointer, change.From, change.To))
	}
	n, missing, refused := n.marked()
	if len(missing) > 0 {
		line("  fill in " + strings.Join(places(missing), ", "))
	}
	if len(refused) > 0 {
		line("  change " + strings.Join(e.wanted(refused), ", "))
	}
	switch {
	case !plainTool().MatchString(n.Tool): // no name, or one that looks like a flag
	case n.undecided(): // there is no call to print yet
	case n.Arguments == nil:
		line("  " + tooLongToShow)
	default:
		line("  " + c.commandLine(n))
	}
	return b.String()
}

// marked returns the step with a placeholder such as <order_id> for each argument that the reader must fill in or change, if its
// value is no list and no object: a command that is pasted must not send a refused value again. missing are the places without a
// value, and refused those with a value that was refused.
func (n nextStep) marked() (marked nextStep, missing, refused []string) {
	members, err := toolargs.Members(n.Arguments)
	if n.Action != "fix_and_retry" || err != nil {
		return n, n.Fill, nil
	}
	for _, place := range n.Fill {
		value, there := mark(members, ijson.Pointer(place))
		switch text := string(ijson.Canonical(value)); {
		case !there || text == `""` || text == "null" || text == "[]" || text == "{}":
			missing = append(missing, place)
		default:
			refused = append(refused, place)
		}
	}
	n.Arguments = toolargs.JoinMembers(members)
	return n, missing, refused
}

// mark writes a placeholder at a place of the arguments, unless a list or an object is there. It returns the value that was there.
func mark(members []toolargs.Member, place ijson.Pointer) (was any, there bool) {
	tokens := place.Tokens()
	if len(tokens) == 0 {
		return nil, false
	}
	i := slices.IndexFunc(members, func(m toolargs.Member) bool { return nameOf(m) == tokens[0] })
	if i < 0 {
		return nil, false
	}
	var value any
	inside := ijson.Pointer("")
	for _, token := range tokens[1:] {
		inside = inside.Member(token)
	}
	if json.Unmarshal(members[i].Value, &value) != nil {
		return nil, false
	}
	if was, there = inside.In(value); !there {
		return nil, false
	}
	switch was.(type) {
	case map[string]any, []any:
		return was, true
	}
	if inside == "" {
		value = placeholder(tokens)
	} else if marked, ok := ijson.Set(value, inside, placeholder(tokens)); ok {
		value = marked
	}
	members[i].Value = ijson.Canonical(value)
	return was, true
}

// placeholder returns the placeholder of a place. An item of a list has the name of its list.
func placeholder(tokens []string) string {
	name := tokens[0]
	for _, token := range tokens {
		if _, err := strconv.Atoi(token); err != nil {
			name = token
		}
	}
	return "<" + name + ">"
}

// nameOf returns the name of a member.
func nameOf(m toolargs.Member) string {
	var name string
	_ = json.Unmarshal(m.Name, &name) // the names of members that were read are texts
	return name
}

// undecided reports whether the reader must decide something before there is a call to make.
func (n nextStep) undecided() bool {
	return n.Action == "fix_and_retry" && n.Arguments == nil && n.Changed == nil && n.Fill == nil
}

// places returns pointers as people read them. The empty pointer is the whole value.
func places(pointers []string) []string {
	named := slices.Clone(pointers)
	for i, p := range named {
		if p == "" {
			named[i] = "the arguments"
		}
	}
	return named
}

// wanted returns places with what the server wants there.
func (e envelope) wanted(pointers []string) []string {
	named := places(pointers)
	for i, at := range pointers {
		for _, p := range e.Problems {
			if p.Pointer == at && p.Want != "" {
				named[i] += ": " + console.Cut(p.Want, maxChange)
				break
			}
		}
	}
	return named
}

// sentence returns what to do next.
func (e envelope) sentence() string {
	n := e.Next
	say := func(otherwise string) string {
		if n.Say != "" {
			return n.Say
		}
		return otherwise
	}
	switch n.Action {
	case "done":
		return "Nothing to do."
	case "answer_user":
		switch {
		case e.Status != "ok":
			return say(onlyFinalMissing)
		case e.Answered:
			return say(answerIsBelow)
		}
		return say(resultsAreBelow)
	case "fix_and_retry":
		if len(n.Changed) == 0 && len(n.Fill) == 0 {
			return say(fixByProblems)
		}
		return say(fixThese)
	case "call":
		if n.Say != "" && e.unconnected() {
			return after(n.Wait) + orConnect(n.Say)
		}
		return after(n.Wait) + say("Make this call:")
	case "tell_user":
		return tellPerson(n.Say, n.Tool != "")
	case "end_turn":
		return stopHere(prefixed(" ", n.Say))
	}
	return n.Action + prefixed(": ", n.Say)
}

// unconnected reports whether the run stopped because its model could not be asked. A model that was asked and gave no answer is another
// case: the connection works.
func (e envelope) unconnected() bool {
	return slices.Contains([]string{"llm_unreachable", "llm_timeout", "llm_error:auth", "llm_error:bad_request"}, e.StopReason)
}

func prefixed(by, text string) string {
	if text == "" {
		return ""
	}
	return by + text
}

// after returns how long to wait, or "" for no wait.
func after(seconds float64) string {
	if seconds <= 0 {
		return ""
	}
	return "Wait " + strconv.FormatFloat(seconds, 'f', -1, 64) + " s. "
}

// maxChange is the maximum length of a value in a line about a change in bytes.
const maxChange = 120

// changed returns the line about one change.
func changed(pointer string, from, to json.RawMessage) string {
	before, now := console.Cut(string(from), maxChange), console.Cut(string(to), maxChange)
	switch {
	case from == nil:
		return fmt.Sprintf("%s: added, %s", pointer, now)
	case to == nil:
		return fmt.Sprintf("%s: removed, was %s", pointer, before)
	}
	return fmt.Sprintf("%s: %s, was %s", pointer, now, before)
}

// plainTool matches tool names that are safe in a command line.
var plainTool = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_./-]{0,127}$`) })

// commandLine returns the command line of the next call, to the same server. The arguments from the server are one quoted
// word.
func (c *toolCall) commandLine(n nextStep) string {
	words := []string{"patterngate", "call", n.Tool, "--args", string(n.Arguments)}
	for _, flag := range []struct{ name, value string }{{"--config", *c.Config}, {"--state", *c.State}, {"--url", c.url}, {"--command", c.command}} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	for i, w := range words {
		words[i] = console.ShellWord(runtime.GOOS, w)
	}
	return strings.Join(words, " ")
}
