package server

import (
	"context"
	"os"
	"strconv"

	"patterngate/server/arguments"
	"patterngate/server/transport"
)

// A principal is a requester: "local:<uid>" for the OS user of this process, over stdio or over loopback, and
// "token:<name>" for the holder of a bearer token. Runs, sessions and waiting proposals belong to a principal. For
// every other principal they do not exist.

// principalOf returns the requester that the transport named, or the user of this process.
func (s *Server) principalOf(ctx context.Context) string {
	if p, ok := transport.Principal(ctx); ok {
		return p
	}
	return s.principal
}

// localPrincipal returns the principal of the user of this process.
func localPrincipal() string { return arguments.LocalPrefix + strconv.Itoa(os.Getuid()) }
