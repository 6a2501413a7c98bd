package tools

import "fmt"

// This file has the texts of the package that people read: what is wrong with the catalog, and what would be right. The meanings of keys are in the tables of keys.

// What a key takes.

const (
	listOfPointers           = "list of pointers: `/args/card`, `/result/*/email`, `/input/iban`, `/answer`"
	listOfToolPointers       = "list of pointers: `/args/card`, `/result/*/email`"
	mappingOfArgumentSchemas = "mapping of arguments to JSON schemas"
	mappingOfMemberSchemas   = "mapping of members to JSON schemas"
)

func mappingOfHeaders(reference string) string {
	return fmt.Sprintf("mapping of headers to text or `%s`", reference)
}

const (
	mappingOfTemplates = "mapping of names to templates, or `{secret}`"
	aMapping           = "a mapping"
	listOfCodes        = "list of codes: 200, `2xx`"
)

func secretForms(command string) string {
	return fmt.Sprintf("`env:NAME`, `file:PATH` or %s", command)
}

const (
	listOfNetworks     = "list of networks: `127.0.0.1/32`"
	programName        = "the name or path of a program"
	listOfTexts        = "list of texts, or `{secret}`"
	namesOrEnvironment = "list of names, or a mapping of names to true, text or `{secret}`"
	mappingOfFixed     = "mapping of arguments to values, or `{secret}`"
)

// Faults of several keys.

const (
	wrongType   = "wrong type"
	unknownKey  = "unknown key"
	notName     = "not a name"
	tooLong     = "too long"
	outOfRange  = "out of range"
	wantOne     = "keep one"
	wantRemoved = "remove it"
)

func wantAtMost(most string) string {
	return fmt.Sprintf("write at most %s", most)
}

const (
	wantList   = "write a list, [] for none"
	wantQuoted = "write text in quotes"
)

// Networks.

func leadsTo(host string) string {
	return fmt.Sprintf("%s leads to ", host)
}

func wantAllowed(networks string) string {
	return fmt.Sprintf("write allow_networks: [%s] in catalog", networks)
}

func notDialled(what, remedy string) string {
	return fmt.Sprintf("%s, and Patterngate does not connect to it; %s", what, remedy)
}

const (
	wantNetwork = "write a network: 127.0.0.1/32"
	notNetwork  = "not a network"
)

func wantOneAddress(network string) string {
	return fmt.Sprintf("write %s for one address", network)
}

const (
	bitsBeyond = "has address bits beyond the length of its prefix"
)

// Redaction.

const (
	wantPointer  = "write a pointer such as /args/card, /result/*/email, /input/iban or /answer"
	otherRoot    = "wrong first word"
	wantToolRoot = "begin with /args or /result; move other pointers to redact at the top"
	notPointer   = "not a JSON pointer"
	wantRoot     = "begin with /args, /result, /input or /answer"
)

func nothingBelow(pointer string) string {
	return fmt.Sprintf("nothing below %s", pointer)
}

func wantMember(pointer, same string) string {
	return fmt.Sprintf("name a member: %s/card, or any: %s/*", pointer, same)
}

const (
	answerIsText = "an answer is one text"
)

// Requests.

const (
	wantDescription   = "write what it does, for the model"
	wantRequest       = "write {method: GET, url: \"https://host/path\"}"
	wantTemplateURL   = "write an absolute URL: https://host/path/{argument}"
	repeatedHeader    = "the same header in other letters"
	wantBasic         = "write {secret: \"env:NAME\", prefix: \"Basic \"}"
	wantBearer        = "write {secret: \"env:NAME\", prefix: \"Bearer \"}"
	reservedHeader    = "a header that Patterngate sets"
	wantBody          = "write args, none or a mapping"
	wantCode          = "write a status code, 200, or a class, \"2xx\""
	notCode           = "not a status code"
	wantAbsentForRead = "write absent only for effect read"
)

func noBodyFor(method string) string {
	return fmt.Sprintf("a %s has no body", method)
}

const (
	wantQuery = "use query, or another method"
)

func noRedirectFor(method string) string {
	return fmt.Sprintf("a %s is not redirected", method)
}

const (
	wantSecret      = "write {secret: \"env:NAME\"}"
	wantPlaceholder = "write {argument}; {{ and }} are braces"
)

func noArgument(name string) string {
	return fmt.Sprintf("no argument %s", name)
}

const (
	wantDeclared = "declare it in input"
	strayClose   = "a } without {"
	strayOpen    = "a { that does not begin {argument}"
	fixedPart    = "an argument can stand only in a path segment or a query value"
)

func inHost(name string) string {
	return fmt.Sprintf("{%s} is in the host", name)
}

func inQueryName(name string) string {
	return fmt.Sprintf("{%s} is in a query name", name)
}

// Secrets.

const (
	literalSecret    = "a secret in plain text"
	wantTextOrSecret = "write text in quotes, or {secret: \"env:NAME\"}"
	lineEndInside    = "a line end or NUL character inside"
	wantOneLine      = "write one line"
	wantExec         = "write {exec: [program, argument]}"
	wantProgramList  = "write a list: [program, argument]; no shell reads it"
	wantReference    = "write \"env:NAME\", \"file:PATH\" or {exec: [program, argument]}"
)

func variableNotSet(name string) string {
	return fmt.Sprintf("%s is not set", name)
}

func notFile(path string) string {
	return fmt.Sprintf("%s is not a file", path)
}

func readableByOthers(path string) string {
	return fmt.Sprintf("other users can read %s", path)
}

// Servers.

const (
	nulInPath    = "a NUL character in a path"
	wantPath     = "write a path"
	wantExisting = "write a path that exists"
)

func notDirectory(quoted string) string {
	return fmt.Sprintf("%s is not a directory", quoted)
}

const (
	wantPathOfOne    = "write the path of one"
	bothTransports   = "both stdio and http"
	noTransport      = "neither stdio nor http"
	wantTransport    = "write stdio: {command: ...} or http: {url: ...}"
	wantCommand      = "write the program, for example npx"
	notProgram       = "not a program"
	wantProgramName  = "write the name or path of one"
	secretInArgument = "a secret in an argument: other users of this machine see command lines"
	wantSecretInEnv  = "give it in env, if the program takes it there"
	valueInNames     = "a value in a list of names"
	wantEnvMapping   = "write env: {NAME: text}"
)

func namedTwice(name string) string {
	return fmt.Sprintf("%s is listed twice", name)
}

const (
	wantOnce     = "remove one"
	wantEnv      = "write a list of names, or a mapping of names to true, text or {secret}"
	wantPassedOn = "remove the name, or write true to pass it on"
)

func wantSecretOf(name string) string {
	return fmt.Sprintf("write {secret: \"env:%s\"}", name)
}

const (
	wantServerURL   = "write the server's URL: https://host/mcp"
	wantURL         = "write an absolute URL: https://host/path"
	notURL          = "not a URL"
	notAbsoluteURL  = "not an absolute http or https URL"
	userInURL       = "a user or password in a URL"
	wantBasicHeader = "remove it, and write headers: {Authorization: {secret: \"env:NAME\", prefix: \"Basic \"}}"
	fragmentInURL   = "a fragment in a URL"
	wantNoFragment  = "remove # and what follows"
)

func secretInURL(name string) string {
	return fmt.Sprintf("a plain value for %s in a URL", name)
}

const (
	wantSecretElsewhere = "write it in query or headers: {secret: \"env:NAME\"}"
)

// Tools.

const (
	wantEffect       = "write read, write or destructive"
	wantCalls        = "write how many calls"
	wantSeconds      = "write in how many seconds"
	wantReconciler   = "write the tool that finds it out"
	wantHappened     = "write CEL over effect and result: 'result.status == \"paid\"'"
	badToolName      = "not a name that models can use"
	wantToolName     = "give it one of 1 to 64 letters, digits, _ and -: as: NAME"
	readIsIdempotent = "a read is always idempotent"
	delayOverMax     = "delay_seconds is more than max_delay_seconds"
	wantLongerMax    = "raise max_delay_seconds"
	readNeverInDoubt = "a read never ends with an unknown outcome"
	wantFixed        = "write a mapping of arguments to values, {} for none"
)

func toolHasNoArgument(tool, name string) string {
	return fmt.Sprintf("%s has no argument %s", tool, name)
}

func noTool(quoted string) string {
	return fmt.Sprintf("no tool %s", quoted)
}

const (
	noToolsDeclared = "there are none"
)

func toolsDeclared(names string) string {
	return fmt.Sprintf("there are %s", names)
}
