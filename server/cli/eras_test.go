package cli

import "github.com/mark3labs/mcp-go/mcp"

// The protocol's eras: with a handshake, and without.
const (
	eraHandshake = "2025-11-25"
	eraStateless = mcp.ProtocolVersion20260728
)
