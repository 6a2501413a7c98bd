package assembly

import (
	"fmt"
	"strings"
)

// This file has the texts of the package that people read: why a tool is held, and what is wrong with a configuration as a whole.

// Tools of kind planning and of kind call.

func planToolDescription(description, plan, verb string) string {
	return fmt.Sprintf("%s Makes and stores a plan; then call %s_%s.", description, plan, verb)
}

const (
	verbDecompose = "make a plan"
	verbExecute   = "carry out a plan"
	verbReplan    = "plan the remaining work again"
)

// noTransport is the reason why a server that the file disables cannot be started.
const noTransport = "neither stdio nor http"

// A reply from which an output cannot be made: the key of the output, then its member and what is wrong.

const outputFault = "%s.%w"

// Why a tool is held.

const (
	unsignedAcceptance = "no approver key signed its acceptance"
)

func keyEnrolled(why string) string {
	return fmt.Sprintf("%s, and an approver key is enrolled", why)
}

const (
	notAccepted     = "the server's declaration is not accepted"
	notAcceptedTool = "it is not accepted"
	acceptedLater   = "this run began before the tool was accepted; start a new run"
	noLineHere      = "the lock has no valid line for this form of the tool"
	noLine          = "no line in the lock"
)

// acceptFirst has the tool as a word of a shell, as the next ones do.
func acceptFirst(why, word string) string {
	return fmt.Sprintf("%s; run patterngate catalog accept %s", why, word)
}

const (
	heldUnaccepted = "held: not accepted yet"
)

func wantAccept(word string) string { return "run patterngate catalog accept " + word }

func notListed(tool string) string {
	return fmt.Sprintf("not listed: %s is not accepted yet", tool)
}

const (
	wantLock     = "let patterngate catalog accept write it"
	wantReadable = "a readable file"
	notATool     = "%s is not a tool"
)

func badLockedInput(why any) string {
	return fmt.Sprintf("the input schema in the lock is not a JSON schema: %v", why)
}

func badLockedOutput(why any) string {
	return fmt.Sprintf("the output schema in the lock is not a JSON schema: %v", why)
}

const (
	wantServerFixed = "remove the tool, or have its server fixed"
	notFitting      = "does not fit the tool's schema"
)

func changedDeclaration(word string) string {
	return "the server's declaration differs from the accepted one; run patterngate catalog accept " + word
}

const (
	declarationNotText = "name, title or description is not text"
)

func noSuchTool(server, tool string) string {
	return fmt.Sprintf("server %s has no tool %s", server, tool)
}

func breakerOpen(server string) string {
	return fmt.Sprintf("server %s failed several times, so Patterngate waits a moment before it calls it again", server)
}

func noAnswer(server string) string {
	return fmt.Sprintf("server %s does not answer; the person sees why with: patterngate doctor", server)
}

// Phrases and what is shown of tools.

func noPhrase(tool string) string {
	return fmt.Sprintf("a rule can ask a person about a call of %s, and it has no phrase", tool)
}

const (
	wantPhrase   = "write phrase: TEXT, for example \"booking room {room} for {nights} nights\""
	strayBrace   = "a { that does not begin {argument}"
	wantArgument = "write {argument}"
)

func freeText(place string) string {
	return fmt.Sprintf("%s is free text", place)
}

const (
	wantBoundArguments = "write only arguments that are numbers, booleans or enums or have a pattern"
)

// What a changed configuration permits more.

const (
	nowOn          = "switched on"
	limitRemoved   = "no limit any more; it was %s"
	limitRaised    = "raised from %s to %s"
	listRemoved    = "no list any more"
	itemAdded      = "%s added"
	itemRemoved    = "%s removed"
	weakened       = "weakened from %s to %s"
	callsOther     = "%s calls another tool"
	rerouteChanged = "reroute of %s changed"
	limitLowered   = "lowered from %s to %s"
	ruleRemoved    = "%s rule removed"
	ruleAdded      = "%s rule added"
	ruleChanged    = "%s rule changed"
)

// Patterns.

const (
	schemaTooLarge = "too large"
)

func schemaBytes(n int) string {
	return fmt.Sprintf("%d bytes of schema", n)
}

func wantAtMost(most string) string {
	return fmt.Sprintf("write at most %s", most)
}

func isKindArgument(name, kind string) string {
	return fmt.Sprintf("%s is an argument of kind %s", name, kind)
}

const (
	wantOtherName = "write another name"
	notName       = "not a name"
)

func isGoalArgument(name string) string {
	return fmt.Sprintf("%s is the argument with the goal", name)
}

const (
	wantOtherNames = "write another name, or another goal_argument"
)

func isPartOf(name, pattern string) string {
	return fmt.Sprintf("%s is part of %s", name, pattern)
}

const (
	wantRemoved = "remove it"
)

func overListed(noun, tool string, has int, unit string, most int) string {
	return fmt.Sprintf("%s of %s has %d %s, and clients take at most %d", noun, tool, has, unit, most)
}

const (
	theInputSchema    = "the input schema"
	wantLessInput     = "remove some of input"
	wantShorterInput  = "shorten descriptions in input, or name fewer tools"
	theOutputSchema   = "the output schema"
	wantShorterAnswer = "shorten answer"
)

func atLine(line int, where string) string {
	return fmt.Sprintf("line %d: %s", line, where)
}

// Policies.

func testNotRun(why string) string {
	return fmt.Sprintf("cannot be run: %s", why)
}

const (
	testFails      = "it fails"
	wantRuleOrTest = "change the rule or the test"
)

func doesNotFit(param, why string) string {
	return fmt.Sprintf("%s does not fit: %s", param, why)
}

const (
	policyParam       = "policies.%s.%s: %s"
	policyNotCompiled = "policies.%s does not compile"
)

// Secrets and files.

const (
	noReference      = "there is no reference to a secret"
	secretEmpty      = "secret %s: there is nothing there"
	secretTooLarge   = "secret %s: more than %d bytes"
	secretNUL        = "secret %s: contains a NUL character"
	notRegularFile   = "not a regular file"
	readableByOthers = "other users can read it (mode %04o); run chmod 600 on it"
	printedTooMuch   = "it printed more than %d bytes"
	tookTooLong      = "it took longer than %v"
	tooMuch          = "too much"
	wantCertificates = "name a readable file with certificates"
	noCertificate    = "there is no certificate in it"
	cannotBeRead     = "cannot be read: %w"
	wrongSnapshot    = "not the snapshot of this hash"
	keyElsewhere     = "the key is referenced in another place than ours"
	roleKeyElsewhere = "the key of a role is referenced in another place than ours"
)

// A service that refuses the credentials of an HTTP tool, in the log.

const (
	refusedCredentials = "service refused the credentials"
	fixCredentials     = "check the secret in request.headers or request.query of the tool, and whether it is still valid"
)

// Hints.

// relativeArguments has one path or more, and the directory in which the program starts; "" is where Patterngate starts.
func relativeArguments(paths []string, dir string) string {
	what := paths[0] + " is a relative path"
	if len(paths) > 1 {
		what = strings.Join(paths, ", ") + " are relative paths"
	}
	if dir != "" {
		return fmt.Sprintf("%s, and the program starts in %s", what, dir)
	}
	return what + ", and a client starts Patterngate in another directory"
}

func wantWholePaths(paths []string) string { return "write " + strings.Join(paths, ", ") }

// notSetHere has the names of one variable or more.
func notSetHere(names []string) string {
	if len(names) == 1 {
		return names[0] + " is not set here, so the server does not get it"
	}
	return strings.Join(names, ", ") + " are not set here, so the server does not get them"
}

const (
	wantVariables = "set what it needs where Patterngate starts, for example in the client's file"
	toolless      = "the file names no tool of it, so nothing can call it"
)

func wantTools(server string) string {
	return "run patterngate catalog accept " + server + " to see what it offers"
}

// unsettled has the names of one tool or more.
func unsettled(names []string) string {
	const shown = 5
	list := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "after a crash during a write, the outcome is unknown and a person must settle it: " + list
}

const wantSettled = "add idempotent, once or reconcile"
