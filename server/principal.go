package server

import (
	"context"
	"os"
	"strconv"

	"patterngate/server/transport"
)

// A principal is whose runs, sessions and parked proposals are looked up: "local:<uid>" for who started this process or
// reaches it over loopback as the same OS user, "token:<name>" for the holder of a bearer token (design section 7).
// What belongs to another principal is not found.

// principalOf is who asks: whom the transport named, else the user of this process.
func (s *Server) principalOf(ctx context.Context) string {
	if p, ok := transport.Principal(ctx); ok {
		return p
	}
	return s.principal
}

// localPrefix begins the name of every principal that is a user of this machine.
const localPrefix = "local:"

// localPrincipal is the user of this process.
func localPrincipal() string { return localPrefix + strconv.Itoa(os.Getuid()) }
