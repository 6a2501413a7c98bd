package transport

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

// refusal says why a request over HTTP is not carried out. It is the answer to the request.
type refusal struct {
	status  int
	code    int    // code of the JSON-RPC error
	id      string // JSON text; "" if no request was read
	message string
	close   bool // the connection ends, and what else the client sends is not read
	linger  bool // with close: what the client sends is dropped for a moment, so it can read the answer
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, code: codeRequest, message: fmt.Sprintf(format, args...)}
}

// write writes a refusal as the answer.
func (e *endpoint) write(w http.ResponseWriter, r *http.Request, refused *refusal) {
	h := w.Header()
	h["Content-Type"] = jsonTypes
	if refused.close {
		h["Connection"] = closing
	}
	if refused.status == http.StatusServiceUnavailable {
		h["Retry-After"] = []string{"1"}
	}
	e.server.config.Log.DebugContext(r.Context(), "request refused", "status", refused.status, "reason", printable.Text(refused.message))
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(e.limits.Stall))
	if refused.linger {
		_ = control.EnableFullDuplex() // otherwise net/http reads more of the body before it answers
	}
	line := refusalLine(refused.code, refused.id, refused.message)
	h["Content-Length"] = []string{strconv.Itoa(len(line))} // so the answer is complete before the connection ends
	w.WriteHeader(refused.status)
	_, _ = w.Write(line) // an error means that the client has gone
	if refused.linger {
		e.linger(control, r.Body)
	}
}

// linger reads and drops what a refused client still sends, up to a number of bytes and a time. A connection that is
// closed with unread bytes is reset, and a reset takes the answer away from a client that is still writing.
func (e *endpoint) linger(control *http.ResponseController, body io.Reader) {
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(e.limits.Linger)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, body, lingerBytes)
}

// lingerBytes is how much of a refused body linger reads.
const lingerBytes = 1 << 20

// loopback are the names of this machine that no other page can own. A DNS rebinding attack needs a name of its own.
var loopback = []string{"localhost", "127.0.0.1", "[::1]"}

// guard decides by which host name and from which web page a request may come. It does not change after newGuard.
type guard struct {
	hosts   map[string]bool // lower case; with a port: only that port, without one: every port
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

// host reports whether clients may call this server by a host name: a name of this machine, the address at which it
// listens or to which the connection came, or a configured name.
func (g guard) host(host, local string) bool {
	host = strings.ToLower(host)
	if g.hosts[host] || host == local {
		return true
	}
	name, _, found := cutPort(host)
	return found && g.hosts[name]
}

// cutPort splits a host into its name and its port. An IPv6 address keeps its brackets.
func cutPort(host string) (name, port string, found bool) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, "", false
	}
	return host[:i], host[i+1:], true
}

// origin reports whether a page of an origin may connect: a configured origin, or one of this server. A request without
// an origin comes from no page. A page that hides its origin says "null" and may not connect.
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

// share lets a page of an allowed origin read the answer (Fetch standard, CORS protocol).
func share(h http.Header, origin []string) {
	if len(origin) == 0 {
		return
	}
	h["Access-Control-Allow-Origin"] = origin
	h["Access-Control-Allow-Methods"] = []string{allowedMethods}
	h["Access-Control-Allow-Headers"] = []string{readHeaders}
	h["Access-Control-Expose-Headers"] = []string{exposedHeaders}
}

// accepts reports whether a client accepts a media type. A client that does not say accepts all (RFC 9110, section
// 12.5.1).
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

// zeroQuality reports whether the parameters of a media range contain q=0, which means "not this one".
func zeroQuality(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "q") {
			return strings.Trim(value, "0") == "" || strings.Trim(value, "0") == "."
		}
	}
	return false
}

// hostText and originText match the hosts and origins that a configuration may name.
var (
	hostText   = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+)(:[0-9]{1,5})?$`)
	originText = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?$`)
)

// IsHost reports whether text is a host in the form of a Host header: a name or an address, with or without a port.
func IsHost(text string) bool { return hostText.MatchString(text) }

// IsOrigin reports whether text is an origin as browsers write it: scheme and host in lower case, a port only if it is
// not the default of the scheme, and no path.
func IsOrigin(text string) bool {
	ownPort := strings.HasPrefix(text, "http://") && strings.HasSuffix(text, ":80") ||
		strings.HasPrefix(text, "https://") && strings.HasSuffix(text, ":443")
	return originText.MatchString(text) && !ownPort
}

// IsListen reports whether text is an address to listen at: host:port. Without a host it means every address of this
// machine. Port 0 means any free port.
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

// IsLoopback reports whether only this machine can reach an address to listen at.
func IsLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}
