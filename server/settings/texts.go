package settings

import (
	"fmt"
	"strings"
)

// This file has the texts of the package that people read: what keys take, what is wrong with a value, and what would be right. The
// meanings of keys are in the tables of keys.

// What a key takes.

func mappingOfTools(keys string) string {
	return fmt.Sprintf("mapping of tools to %s", keys)
}

const (
	mappingOrTools = "mapping, or list of tools"
)

func eachHandTakes(first, others string) string {
	return fmt.Sprintf("each {%s or %s}", first, others)
}

const (
	mappingOfSchemas = "mapping of arguments to JSON schemas"
	originForm       = "an origin as browsers write it: https://app.example"
	hostForm         = "a name or address, with or without a port: gate.example"
)

func localAddressOr(off string) string {
	return fmt.Sprintf("host:port of this machine, or `%s`", off)
}

const (
	execForm = "`{exec: [program, argument]}`"
)

func mappingOfClients(words string) string {
	return fmt.Sprintf("mapping of clients' names to %s", words)
}

const (
	listOfNames      = "list of names"
	autoOrBool       = "auto, true or false"
	mappingOfNames   = "mapping of names"
	mappingOfValues  = "mapping of names to values"
	mappingOfMembers = "mapping of members to JSON schemas"
	shortText        = "text, at most 8 KiB"
)

func pathOr(memory string) string {
	return fmt.Sprintf("path or `%s`", memory)
}

// Meanings with a value in them.

func approverMeaning(memory string) string {
	return fmt.Sprintf("How a call or plan that needs a person is decided. inbox: the run waits for a person. simulated: the demo's simulated person decides. reject: the answer is always no. Not set: inbox; with `state: %s` reject.", memory)
}

func keyMeaning(variable string) string {
	return fmt.Sprintf("The key, as a reference to the place that holds it. It is sent only to the base_url beside it. Also `%s`.", variable)
}

func workersMeaning(each string) string {
	return fmt.Sprintf("Use this instead of tools to give workers their own names: %s, or a list of tools.", each)
}

func routesMeaning(each string) string {
	return fmt.Sprintf("Use this instead of tools to give routes their own names: %s, or a list of tools.", each)
}

// What is in force, for config show.

func inForce(value string) string {
	return fmt.Sprintf("in force: %s", value)
}

func keyInForce(masked, from string) string {
	return fmt.Sprintf("; api_key: %s from %s", masked, from)
}

func inForceOrCaller(figure string) string {
	return fmt.Sprintf("in force: %s, or what the call asks for", figure)
}

// Faults of several keys.

func hasOwnMeaning(name string) string {
	return fmt.Sprintf("%s is a reserved name", name)
}

func namedTwice(name string) string {
	return fmt.Sprintf("%s is listed twice", name)
}

const (
	wantOnce      = "remove one"
	wantOneOfBoth = "keep one"
	wantRemoved   = "remove it"
	tooLong       = "too long"
)

func wantAtMost(most string) string {
	return fmt.Sprintf("write at most %s", most)
}

const (
	notName   = "not a name"
	wantName  = "write a name: 1 to 64 letters, digits, _ and -"
	wantNames = "write a list of names, [] for none"
)

func wantListOf(name string) string {
	return fmt.Sprintf("write a list: [%s]", name)
}

const (
	isDirectory = "a directory"
	wantFile    = "write the path of a file"
)

func wantFileOrNone(by string) string {
	return fmt.Sprintf("write the path of a file, or remove %s", by)
}

const (
	relativePath      = "a relative path"
	wantAbsolutePath  = "write an absolute path"
	notAddress        = "not an address to listen on"
	wantOtherName     = "write another name"
	wantOtherToolName = "give the tool another name"
)

func wantOtherNameOf(noun string) string {
	return fmt.Sprintf("give the %s another name", noun)
}

const (
	toolOfServer = "also a tool of this server"
)

func isToolOfServer(name string) string {
	return fmt.Sprintf("%s is also a tool of this server", name)
}

func isTool(name string) string {
	return fmt.Sprintf("%s is also a tool", name)
}

func thereAre(names string) string {
	return fmt.Sprintf("there are %s", names)
}

const (
	thereAreNone = "there are none"
)

// Names of tools.

const (
	theDemo = "the demo"
)

func isToolOf(name, owner string) string {
	return fmt.Sprintf("%s is also a tool of %s", name, owner)
}

func alsoToolOf(owner string) string {
	return fmt.Sprintf("also a tool of %s", owner)
}

const (
	wantAs = "give one of them as: NAME"
)

func isPattern(name string) string {
	return fmt.Sprintf("%s is also a pattern", name)
}

const (
	wantOnePlace = "keep it here or in patterns"
)

func wantPattern(name string) string {
	return fmt.Sprintf("it is a pattern: write pattern: %s", name)
}

func wantTool(name string) string {
	return fmt.Sprintf("write tool: %s", name)
}

func hasEffect(tool, effect string) string {
	return fmt.Sprintf("%s has effect %s", tool, effect)
}

const (
	wantRead = "name a tool of effect read"
)

func hasNoArgument(tool, name string) string {
	return fmt.Sprintf("%s has no argument %s", tool, name)
}

func notAmongTools(name string) string {
	return fmt.Sprintf("%s is not in tools", name)
}

func wantInTools(pattern string) string {
	return fmt.Sprintf("write it in patterns.%s.tools too", pattern)
}

func wantInToolsAt(path string) string {
	return fmt.Sprintf("write it in %s too", path)
}

// Patterns.

const (
	unknownPattern = "unknown pattern"
)

func wantKind(kinds string) string {
	return fmt.Sprintf("write a mapping that begins with kind: %s", kinds)
}

func tooManyPatterns(most string) string {
	return fmt.Sprintf("more than %s patterns", most)
}

func overPlanSteps(most string) string {
	return fmt.Sprintf("more than max_plan_steps, %s", most)
}

const (
	wantPlanSteps = "raise max_plan_steps or lower it"
)

func toolsAnd(hands string) string {
	return fmt.Sprintf("both tools and %s", hands)
}

const (
	wantTools = "write the tools that it may call: [NAME]"
)

func wantHands(hands string) string {
	return fmt.Sprintf("write its %s: {NAME: {tool: TOOL}}, or a list of tools", hands)
}

const (
	nothingToCall = "it has nothing to call, so it is not listed"
	wantATool     = "name a tool"
)

func noPattern(name string) string {
	return fmt.Sprintf("no pattern %s", name)
}

func notEnabled(name string) string {
	return fmt.Sprintf("%s is not enabled", name)
}

func wantEnabled(noun string) string {
	return fmt.Sprintf("enable it, or remove the %s", noun)
}

func isPlanning(name string) string {
	return fmt.Sprintf("%s is of kind planning, which is four tools", name)
}

const (
	wantOtherKind = "name a pattern of another kind"
)

func hasNoTools(name string) string {
	return fmt.Sprintf("%s has no tools", name)
}

func wantToolsIn(noun string) string {
	return fmt.Sprintf("give it some, or remove the %s", noun)
}

func nameTooLong(length, verb string) string {
	return fmt.Sprintf("%s characters, and the names of its tools end with _%s", length, verb)
}

func wantShorterName(most string) string {
	return fmt.Sprintf("write a name of at most %s", most)
}

func planToolTaken(tool, pattern string) string {
	return fmt.Sprintf("its tool %s is also a tool of patterns.%s", tool, pattern)
}

func planToolOfServer(tool string) string {
	return fmt.Sprintf("its tool %s is also a tool of this server", tool)
}

func aCycle(way string) string {
	return fmt.Sprintf("a cycle: %s", way)
}

const (
	wantNoCycle = "remove one of them from it"
)

func nestedTooDeep(depth, way string) string {
	return fmt.Sprintf("%s patterns inside each other: %s", depth, way)
}

func wantDepth(most int) string {
	return fmt.Sprintf("use at most %d", most)
}

func overCaller(figure, most, pattern string) string {
	return fmt.Sprintf("%s is more than the %s of patterns.%s, which calls it", figure, most, pattern)
}

const (
	wantHandList = "write a mapping of names to {tool: NAME} or {pattern: NAME}, or a list of tools"
)

func wantHand(tool, pattern string) string {
	return fmt.Sprintf("write {tool: %s} or {pattern: %s}", tool, pattern)
}

const (
	bothToolAndPattern = "both tool and pattern"
	noToolOrPattern    = "neither tool nor pattern"
	wantToolOrPattern  = "write tool: NAME or pattern: NAME"
	wantTitle          = "write a few words that people read"
	wantDescription    = "write what it does and when to use it, for the model"
	wantItsTool        = "write the tool that it calls"
)

func limitOfKind(kinds string) string {
	return fmt.Sprintf("a limit of kind %s", kinds)
}

func keyOfKind(kinds, kind string) string {
	return fmt.Sprintf("a key of kind %s, but this pattern is of kind %s", kinds, kind)
}

const (
	wantToolKey   = "write tool"
	wantToolsKey  = "write tools"
	wantColour    = "write red, yellow or green"
	wantCondition = "write CEL: \"size(failed) > 0\""
)

// Policies, params and who decides.

const (
	noParams         = "no policy that has params"
	wantPolicyBeside = "write policy: NAME beside them, or remove them"
)

func noSuchPolicy(name string) string {
	return fmt.Sprintf("no policy %s", name)
}

// wantPolicyOf says how to have a policy of that name, or which ones the file has. others is "" if it has none.
func wantPolicyOf(name, others string) string {
	add := fmt.Sprintf("add policies: {%s: {rules: [...]}}", name)
	if others == "" {
		return add
	}
	return fmt.Sprintf("write %s, or %s", others, add)
}

func simulatedReal(tool, effect string) string {
	return fmt.Sprintf("simulated, but %s is a real tool of effect %s", tool, effect)
}

const (
	wantInboxOrReject = "write inbox or reject"
)

func demoAndReal(demo, real string) string {
	return fmt.Sprintf("%s is demo data and %s is real", demo, real)
}

const (
	wantOneKind = "use only demo tools or only real tools in a pattern"
)

func writesUnjudged(tool string) string {
	return fmt.Sprintf("%s writes, and no policy judges it", tool)
}

// wantPolicyIn says where the name of a policy can be: in a pattern or in a tool. pattern is "" for a tool that no pattern calls.
func wantPolicyIn(pattern, tool string) string {
	if pattern == "" {
		return fmt.Sprintf("write policy: NAME in %s", tool)
	}
	return fmt.Sprintf("write policy: NAME in %s or in %s", pattern, tool)
}

func orRemoveIt(want string) string { return want + ", or remove it" }

func destroysUnjudged(tool string) string {
	return fmt.Sprintf("%s is destructive, and no policy judges it", tool)
}

func inboxInMemory(memory string) string {
	return fmt.Sprintf("inbox with state %s: a run that is not recorded cannot wait for a person", memory)
}

const (
	wantStateOrApprover = "name a file with state or --state, or write reject or simulated"
)

// Models.

const (
	noKey           = "openai needs OPENAI_API_KEY or llm.base_url"
	wantModel       = "write a model's name: gpt-4.1-mini"
	wantBaseURL     = "write an absolute URL: https://host/v1"
	notURL          = "not a URL"
	notAbsoluteURL  = "not an absolute http or https URL"
	userInURL       = "a user or password in a URL"
	wantKeyVariable = "remove it; the key comes from OPENAI_API_KEY"
	queryInURL      = "a query or fragment in the base URL"
)

func wantSecretRef(reference string) string {
	return fmt.Sprintf("write {secret: \"%s\"}", reference)
}

func keyElsewhere(source string) string {
	return fmt.Sprintf("is sent only to the llm.base_url beside it, but %s names another", source)
}

func wantKeyToo(variable, source string) string {
	return fmt.Sprintf("set %s too, or unset %s", variable, source)
}

const (
	badKeyCharacters = "contains white space or characters beyond ASCII"
	wantKeyAsGiven   = "write the key exactly as the provider shows it"
	wantInPrice      = "write what a million input tokens cost"
	wantOutPrice     = "write what a million output tokens cost"
	roleUnused       = "no pattern uses this role"
	wantRoleUsed     = "name it in a pattern's llm.role, or remove it"
)

func noSuchRole(name string) string {
	return fmt.Sprintf("no role %s in llm.models", name)
}

const (
	wantDeclared = "declare it there"
)

func aLoop(way string) string {
	return fmt.Sprintf("a loop: %s", way)
}

const (
	wantNoFallback = "end it with a role that has no fallback"
)

func wantSteps(most string) string {
	return fmt.Sprintf("use at most %s", most)
}

func noPrice(model string) string {
	return fmt.Sprintf("no price for model %s", model)
}

const (
	wantPrice = "write price: {input_usd, output_usd} beside it in llm.models"
)

// Addresses and where people decide.

const (
	wantListen = "write host:port: 127.0.0.1:8765"
)

func notLoopback(address string) string {
	return fmt.Sprintf("%s is not loopback", address)
}

const (
	wantTokenFile    = "set http.token_file"
	notServed        = "HTTP is off, so the key has no effect"
	wantHTTP         = "give --http 127.0.0.1:8765"
	wantLocalAddress = "write host:port of this machine, 127.0.0.1:8766, or off"
)

func notLocal(address string) string {
	return fmt.Sprintf("%s is not loopback, and others must not reach it", address)
}

const (
	wantNotify       = "write auto, off or {exec: [program, argument]}"
	wantOtherAddress = "write another address for one of them, or inbox: off"
)

func sameAddress(address string) string {
	return fmt.Sprintf("http.listen and inbox are both %s", address)
}

// Files and directories.

func leadsNowhere(why string) string {
	return fmt.Sprintf("its value cannot be read: %s", why)
}

const (
	refusedUntil = "calls that need it are refused until it can"
)

func noDirectory(quoted string) string {
	return fmt.Sprintf("no directory %s", quoted)
}

const (
	wantFileInDirectory = "write the path of a file in an existing directory"
)

func lockFault(path, why string) string {
	return fmt.Sprintf("the lock %s: %s", path, why)
}

func neverDialled(what string) string {
	return fmt.Sprintf("%s, and Patterngate does not connect to it, so every call fails", what)
}

const (
	theConfiguration = "the configuration"
	theLock          = "the lock"
	theStateFile     = "the state file"
	aPolicyFile      = "a policy file"
)

func isIn(what, dir string) string {
	return fmt.Sprintf("%s is in %s", what, dir)
}

const (
	wantOtherDirectory = "name a directory without it, or move it"
	nulInPath          = "a NUL character in a path"
)

func noDefaultPlace(variable string) string {
	return fmt.Sprintf("no default place for it: %s is not set", variable)
}

func wantState(memory string) string {
	return fmt.Sprintf("give --state FILE, or --state %s to keep nothing", memory)
}

const (
	stateHomeRelative   = "XDG_STATE_HOME is a relative path"
	homeRelative        = "HOME is a relative path"
	wantAbsoluteOrState = "write an absolute path there, or give --state FILE"
)

// The version, variables, clients and waiting times.

const (
	otherVersion    = "another version"
	wantVersion     = "this program reads 1"
	unknownVariable = "unknown variable"
	noEffect        = "it has no effect"
)

func wantA(takes string) string {
	return fmt.Sprintf("write a %s", takes)
}

const (
	notClient  = "not a client's name"
	wantClient = "write 1 to 256 bytes, as in clientInfo.name"
)

func wantAtMostMax(seconds string) string {
	return fmt.Sprintf("write at most wait.max_seconds, %s", seconds)
}

func wantAtLeastDefault(seconds string) string {
	return fmt.Sprintf("write at least wait.default_seconds, %s, or set that too", seconds)
}

const (
	defaultOverMax = "wait.default_seconds is more than wait.max_seconds"
)

// What the prompts of a pattern get from the configuration.

func operatorInstructions(text string) string {
	return fmt.Sprintf("\nInstructions from the operator of this server:\n%s\n", text)
}

// The tools that clients see.

const (
	offersNothing = "no tool is offered"
	wantOffered   = "write the names of the tools that clients see, or remove offer to offer all"
)

func noSuchTool(name string) string {
	return fmt.Sprintf("no tool %s", name)
}

func oneOfTools(names []string) string {
	return fmt.Sprintf("write one of %s", strings.Join(names, ", "))
}

func isDisabled(pattern string) string {
	return fmt.Sprintf("the pattern %s is disabled", pattern)
}

func wantPatternEnabled(pattern string) string {
	return fmt.Sprintf("remove the tool here, or set patterns.%s.enabled to true", pattern)
}

func needsOffered(name string, missing []string) string {
	return fmt.Sprintf("results of %s tell clients to call %s", name, listed(missing))
}

func wantAlso(missing []string) string {
	switch len(missing) {
	case 1:
		return "add it"
	case 2:
		return "add both"
	}
	return "add all of them"
}

// listed returns names as a list in a sentence: "a", "a and b", "a, b and c".
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
