package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"patterngate/catalog"
)

// These are the limits of connections to an HTTP server.
const (
	maxHead      = 64 << 10 // bytes of an answer's header
	maxIdle      = 16       // connections
	idleLife     = 90 * time.Second
	longestProbe = 5 * time.Second // to find out whether a server needs no handshake
)

// launch starts the program or connects to the endpoint, and opens a session. The last line that the program writes to
// standard error goes to said.
func (s *Server) launch(ctx context.Context, notified func(method string), said *lastLine) (*Client, error) {
	how := opening{who: s.config.Who, prompt: true, notified: notified, probe: min(longestProbe, s.config.StartTimeout/4)}
	switch {
	case s.config.Program != nil:
		return s.launchProgram(ctx, *s.config.Program, how, said)
	case s.config.Endpoint != nil:
		how.order = statelessFirst
		return s.launchEndpoint(ctx, *s.config.Endpoint, how)
	}
	return nil, errors.New("upstream: neither a program nor an endpoint")
}

// launchProgram starts a child.
func (s *Server) launchProgram(ctx context.Context, p ProgramConfig, how opening, said *lastLine) (*Client, error) {
	run := Program{Command: p.Command, Dir: p.Dir}
	for i, a := range p.Args {
		text, err := s.text(ctx, a.Text, a.Secret)
		if err != nil {
			return nil, fmt.Errorf(badArgument, i+1, err)
		}
		run.Args = append(run.Args, text)
	}
	for _, v := range p.Env {
		text, err := s.text(ctx, v.Text, v.Secret)
		if err != nil {
			return nil, fmt.Errorf(badVariable, v.Name, err)
		}
		run.Env = append(run.Env, v.Name+"="+text)
	}
	if p.Dir != "" {
		if _, err := os.Stat(p.Dir); err != nil { // otherwise the error would name the program
			return nil, err
		}
	}
	heard, err := s.listenTo(&run, said)
	if err != nil {
		return nil, err
	}
	child, err := start(run)
	_ = heard.Close() // the child has its own copy
	if err != nil {
		return nil, fmt.Errorf(startFailed, p.Command, err)
	}
	wire := child.wire()
	wire.onEnd = func() { // a child without pipes is of no use
		if !child.within(stuckGrace) {
			kill(child.cmd.Process)
		}
	}
	return open(ctx, wire, child, how)
}

// listenTo reads a child's standard error: it logs the lines at debug level and keeps the last one. It returns the file
// that the caller must close once the child has it.
func (s *Server) listenTo(p *Program, said *lastLine) (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.Stderr = out
	said.begin()
	go func() {
		defer said.finish()
		logLines(in, s.config.Log.With("server", s.config.Name), s.veil.hide, said)
	}()
	return out, nil
}

// text returns a text of the config, or the secret that replaces it.
func (s *Server) text(ctx context.Context, text string, secret catalog.Secret) (string, error) {
	if secret == nil {
		return text, nil
	}
	return s.veil.reveal(ctx, secret)
}

// launchEndpoint connects to a server over HTTP.
func (s *Server) launchEndpoint(ctx context.Context, e EndpointConfig, how opening) (*Client, error) {
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New(notAnyServerURL) // the error does not repeat the URL, which may contain a secret
	}
	g := &guard{url: u.String(), base: dialer(e), headers: func(ctx context.Context) (http.Header, error) { return s.headers(ctx, e) }}
	g.forget = func() bool {
		secrets := s.config.secrets()
		for _, secret := range secrets {
			secret.Forget()
		}
		return len(secrets) > 0
	}
	//lint:ignore SA1019 Servers with a handshake tell of changed lists on this stream only; the others are heard by Listen.
	wire, err := g.wire(transport.WithContinuousListening())
	if err != nil {
		return nil, err
	}
	return open(ctx, either{wire}, g, how)
}

// either hides from the client that the transport listens, which only servers with a handshake allow. The transport
// listens only if the server has a handshake.
type either struct{ transport.HTTPConnection }

// headers returns the headers of the config, with their secrets.
func (s *Server) headers(ctx context.Context, e EndpointConfig) (http.Header, error) {
	headers := http.Header{}
	for _, h := range e.Headers {
		text, err := s.text(ctx, h.Text, h.Secret)
		if err != nil {
			return nil, fmt.Errorf(badHeader, h.Name, err)
		}
		if h.Secret != nil {
			text = h.Prefix + text
		}
		headers.Set(h.Name, text)
	}
	return headers, nil
}

// dialer returns a transport with the settings of an endpoint. It uses nothing of the environment.
func dialer(e EndpointConfig) *http.Transport {
	d := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	d.Control = func(_, address string, _ syscall.RawConn) error { return judged(address, e.Judge) }
	return &http.Transport{
		DialContext: d.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
		TLSClientConfig:     &tls.Config{RootCAs: e.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
		MaxIdleConns: maxIdle, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: idleLife, MaxResponseHeaderBytes: maxHead,
	}
}

// judged returns an error if an address must not be dialled. It also rejects an address that it cannot parse.
func judged(address string, judge func(netip.Addr) error) error {
	if judge == nil {
		return nil
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if err := judge(to.Addr().Unmap().WithZone("")); err != nil {
		return &refusedAddress{err}
	}
	return nil
}
