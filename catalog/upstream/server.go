package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// These are the pauses before a failed server is started again. Each pause is twice the last, up to longestBackoff.
// After a run of soundAfter the pauses start from firstBackoff again.
const (
	firstBackoff   = 200 * time.Millisecond
	longestBackoff = 30 * time.Second
	soundAfter     = 30 * time.Second
)

// errShut reports that Close closed the server.
var errShut = errors.New("upstream: the server is closed")

// Server manages one configured server. The first call starts it. It starts again after it ended, and lists its tools
// again when they change.
//
//	Ensure ─▶ running, its tools listed      Present ─▶ what it declares      Call ─▶ an observation or a *catalog.Fault
//
// All callers that wait for a start share it, and it continues if they stop waiting. A Server is safe for concurrent
// use.
type Server struct {
	config ServerConfig
	veil   veil

	running atomic.Pointer[session]
	untold  chan struct{} // holds one request to report changed tools
	telling sync.Once

	mu       sync.Mutex
	starting *attempt // nil: none
	failures int      // in a row
	retry    time.Time
	why      error    // of the last failure; nil: none, or it runs
	last     *listing // of the last session, to compare with the next one
	shut     bool
	life     context.Context
	end      context.CancelFunc
	work     sync.WaitGroup // starts and retirements
}

// attempt is one start.
type attempt struct {
	done chan struct{}
	err  error // set when done is closed
}

// NewServer returns a server for a config that was checked. It starts nothing.
func NewServer(config ServerConfig) *Server {
	s := &Server{config: config.settled(), untold: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Ensure starts the server unless it runs, and lists its tools unless they are known. Its error is a *[catalog.Fault]
// of kind NotSent. If both are done already, it costs almost nothing.
func (s *Server) Ensure(ctx context.Context) error {
	if running := s.running.Load(); running != nil && !running.over() && running.fresh() != nil {
		return nil
	}
	if _, _, err := s.ready(ctx); err != nil {
		return s.fault(notSent(err))
	}
	return nil
}

// Tools returns the server's tools in its order. The caller must not change them. See [Server.Ensure].
func (s *Server) Tools(ctx context.Context) ([]Definition, error) {
	_, l, err := s.ready(ctx)
	if err != nil {
		return nil, s.fault(notSent(err))
	}
	return l.all, nil
}

// Present returns the running session's definition of a tool, or the zero Definition if the session does not have the
// tool. known is false if no session runs. Present changes nothing.
func (s *Server) Present(tool string) (d Definition, known bool) {
	running := s.running.Load()
	if running == nil || running.over() {
		return Definition{}, false
	}
	l := running.list.Load()
	return l.named[tool], l.err == nil
}

// Status reports whether a session runs, and why the last one did not start or ended.
func (s *Server) Status() (running bool, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running.Load() != nil, s.why
}

// Call calls a tool by its name at the server. It adds the secrets to the arguments just before sending. It returns a
// decoded value: see [Result.Observation]. An error is a *[catalog.Fault], whose texts contain no secret. If an answer
// comes at the moment when ctx ends, the answer counts.
//
// The call is sent once. Before it, a request that does nothing checks the session and the secrets. If the server still
// refuses the call for one of them, the outcome is unknown.
func (s *Server) Call(ctx context.Context, tool string, args map[string]any, secrets map[string]catalog.Secret) (any, error) {
	result, _, fault := s.attempt(ctx, tool, args, secrets, true)
	if fault != nil {
		return nil, s.fault(fault)
	}
	return s.observation(result)
}

// CallRepeatable works as [Server.Call] does, for a tool whose calls may be repeated. It sends the call a second time
// if the server did not know the session, or refused a secret that may have been replaced.
func (s *Server) CallRepeatable(ctx context.Context, tool string, args map[string]any, secrets map[string]catalog.Secret) (any, error) {
	for repeated := false; ; repeated = true {
		result, forgotten, fault := s.attempt(ctx, tool, args, secrets, false)
		switch {
		case fault == nil:
			return s.observation(result)
		case forgotten && !repeated:
			continue // the next attempt uses a new session
		}
		return nil, s.fault(fault)
	}
}

func (s *Server) observation(result Result) (any, error) {
	v, err := result.Observation()
	if err != nil {
		return nil, s.fault(&catalog.Fault{Kind: catalog.Unreadable, Cause: err})
	}
	if said, ok := v.(map[string]any); ok && result.IsError {
		return catalog.Told{Value: said}, nil
	}
	return v, nil
}

// attempt makes one attempt of a call. forgotten reports that the server no longer knew the session.
func (s *Server) attempt(ctx context.Context, tool string, args map[string]any, secrets map[string]catalog.Secret, once bool) (_ Result, forgotten bool, _ *catalog.Fault) {
	running, fault := s.enterSound(ctx, tool, once)
	if fault != nil {
		return Result{}, false, fault
	}
	defer running.leave()
	text, err := s.arguments(ctx, args, secrets)
	if err != nil {
		return Result{}, false, notSent(localError{err})
	}
	result, t, err := running.call(ctx, tool, text, once)
	if err == nil {
		return result, false, nil
	}
	forgotten = t.status/100 != 2 && running.client.forgotten(err) // a server that began to answer knew the session
	switch {
	case forgotten:
		s.replace(running, nil)
		t.doubt = t.doubt || once && t.sent
	case running.client.overHTTP() && t.status == 0 && ctx.Err() == nil: // another process may answer next time
		running.changed()
	}
	return Result{}, forgotten, faultOf(ctx, t, err)
}

// enterSound works as enter does. For a call that must be sent once, it first checks the session if the server may
// refuse the call because of the session or the secrets.
func (s *Server) enterSound(ctx context.Context, tool string, once bool) (*session, *catalog.Fault) {
	for tries := 0; ; tries++ {
		running, fault := s.enter(ctx, tool)
		if fault != nil || !once || !running.client.overHTTP() || tries == 1 { // a session that was opened just now is valid
			return running, fault
		}
		err := running.prove(ctx, len(s.config.secrets()) > 0)
		switch {
		case err == nil:
			return running, nil
		case !running.client.forgotten(err):
			running.leave()
			return nil, notSent(err)
		}
		running.leave()
		s.replace(running, nil)
	}
}

// enter begins a call in the running session, if the session has the tool and Admit allows it.
func (s *Server) enter(ctx context.Context, tool string) (*session, *catalog.Fault) {
	for {
		running, l, err := s.ready(ctx)
		if err != nil {
			return nil, notSent(err)
		}
		d, ok := l.named[tool]
		if !ok {
			return nil, notSent(localError{fmt.Errorf(noTool, tool)})
		}
		if s.config.Admit != nil {
			if err := s.config.Admit(d); err != nil {
				return nil, &catalog.Fault{Kind: catalog.NotSent, Cause: err}
			}
		}
		if running.enter() {
			return running, nil
		}
		s.replace(running, nil) // it was retired just now
	}
}

// arguments returns the whole arguments as they are sent.
func (s *Server) arguments(ctx context.Context, args map[string]any, secrets map[string]catalog.Secret) (json.RawMessage, error) {
	if len(secrets) > 0 {
		if args = maps.Clone(args); args == nil {
			args = map[string]any{}
		}
		for _, name := range slices.Sorted(maps.Keys(secrets)) {
			text, err := s.veil.reveal(ctx, secrets[name])
			if err != nil {
				return nil, fmt.Errorf(argumentFault, name, err)
			}
			args[name] = text
		}
	}
	if args == nil {
		args = map[string]any{}
	}
	text, err := ijson.AppendChecked(nil, args)
	if err != nil {
		return nil, fmt.Errorf(argumentsFault, err)
	}
	return text, nil
}

// fault hides secrets in a fault's text. If the text contained a secret, the cause becomes an error with the hidden
// text only, and stays local if it was.
func (s *Server) fault(f *catalog.Fault) *catalog.Fault {
	said := f.Cause.Error()
	if hidden := s.veil.hide(said); hidden != said {
		local := isLocal(f.Cause)
		if f.Cause = errors.New(hidden); local {
			f.Cause = localError{f.Cause}
		}
	}
	return f
}
