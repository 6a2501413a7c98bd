package httptool

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"patterngate/catalog"
)

// Tool is a tool that sends an HTTP request. Only [New] makes one. It is safe for concurrent use.
type Tool struct {
	name    string
	method  string
	address *address
	headers []header
	// secretQuery are the query members that are secrets.
	secretQuery []header
	payload     payload
	keyHeader   string
	success     codes
	missing     codes // codes that mean "there is none"
	redirects   int
	timeout     time.Duration
	read        bool
	repeatable  bool
	output      func(args map[string]any, response Response) (any, error)
	transport   http.RoundTripper
}

// New returns a tool, or nil and all faults of its configuration. It connects to nothing and reads no secret.
func New(config Config) (*Tool, []Fault) {
	r := &reading{config: config, used: map[string]bool{}}
	r.method()
	t := &Tool{
		name: config.Name, method: config.Method, redirects: config.Redirects, timeout: config.Timeout,
		output: config.Output,
		read:   config.Effect == catalog.Read, repeatable: config.Repeatable || config.Effect == catalog.Read,
	}
	t.address = r.parseURL(config.URL)
	query := r.query()
	t.headers = r.headers()
	for _, q := range config.Query {
		if q.Secret != nil {
			t.secretQuery = append(t.secretQuery, header{name: encode(q.Name), secret: q.Secret})
		}
	}
	t.payload = r.body()
	t.readReplies(r)
	if config.Client == nil {
		r.fault(Fault{Path: "request", Reason: noClient, Want: wantClient})
	}
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	t.address.query = append(t.address.query, query...)
	t.keyHeader = config.IdempotencyHeader
	t.transport = config.Client.transport(config.Roots, !t.repeatable)
	return t, nil
}

// readReplies reads the settings for replies and redirects, and the time-out.
func (t *Tool) readReplies(r *reading) {
	success, missing := r.config.Success, r.config.Absent
	if success == nil {
		success = []string{"2xx"}
	}
	if len(success) == 0 {
		r.fault(Fault{Path: "request.success", Reason: noSuccess, Want: wantSuccess})
	}
	if missing == nil && t.read {
		missing = []string{"404", "410"}
	}
	if len(missing) > 0 && !t.read {
		r.fault(Fault{Path: "request.absent", Reason: absentOnlyRead, Want: wantRemoved})
	}
	t.success = r.codes("request.success", success, true)
	t.missing = r.codes("request.absent", missing, false)
	for _, text := range r.config.Absent {
		if code, err := parseCode(text); err == nil && t.success.exact[code] {
			r.fault(Fault{Path: "request.absent", Reason: inSuccessToo(text), Want: wantInOne})
		}
	}
	if t.redirects < 0 || t.redirects > maxRedirects {
		r.fault(Fault{Path: "request.redirects", Reason: outOfRange, Want: wantRedirects})
	}
	if t.redirects > 0 && t.method != http.MethodGet && t.method != http.MethodHead {
		r.fault(Fault{Path: "request.redirects", Reason: notRedirected(t.method), Want: wantRemoved})
	}
	if t.timeout < 0 {
		r.fault(Fault{Path: "request.timeout_seconds", Reason: outOfRange, Want: wantSeconds})
	}
}

// maxRedirects is the most redirects a tool may follow.
const maxRedirects = 5

// Check returns the arguments that fit their schema but cannot be inserted into the request. For example, a path
// segment becomes empty, . or .., or an argument is an object where only a text is allowed. Nil means that the call can
// be sent. Check sends nothing.
func (t *Tool) Check(args map[string]any) []catalog.Mismatch {
	_, bad := t.address.build(args)
	_, _, unfit := t.payload.make(args)
	return append(bad, unfit...)
}

// Do performs a call; it is a [catalog.Func]. Every error is a *[catalog.Fault].
func (t *Tool) Do(ctx context.Context, call catalog.Call) (any, error) {
	if t.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.timeout)
		defer cancel()
	}
	v, err := t.attempt(ctx, call)
	// A replaced secret is read again, once. A call that must not be made twice is not sent again, because a service
	// may act and then refuse.
	status, ok := errors.AsType[*StatusError](err)
	if ok && status.Code == http.StatusUnauthorized && t.forget() && t.repeatable {
		v, err = t.attempt(ctx, call)
	}
	return v, err
}

// forget drops the secrets, so that the next attempt reads them again. It reports whether there are any.
func (t *Tool) forget() bool {
	any := false
	for _, h := range slices.Concat(t.headers, t.secretQuery) {
		if h.secret != nil {
			h.secret.Forget()
			any = true
		}
	}
	return any
}
