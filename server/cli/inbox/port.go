package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"patterngate/ijson"
	"patterngate/server/transport"
	"patterngate/server/web"
)

// listenHere listens at a loopback address. It returns that address with the real port, as a URL contains it.
func listenHere(ctx context.Context, address string) (net.Listener, string, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, "", err
	}
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return nil, "", errors.Join(errors.New(notLoopback(address)), l.Close())
	}
	return l, net.JoinHostPort(host, fmt.Sprint(tcp.Port)), nil
}

// portTaken reports whether an address is in use by another process.
func portTaken(err error) bool {
	const windows = syscall.Errno(10048) // WSAEADDRINUSE
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windows)
}

// holder says what uses the page's port. The zero holder is another program.
type holder int

const (
	heldByStranger holder = iota
	heldByNobody          // nothing listens there
	heldBySame            // a Patterngate over the same state
	heldByOther           // a Patterngate over another one
)

// of returns the reason why the page cannot be there.
func (h holder) of(address string, cause error) string {
	switch h {
	case heldByOther:
		return pageOfOther(address)
	case heldByNobody:
		return cause.Error()
	}
	return usedByStranger(address)
}

const (
	holderTime  = time.Second // for its whole answer
	holderBytes = 1 << 10     // of its answer
	holderHead  = 4 << 10     // of everything before the answer
)

// whoHolds finds out what listens at an address, with a request to /healthz. The answer could come from any program. So
// there is one request with little time, and the answer counts only from this OS user, as far as the system reports it.
func whoHolds(ctx context.Context, address, state string) holder {
	ctx, cancel := context.WithTimeout(ctx, holderTime)
	defer cancel()
	var conn net.Conn // of the one request
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // without a proxy
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				var dialer net.Dialer
				c, err := dialer.DialContext(ctx, network, address)
				conn = c
				return c, err
			},
			DisableCompression: true, MaxResponseHeaderBytes: holderHead, // the connection stays open: the user of a closed one is unknown
		},
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return heldByStranger
	}
	response, err := client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.Errno(10061)) { // WSAECONNREFUSED
		return heldByNobody
	}
	if err != nil {
		return heldByStranger
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, holderBytes+1))
	var health web.Health
	if err != nil || len(text) > holderBytes || response.StatusCode != http.StatusOK || ijson.DecodeInto(text, &health) != nil {
		return heldByStranger
	}
	switch {
	case health.Patterngate == "" || !transport.SameUser(conn):
		return heldByStranger
	case health.State != state:
		return heldByOther
	}
	return heldBySame
}
