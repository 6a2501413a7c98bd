package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/ijson/printable"
)

// refusal is why a request over HTTP is not carried out.
type refusal struct {
	status  int
	code    int    // of JSON-RPC
	id      string // JSON text; empty where no request was read
	message string
	close   bool // the connection ends: what else the client sends is not read
	linger  bool // but taken off the line for a moment, so that a client still sending gets to read why
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, code: codeRequest, message: fmt.Sprintf(format, args...)}
}

// write answers by a refusal.
func (e *endpoint) write(w http.ResponseWriter, r *http.Request, refused *refusal) {
	h := w.Header()
	h["Content-Type"] = jsonTypes
	if refused.close {
		h["Connection"] = closing
	}
	if refused.status == http.StatusServiceUnavailable {
		h["Retry-After"] = []string{"1"}
	}
	e.server.log.DebugContext(r.Context(), "request refused", "status", refused.status, "reason", printable.Text(refused.message))
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(e.limits.stall))
	if refused.linger {
		_ = control.EnableFullDuplex() // the answer comes first: net/http would read more of the body before it
	}
	line := refusalLine(refused.code, refused.id, refused.message)
	h["Content-Length"] = []string{strconv.Itoa(len(line))} // it is whole before the connection ends
	w.WriteHeader(refused.status)
	_, _ = w.Write(line) // who does not read it is gone
	if refused.linger {
		e.linger(control, r.Body)
	}
}

// linger takes what a refused client still sends and drops it, within bounds of bytes and time. A connection that is
// closed with bytes unread is reset, and a reset takes the answer away from a client that is still writing.
func (e *endpoint) linger(control *http.ResponseController, body io.Reader) {
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(e.limits.linger)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, body, lingerBytes)
}

// lingerBytes is how much of a refused body is taken off the line.
const lingerBytes = 1 << 20

// loopback are the names of this machine that no other page can have for its own (DNS rebinding needs a name).
var loopback = []string{"localhost", "127.0.0.1", "[::1]"}

// guard judges by which name and from which page a request comes. It does not change after it was made.
type guard struct {
	hosts   map[string]bool // lower case: with a port exactly so, without one any port
	origins map[string]bool
}

func newGuard(c HTTPConfig) guard {
	g := guard{hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, host := range slices.Concat(loopback, c.Hosts, []string{c.Listen}) {
		g.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range c.Origins {
		g.origins[origin] = true
	}
	return g
}

// host reports whether this server may be called so: by a name of this machine, by the address that it listens at or
// that the connection came to, or by a configured name.
func (g guard) host(host, local string) bool {
	host = strings.ToLower(host)
	if g.hosts[host] || host == local {
		return true
	}
	name, _, found := cutPort(host)
	return found && g.hosts[name]
}

// cutPort parts a host from its port, keeping the brackets of an IPv6 address.
func cutPort(host string) (name, port string, found bool) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, "", false
	}
	return host[:i], host[i+1:], true
}

// origin reports whether a page of that origin may ask: a configured one, or one of this very server. A request
// without an origin comes from no page; null is what a page says that hides its own.
func (g guard) origin(values []string, host string) bool {
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 || values[0] == "null" {
		return false
	}
	if g.origins[values[0]] {
		return true
	}
	scheme, rest, _ := strings.Cut(values[0], "://")
	return (scheme == "http" || scheme == "https") && strings.EqualFold(rest, host)
}

const (
	allowedMethods = "POST, GET, DELETE, OPTIONS"
	readHeaders    = "Authorization, Accept, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"
	exposedHeaders = "Mcp-Session-Id, WWW-Authenticate"
)

// share lets a page of an allowed origin read what it is sent (Fetch standard, CORS protocol).
func share(h http.Header, origin []string) {
	if len(origin) == 0 {
		return
	}
	h["Access-Control-Allow-Origin"] = origin
	h["Access-Control-Allow-Methods"] = []string{allowedMethods}
	h["Access-Control-Allow-Headers"] = []string{readHeaders}
	h["Access-Control-Expose-Headers"] = []string{exposedHeaders}
}

// accepts reports whether a client takes a media type. One that does not say takes all (RFC 9110 section 12.5.1).
func accepts(values []string, kind, name string) bool {
	if len(values) == 0 {
		return true
	}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			media, params, _ := strings.Cut(part, ";")
			k, n, _ := strings.Cut(strings.TrimSpace(media), "/")
			if (k == "*" || strings.EqualFold(k, kind)) && (n == "*" || strings.EqualFold(n, name)) && !zeroQuality(params) {
				return true
			}
		}
	}
	return false
}

// zeroQuality reports a q=0 among a media range's parameters: "not this one".
func zeroQuality(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "q") {
			return strings.Trim(value, "0") == "" || strings.Trim(value, "0") == "."
		}
	}
	return false
}

// What may stand in a configuration of HTTP.
var (
	hostText   = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+)(:[0-9]{1,5})?$`)
	originText = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?$`)
)

// IsHost reports a host as it stands in a request's Host: a name or address, with or without a port.
func IsHost(text string) bool { return hostText.MatchString(text) }

// IsOrigin reports an origin as browsers write it: scheme and host in lower case, a port only where it is not the
// scheme's own, no path.
func IsOrigin(text string) bool {
	ownPort := strings.HasPrefix(text, "http://") && strings.HasSuffix(text, ":80") ||
		strings.HasPrefix(text, "https://") && strings.HasSuffix(text, ":443")
	return originText.MatchString(text) && !ownPort
}

// IsListen reports an address to listen at: host:port, where no host means every address of this machine and port 0 a
// free one.
func IsListen(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	if strings.Contains(host, ":") {
		if _, err := netip.ParseAddr(host); err != nil {
			return false
		}
	} else if host != "" && !IsHost(host) {
		return false
	}
	return portText.MatchString(port) && (len(port) < 5 || port <= "65535")
}

var portText = regexp.MustCompile(`^[0-9]{1,5}$`)

// IsLoopback reports an address to listen at that only this machine can reach.
func IsLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}
