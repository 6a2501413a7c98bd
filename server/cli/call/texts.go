package call

import (
	"fmt"
	"time"
)

// The texts of the command "call".

func calling(tool string) string { return "calling " + tool }

func becauseOf(cause string) string { return "cause: " + cause }

// Tools that the server does not list.

func notExposed(tool string) string {
	return tool + " is in the configuration, but not in catalog.expose"
}

func addToExpose(place string) string { return "add it to catalog.expose in " + place }

func notOffered(tool string) string {
	return tool + " is in the configuration, but offer leaves it out"
}

func addToOffer(place string) string { return "add it to offer in " + place }

func demoIsOff(tool string) string { return tool + " is part of the demo, which is off" }

func turnDemoOn(file string) string {
	return "demo: {enabled: true} in " + file + " (a file with its own catalog or patterns turns the demo off)"
}

// misspelt names the argument that a person meant.
func misspelt(name, near string) string {
	return fmt.Sprintf("%s is not an argument of this tool; did you mean %s?", name, near)
}

func isHeld(tool, cause string) string { return tool + " is held: " + cause }

// acceptIt has the pin as a word of a shell, and the flags that name the configuration.
func acceptIt(pin, given string) string { return "patterngate catalog accept " + pin + given }

// toolsOfEmbedded is what to try if a tool is not in the embedded configuration.
const toolsOfEmbedded = "patterngate tools, or --config FILE: no file was found, so this is the embedded configuration"

const noTools = "the server has none"

// What to do next, after a result.

const (
	onlyFinalMissing = "Nothing to call. The tool results are complete. Only the final text is missing."
	answerIsBelow    = "Done. The answer is below, not checked. The tool results follow it."
	resultsAreBelow  = "Done. The tool results are below."
	fixByProblems    = "Fix the arguments as the problems say, and call again:"
	fixThese         = "Fix these arguments and call again:"
	tooLongToShow    = "(the arguments are too long to show; change your own)"
)

// tellPerson is a text for the person. A command line follows if there is a next call.
func tellPerson(say string, next bool) string {
	if next {
		return "Tell the person: " + say + " Then:"
	}
	return "Tell the person: " + say
}

func stopHere(say string) string { return "Stop here." + say + " When the person writes again:" }

// orConnect is the advice of a model whose connection failed. What to do without the model follows it.
func orConnect(say string) string {
	return "Fix the connection to the model (llm in the configuration), or: " + say
}

// Results that need a remark.

func notSaidDry(tool string) string {
	return "call " + tool + ": the server does not say that this was a dry run"
}

func saidError(tool string) string { return "call " + tool + ": the tool says that this is an error" }

// demoDataOnly says for which arguments the demo has data.
func demoDataOnly(sample string) string { return "the demo has data only for " + sample }

const noDryRun = "this tool has no dry run; nothing was sent"

const notKept = "the run ended with this process, because --state :memory: keeps nothing. " +
	"Use a state file, or call a server: patterngate serve --http, then call --url"

func isRecorded(waitTool, run string) string {
	return "the run is recorded; a server with the same state file continues it, or: patterngate call " + waitTool + " run_id=" + run
}

// joinedEarlier says that a call joined a run of another configuration.
func joinedEarlier(run string, goesOn bool) string {
	joined := "this call joined " + run + ", which began under an earlier configuration"
	if goesOn {
		return joined + "; to start a new run, cancel that one first: patterngate runs cancel " + run
	}
	return joined
}

// Calls that were interrupted, and servers that cannot be reached.

// goesOnLater is about a run whose server was in this process.
func goesOnLater(run string) string {
	return "interrupted; " + run + " is recorded: patterngate runs resume " + run + " continues it, and so does a server with the same " +
		"state file; patterngate runs cancel " + run + " ends it"
}

const interruptedInMemory = "interrupted; the run ended with this process, because --state :memory: keeps nothing"

func notCancelled(run string) string { return "interrupted; " + run + " was not cancelled" }

const toldToCancel = "interrupted; the server was told to cancel the call"

func noAnswerWithin(d time.Duration) string { return fmt.Sprintf("no answer within %v", d) }

func serverSilent(d time.Duration) string {
	return fmt.Sprintf("the server did not answer within %v", d)
}

func serversToken(variable string) string { return "the server's bearer token in " + variable }

func anotherToken(variable string) string { return "another token in " + variable }

const (
	checkAddress = "check the URL, and that the server runs there: patterngate serve --http"
	endpointPath = "a URL with the path of the MCP endpoint, mostly /mcp"
	noCommand    = "the line has no command"
)

func withEnv(assignment string) string { return "env " + assignment + " ...: no shell reads the line" }
