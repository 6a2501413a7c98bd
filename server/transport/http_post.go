package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
)

// ServeHTTP implements [http.Handler].
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.traffic.begin()
	defer e.traffic.end()
	if r.ContentLength != 0 { // also for a request that is refused: net/http reads a little more of its body
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(e.limits.Body))
	}
	h := w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"], h["Vary"] = noStore, noSniff, varyOrigin
	h["Connection"] = closing // until the client is known: strangers hold no connection open
	defer func() {
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler {
				_ = e.server.config.Host.Fault(r.Context(), fmt.Errorf(panicked, cause, debug.Stack()))
			}
			panic(http.ErrAbortHandler) // the connection ends
		}
	}()
	if refused := e.serveHTTP(w, r); refused != nil {
		e.write(w, r, refused)
	}
}

// serveHTTP answers a request, or returns why it is refused.
func (e *endpoint) serveHTTP(w http.ResponseWriter, r *http.Request) *refusal {
	c := httpConnOf(r.Context())
	if c == nil || !e.guard.host(r.Host, c.local) {
		return refuse(http.StatusForbidden, hostNotAllowed, printable.Name(r.Host))
	}
	origin := r.Header["Origin"]
	if !e.guard.origin(origin, r.Host) {
		return refuse(http.StatusForbidden, originNotAllowed)
	}
	share(w.Header(), origin)
	if e.own != nil {
		if !c.ofOwnUser(e.own) {
			return refuse(http.StatusForbidden, otherUser)
		}
		delete(w.Header(), "Connection")
	}
	switch r.URL.Path {
	case "/mcp":
		return e.serveMCP(w, r)
	case "/healthz":
		return e.serveHealth(w, r)
	}
	return refuse(http.StatusNotFound, knownPaths)
}

func (e *endpoint) serveHealth(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return refuse(http.StatusMethodNotAllowed, "GET it")
	}
	health := struct {
		Status  string `json:"status"`
		Version string `json:"version"`
	}{"ok", e.server.config.Version}
	status := http.StatusOK
	if e.traffic.stopping() {
		health.Status, status = "stopping", http.StatusServiceUnavailable
	}
	body, err := json.Marshal(health)
	if err != nil {
		panic(err) // impossible: two texts
	}
	w.Header()["Content-Type"] = jsonTypes
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
	return nil
}

// serveMCP answers a request to /mcp by its method.
func (e *endpoint) serveMCP(w http.ResponseWriter, r *http.Request) *refusal {
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	switch r.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
	case http.MethodOptions:
		w.Header().Set("Allow", allowedMethods)
		w.WriteHeader(http.StatusNoContent)
		return nil
	default:
		w.Header().Set("Allow", allowedMethods)
		return refuse(http.StatusMethodNotAllowed, wantMethod)
	}
	principal, refused := e.principal(w, r)
	if refused != nil {
		return refused
	}
	if name := repeated(r.Header); name != "" {
		return refuse(http.StatusBadRequest, givenTwice, name)
	}
	switch {
	case r.Method == http.MethodPost:
		return e.post(w, r, principal)
	case modern:
		w.Header().Set("Allow", "POST, OPTIONS")
		return refuse(http.StatusMethodNotAllowed, noSessions, r.Method)
	case r.Method == http.MethodGet:
		return e.listen(w, r, principal)
	}
	return e.endSession(w, r, principal)
}

// principal returns the requester: the holder of the token, or without tokens the user of this process.
func (e *endpoint) principal(w http.ResponseWriter, r *http.Request) (string, *refusal) {
	token, asked := bearer(r.Header["Authorization"])
	delete(r.Header, "Authorization") // no other code may see the token
	if e.own != nil {
		return e.server.config.Principal, nil
	}
	name, ok := e.config.Tokens.holder(token)
	switch {
	case asked && ok:
		delete(w.Header(), "Connection")
		return "token:" + name, nil
	case asked:
		w.Header().Set("WWW-Authenticate", `Bearer realm="patterngate", error="invalid_token"`)
		return "", refuse(http.StatusUnauthorized, tokenUnknown)
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="patterngate"`)
	return "", refuse(http.StatusUnauthorized, tokenMissing)
}

// repeated returns a header that mcp-go reads and that the client sent more than once, or "". Readers differ about
// which of the two counts.
func repeated(h http.Header) string {
	for _, name := range []string{mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName, mcp.HeaderSessionID, "Content-Type"} {
		if len(h[name]) > 1 {
			return name
		}
	}
	return ""
}

// post answers a POST, which has one message.
func (e *endpoint) post(w http.ResponseWriter, r *http.Request, principal string) *refusal {
	if refused := checkMedia(r.Header); refused != nil {
		return refused
	}
	reader := bodyReader{e: e}
	defer reader.release()
	body, refused := reader.read(w, r)
	if refused == nil {
		refused = reader.weigh(body)
	}
	if refused != nil {
		return refused
	}
	f, ok := plainFrame(body)
	var err error
	if !ok {
		f, err = readFrame(body)
	}
	if fault, ok := errors.AsType[*frameFault](onlyOnce(body, f, err)); ok {
		return refuseFrame(http.StatusBadRequest, fault)
	}
	m := posted{e: e, w: w, r: r, principal: principal, frame: f, body: body}
	switch {
	case mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion)):
		return m.modern()
	case f.method == methodInitialize && f.id != "":
		return m.initialize()
	}
	return m.inSession()
}

// checkMedia checks which media types the client sends and accepts.
func checkMedia(h http.Header) *refusal {
	switch {
	case !isJSON(h.Get("Content-Type")):
		return refuse(http.StatusUnsupportedMediaType, wantJSON)
	case h["Content-Encoding"] != nil && h.Get("Content-Encoding") != "identity":
		return refuse(http.StatusUnsupportedMediaType, wantNoEncoding)
	case !accepts(h["Accept"], "application", "json"):
		return refuse(http.StatusNotAcceptable, wantAccept)
	}
	return nil
}

func isJSON(contentType string) bool {
	if contentType == mediaJSON {
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && kind == mediaJSON && (charset == "" || strings.EqualFold(charset, "utf-8"))
}
