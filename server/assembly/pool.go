package assembly

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"patterngate/catalog/httptool"
	"patterngate/catalog/upstream"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
)

// serverPool holds the MCP servers of this process. Configurations with equal settings for a server share it, so a reload
// restarts only what changed. It is safe for concurrent use.
type serverPool struct {
	mu      sync.Mutex
	servers map[string]pooled           // by the settings that they are made from
	clients map[string]*httptool.Client // by allow_networks
	known   map[string]*secrets         // one entry: secrets depend only on the environment
	trusted map[string]*x509.CertPool   // by the hash of a certificate file
	log     lateLog
}

// pooled is a server with the admission of its tools.
type pooled struct {
	*upstream.Server
	admits *admission
}

func newServerPool() *serverPool {
	return &serverPool{servers: map[string]pooled{}, clients: map[string]*httptool.Client{}, known: map[string]*secrets{}, trusted: map[string]*x509.CertPool{}, log: newLateLog()}
}

// secrets returns the secrets of this process.
func (p *serverPool) secrets(environ []string) *secrets {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.known[""]
	if !ok {
		s = newSecrets(environ)
		p.known[""] = s
	}
	return s
}

// client returns an HTTP client that can reach the networks in allow.
func (p *serverPool) client(allow []netip.Prefix) *httptool.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := fmt.Sprint(allow)
	c, ok := p.clients[key]
	if !ok {
		c = httptool.NewClient(httptool.ClientConfig{Allow: allow})
		p.clients[key] = c
	}
	return c
}

// roots returns the certificates of a file. Equal content gives the same pool, so that tools can share connections. An
// empty path returns nil, which means the system's certificates.
func (p *serverPool) roots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf(cannotBeRead, errors.Unwrap(err))
	}
	key := hashOf(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.trusted[key]; ok {
		return known, nil
	}
	read, err := rootsIn(text)
	if err == nil {
		p.trusted[key] = read
	}
	return read, err
}

// server returns the server for the settings s, with the admission of its tools. Different certificates in its file make a
// different server.
func (p *serverPool) server(m *ownMaker, s *tools.Server) (*upstream.Server, *admission, error) {
	config, err := m.serverConfig(s)
	if err != nil {
		return nil, nil, err
	}
	admits := &admission{tools: map[string]*behindServer{}, log: m.log, server: s.Name}
	config.Admit, config.Changed = admits.admit, admits.changed
	p.mu.Lock()
	defer p.mu.Unlock()
	key := tools.IdentityOf(s, m.config.Catalog.AllowNetworks) + m.accepted(s)
	if config.Endpoint != nil && config.Endpoint.Roots != nil {
		key += fmt.Sprintf("\x00%p", config.Endpoint.Roots) // one pool for each content
	}
	if known, ok := p.servers[key]; ok {
		return known.Server, known.admits, nil
	}
	running := upstream.NewServer(config)
	p.servers[key] = pooled{running, admits}
	return running, admits, nil
}

// retire stops the servers that are not in use. A call of an older run can start such a server again.
func (p *serverPool) retire(inUse map[string]*upstream.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		if !slices.Contains(mapValues(inUse), s.Server) {
			s.Forget()
		}
	}
}

// close stops all servers and waits for them.
func (p *serverPool) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	servers := mapValues(p.servers)
	p.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { _ = s.Close() }) // the server ends with this process in any case
	}
	all.Wait()
}

func mapValues[K comparable, V any](m map[K]V) []V {
	list := make([]V, 0, len(m))
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// accepted returns the hashes of the accepted definitions of a server's tools. They are part of the server's key in the
// pool, since another lock makes other tools.
func (m *ownMaker) accepted(s *tools.Server) string {
	var b strings.Builder
	for _, t := range s.Tools {
		if pinned, ok := m.lock.Tool(s.Name, t.Upstream); ok && t.Enabled {
			fmt.Fprintf(&b, "\x00%s %s", t.Upstream, pinned.Hash())
		}
	}
	return b.String()
}

// serverConfig returns the settings of a server for package upstream.
func (m *ownMaker) serverConfig(s *tools.Server) (upstream.ServerConfig, error) {
	c := upstream.ServerConfig{Name: s.Name, StartTimeout: s.StartTimeout, Timeout: s.Timeout, Who: m.who, Log: m.log}
	if s.Stdio != nil {
		p := &upstream.ProgramConfig{Command: orElse(s.Stdio.Path, s.Stdio.Command), Dir: s.Stdio.Dir}
		for _, a := range s.Stdio.Args {
			p.Args = append(p.Args, upstream.Argument{Text: a.Text, Secret: m.secrets.of(a.Secret)})
		}
		for _, e := range s.Stdio.Env {
			text := e.Text
			if e.Pass {
				if text = machine.Lookup(m.secrets.environ, e.Name); text == "" {
					continue
				}
			}
			p.Env = append(p.Env, upstream.Variable{Name: e.Name, Text: text, Secret: m.secrets.of(e.Secret)})
		}
		c.Program = p
		return c, nil
	}
	roots, err := m.pool.roots(s.HTTP.CAFile)
	if err != nil {
		return c, err
	}
	e := &upstream.EndpointConfig{URL: s.HTTP.URL, Roots: roots, Judge: m.client.Judge}
	for _, h := range s.HTTP.Headers {
		e.Headers = append(e.Headers, upstream.Header{Name: h.Name, Text: h.Text, Prefix: h.Prefix, Secret: m.secrets.of(h.Secret)})
	}
	c.Endpoint = e
	return c, nil
}
