package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"

	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/server/buildinfo"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// callee is the server that is called.
type callee struct {
	client   *upstream.Client
	here     bool   // the server runs in this process
	kept     bool   // it also records its runs in a file
	wait     func() // waits until the server in this process ends
	tools    []upstream.Tool
	held     map[string]Held            // held tools, which the server does not list
	cause    func(run string) string    // nil: unknown; see Server
	earlier  func(run string) bool      // nil: unknown; see Server
	sample   func(tool string) string   // nil: unknown; see Server
	embedded bool                       // here, without a configuration file
	unlisted func(name string) Unlisted // nil: unknown; see Server
}

// close ends the session. It ignores an error of the server's end, which does not change the result.
func (s *callee) close() {
	_ = s.client.Close()
	s.wait()
}

// open connects to the server that the flags name.
func (c *toolCall) open(ctx context.Context) (*callee, error) {
	limited, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	var to *callee
	var err error
	switch {
	case c.command != "":
		to, err = c.started(limited)
	case c.url != "":
		to, err = c.dialed(limited)
	default:
		to, err = c.inProcess(limited)
	}
	switch {
	case err == nil:
		return to, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, console.Fault("call", errors.New(serverSilent(openTimeout)))
	}
	return nil, err
}

// Identity returns the name and version that the client of a call sends.
func Identity() upstream.Identity {
	return upstream.Identity{Name: "patterngate-call", Version: buildinfo.Read().Version}
}

// Server is Patterngate's own server, in this process.
type Server struct {
	Serve    func(ctx context.Context, in io.Reader, out io.Writer) error // serves MCP until its input ends
	CarryOn  func()                                                       // continues runs that no process continues
	Close    func()
	Embedded bool                       // its configuration is the embedded one, not a file
	Kept     bool                       // it records its runs in a file
	Held     map[string]Held            // tools that nobody can call yet, by name; the server does not list them
	Cause    func(run string) string    // returns why a call of a run failed, for the person here only; "": unknown
	Earlier  func(run string) bool      // reports whether a run began under another configuration than this one
	Sample   func(tool string) string   // returns the only arguments of a tool of the demo for which it has data; "": any
	Unlisted func(name string) Unlisted // says why the server does not list a tool
}

// Held is a tool that a person has to accept before anybody can call it.
type Held struct {
	Cause string // why it is held
	Pin   string // what "catalog accept" accepts
	Given string // the flags that name the configuration and the state file, as words of a shell, with a space before each
}

// Unlisted says why the server does not list a tool. The zero Unlisted is for a name that the configuration does not have.
type Unlisted struct {
	Expose string // for a tool that clients do not get: the place of catalog.expose, or the file
	Demo   string // for a tool of the demo that is off: the file that turns it off
	Offer  string // for a tool that the key offer leaves out: the place of the key
}

// Connect connects a client to the server over a pair of pipes, with the same protocol as for every client. ended waits, after the
// client is closed, until the server has ended.
func (s Server) Connect(ctx context.Context) (client *upstream.Client, ended func(), err error) {
	requests, toServer := io.Pipe()
	answers, fromServer := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		err := s.Serve(context.WithoutCancel(ctx), requests, fromServer) // ends when its input ends
		_ = requests.CloseWithError(err)
		_ = fromServer.CloseWithError(err)
	}()
	client, err = upstream.Over(ctx, answers, toServer, Identity())
	ended = func() {
		<-served
		s.Close()
	}
	if err != nil {
		ended()
		return nil, nil, console.Fault("call", err)
	}
	return client, ended, nil
}

// inProcess serves Patterngate's own tools in this process.
func (c *toolCall) inProcess(ctx context.Context) (*callee, error) {
	s, err := c.Open(c.errs)
	if err != nil {
		return nil, err
	}
	if c.follows() || c.name == waitTool { // it could wait for a run that no process continues
		s.CarryOn()
	}
	client, ended, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &callee{client: client, here: true, embedded: s.Embedded, kept: s.Kept, held: s.Held, cause: s.Cause, earlier: s.Earlier, sample: s.Sample, unlisted: s.Unlisted, wait: ended}, nil
}

// dialed connects to a server over HTTP.
func (c *toolCall) dialed(ctx context.Context) (*callee, error) {
	token := machine.Lookup(c.Environ, settings.TokenVariable)
	to, err := upstream.ParseEndpoint(c.url, token)
	if err != nil {
		return nil, console.Usage("call", err, "patterngate call --help")
	}
	client, err := upstream.Dial(ctx, to, Identity())
	if err != nil {
		return nil, &console.Error{Code: console.ExitFault, What: "call", Cause: err, Try: unreached(err, token)}
	}
	return &callee{client: client, wait: func() {}}, nil
}

// unreached returns what can help if a server refuses the client, or if nothing answers.
func unreached(err error, token string) string {
	refused, _ := errors.AsType[*upstream.StatusError](err)
	switch {
	case refused == nil:
		return checkAddress
	case refused.Status == http.StatusUnauthorized && token == "":
		return serversToken(settings.TokenVariable)
	case refused.Status == http.StatusUnauthorized:
		return anotherToken(settings.TokenVariable)
	case refused.Status == http.StatusNotFound, refused.Status == http.StatusMethodNotAllowed:
		return endpointPath
	}
	return ""
}

// started starts a server and connects to it over stdio.
func (c *toolCall) started(ctx context.Context) (*callee, error) {
	words, err := console.SplitWords(c.command, runtime.GOOS == "windows")
	if err == nil && len(words) == 0 {
		err = errors.New(noCommand)
	}
	if err != nil {
		return nil, console.Usage("--command", err, "patterngate call --help")
	}
	p := upstream.Program{Command: words[0], Args: words[1:], Env: childEnvironment(c.Environ), Stderr: c.errs}
	if file, ok := c.Err.(*os.File); ok {
		p.Stderr = file // passed to the server unchanged
	}
	client, err := upstream.Start(ctx, p, Identity())
	if err != nil {
		return nil, &console.Error{Code: console.ExitFault, What: "call", Cause: err, Try: unstarted(words[0])}
	}
	return &callee{client: client, wait: func() {}}, nil
}

// unstarted returns what can help if the first word of a command line is not a program.
func unstarted(word string) string {
	if name, _, assigned := strings.Cut(word, "="); assigned && !strings.ContainsAny(name, `/\`) {
		return withEnv(word)
	}
	return ""
}

// childVariables are the variables that programs need to find files and programs. They contain no keys or tokens.
var childVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	"SystemRoot", "SystemDrive", "PATHEXT", "APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH",
}

// childEnvironment returns the environment of a server that call starts.
func childEnvironment(environ []string) []string {
	var env []string
	for _, name := range childVariables {
		if v := machine.Lookup(environ, name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// tool finds the tool of that name in the server's list.
func (s *callee) tool(ctx context.Context, name string) (upstream.Tool, error) {
	limited, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	var err error
	s.tools, err = s.client.Tools(limited)
	switch {
	case ctx.Err() != nil:
		return upstream.Tool{}, ctx.Err()
	case err != nil:
		return upstream.Tool{}, console.Fault("call", err)
	}
	if t, ok := s.named(name); ok {
		return t, nil
	}
	var names []string
	for _, t := range s.tools {
		names = append(names, t.Name)
	}
	if held, ok := s.held[name]; ok {
		return upstream.Tool{}, console.Usage("call", errors.New(isHeld(name, held.Cause)), acceptIt(console.ShellWord(runtime.GOOS, held.Pin), held.Given))
	}
	if s.unlisted != nil {
		switch u := s.unlisted(name); {
		case u.Expose != "":
			return upstream.Tool{}, console.Usage("call", errors.New(notExposed(name)), addToExpose(u.Expose))
		case u.Offer != "":
			return upstream.Tool{}, console.Usage("call", errors.New(notOffered(name)), addToOffer(u.Offer))
		case u.Demo != "":
			return upstream.Tool{}, console.Usage("call", errors.New(demoIsOff(name)), turnDemoOn(u.Demo))
		}
	}
	unknown := fmt.Sprintf("no tool %s (%s)", console.Cut(name, console.MaxTyped), someOf(names))
	near := gateway.NearTyped(name, names)
	if near != "" {
		unknown += "; did you mean " + near + "?"
	}
	try := ""
	switch {
	case s.here && s.embedded && near == "":
		try = toolsOfEmbedded
	case s.here:
		try = "patterngate tools"
	}
	return upstream.Tool{}, console.Usage("call", errors.New(unknown), try)
}

// named returns the server's tool of that name.
func (s *callee) named(name string) (upstream.Tool, bool) {
	i := slices.IndexFunc(s.tools, func(t upstream.Tool) bool { return t.Name == name })
	if i < 0 {
		return upstream.Tool{}, false
	}
	return s.tools[i], true
}

// someOf returns names as a list, with the number of those beyond the first few.
func someOf(names []string) string {
	const most = 20
	if len(names) == 0 {
		return noTools
	}
	var listed []string
	for _, n := range names[:min(most, len(names))] {
		listed = append(listed, console.Cut(n, console.MaxTyped))
	}
	text := strings.Join(listed, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
