package assembly

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
	"patterngate/catalog/resilience"
	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// httpTool makes a tool that is an HTTP request.
func (m *ownMaker) httpTool(c *tools.HTTPTool) {
	t := common(&c.Tool, httpServer)
	t.Timeout = c.Request.Timeout
	read := m.compiled.Of(orEmpty(c.Input)) // their faults were reported when they were read
	if read.Wrong() {
		return
	}
	if len(c.OutputSchema) > 0 {
		output := m.compiled.Of(c.OutputSchema)
		if t.Output = output.Schema; output.Wrong() {
			return
		}
	}
	input := read.Schema
	t.Input, t.Defaults = input, read.Defaults
	m.once(&t, &c.Tool, input, true)
	m.phrase(&t)
	request, ok := m.request(c, input)
	if !ok {
		return
	}
	guard := resilience.New(resilience.Config{Failures: httpFailures, Open: httpOpen})
	refused := &refusedCalls{url: c.Request.URL, allow: m.config.Catalog.AllowNetworks}
	t.Do = m.masked(throttled(guard, c.Rate, refused.noting(request.Do)))
	t.Extra = request.Check
	t.Ready = refused.ready
	if closed := tools.ClosedHostOf(c.Request.URL, m.config.Catalog.AllowNetworks); closed != nil {
		why := closed.Why(m.config.Catalog.AllowNetworks)
		t.Ready = func() catalog.Readiness { return catalog.Readiness{State: catalog.Unavailable, Why: why} }
	}
	m.add(t)
}

// refusedCalls knows whether the last call of a tool was refused because of the address of its host. It is safe for
// concurrent use.
type refusedCalls struct {
	url   string
	allow []netip.Prefix
	last  atomic.Pointer[string] // the reason; nil: not refused
}

// noting returns do, and records which of its calls were refused.
func (r *refusedCalls) noting(do catalog.Func) catalog.Func {
	return func(ctx context.Context, call catalog.Call) (any, error) {
		observation, err := do(ctx, call)
		if closed := tools.ClosedBy(err, r.url, r.allow); closed != nil {
			why := closed.Why(r.allow)
			r.last.Store(&why)
		} else {
			r.last.Store(nil)
		}
		return observation, err
	}
}

// ready returns the reason of the last refused call, only for people on this machine. The addresses of a name stay private.
func (r *refusedCalls) ready() catalog.Readiness {
	if why := r.last.Load(); why != nil {
		return catalog.Readiness{Here: *why}
	}
	return catalog.Readiness{}
}

// request makes the HTTP request of a tool. It returns false if it recorded a fault.
func (m *ownMaker) request(c *tools.HTTPTool, input *catalog.Schema) (*httptool.Tool, bool) {
	roots, err := m.pool.roots(c.Request.CAFile)
	if err != nil {
		m.fault(yamldoc.Fault{Reason: err.Error(), Want: wantCertificates}, "request", "ca_file")
		return nil, false
	}
	types := map[string]string{}
	for _, p := range input.Properties() {
		types[p.Name] = p.Type
	}
	config := httptool.Config{
		Name: c.Name, Method: c.Request.Method, URL: c.Request.URL, Form: c.Request.Form, IdempotencyHeader: c.Request.IdempotencyHeader,
		Success: c.Request.Success, Absent: c.Request.Absent, Redirects: c.Request.Redirects, Roots: roots, Timeout: c.Request.Timeout,
		Effect: c.Effect, Repeatable: c.Idempotent || c.Effect == catalog.Read, Client: m.client,
		Arguments: func(name string) (string, bool) { typ, ok := types[name]; return typ, ok },
		Near:      func(name string) string { return gateway.NearTyped(name, input.PropertyNames()) },
		Body:      httptool.Body{Args: c.Request.Body.Args, Mapping: c.Request.Body.Mapping},
	}
	for _, q := range c.Request.Query {
		config.Query = append(config.Query, httptool.Template{Name: q.Name, Text: q.Text, Secret: m.secrets.of(q.Secret)})
	}
	for _, h := range c.Request.Headers {
		config.Headers = append(config.Headers, httptool.Header{Name: h.Name, Text: h.Text, Prefix: h.Prefix, Secret: m.secrets.of(h.Secret)})
	}
	if c.Output != nil {
		at := strings.Join(slices.Concat(m.at, []string{"output"}), ".")
		output, faults := policy.Output(expressions(c.Output), c.Name, input)
		wrong := false
		for _, f := range faults {
			m.expression(f, strings.SplitN(f.Member, ".", 2)...) // output.NAME
			wrong = wrong || !f.Warning
		}
		if wrong {
			return nil, false
		}
		config.Output = func(args map[string]any, r httptool.Response) (any, error) {
			observation, err := output(args, r.Status, r.Headers, r.Body)
			if err != nil {
				return nil, fmt.Errorf(outputFault, at, err)
			}
			return observation, nil
		}
	}
	tool, faults := httptool.New(config)
	for _, f := range faults {
		m.fault(yamldoc.Fault{Reason: f.Reason, Got: f.Got, Want: f.Want, DidYouMean: f.DidYouMean}, stepsOf(f.Path)...)
	}
	return tool, len(faults) == 0
}

// stepsOf splits a path such as request.body.list[0] into its steps.
func stepsOf(path string) []string {
	return strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
}

// httpFailures and httpOpen configure the breaker of an http tool. They equal the defaults of a server.
const (
	httpFailures = 5
	httpOpen     = 30 * time.Second
)

func orEmpty(text []byte) []byte {
	if len(text) == 0 {
		return []byte("{}")
	}
	return text
}

// rootsIn returns the certificates in the text of a file.
func rootsIn(text []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(noCertificate)
	}
	return pool, nil
}
