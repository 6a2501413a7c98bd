package cli

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

// listenHere listens at a loopback address. The address that is returned is as a URL has it: what was asked for, with the
// port that was had.
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
		return nil, "", errors.Join(fmt.Errorf("listen %s: it is not loopback", address), l.Close())
	}
	return l, net.JoinHostPort(host, fmt.Sprint(tcp.Port)), nil
}

// portTaken reports that an address could not be had because somebody else has it.
func portTaken(err error) bool {
	const windows = syscall.Errno(10048) // WSAEADDRINUSE
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windows)
}

// holder says whose the page's port is. The zero holder is a stranger.
type holder int

const (
	heldByStranger holder = iota
	heldByNobody          // nothing listens there
	heldBySame            // a Patterngate over the same state
	heldByOther           // a Patterngate over another one
)

// of says it in words, where nothing can be done there.
func (h holder) of(address string, cause error) string {
	switch h {
	case heldByOther:
		return address + " is the inbox of a Patterngate with another state file"
	case heldByNobody:
		return causeOf(cause)
	}
	return address + " is taken by another program"
}

const (
	holderTime  = time.Second // for its whole answer
	holderBytes = 1 << 10     // of its answer
	holderHead  = 4 << 10     // and of what stands before that
)

// whoHolds asks who listens at an address, by the door's /healthz. What answers may be anybody: it gets one request, little
// time, and is believed only where it belongs to this OS user, as far as the system tells.
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
			DisableCompression: true, MaxResponseHeaderBytes: holderHead, // it stays open: whose a closed one was nobody can tell
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
