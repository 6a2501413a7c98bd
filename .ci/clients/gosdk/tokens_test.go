package gosdk

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTokens: who has none or a wrong one is refused, and one principal's run is nobody else's.
func TestTokens(t *testing.T) {
	in := readScript(t)
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("ann: 0123456789abcdef-ann\nbob: 0123456789abcdef-bob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{legacy, modern} {
		t.Run(era, func(t *testing.T) {
			url, _ := serveHTTP(t, "--token-file", file)
			as := func(token string) *mcp.StreamableClientTransport {
				return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "nobody", Version: "1"}, nil)
			for _, token := range []string{"", "wrong", "0123456789abcdef-an"} {
				if _, err := client.Connect(t.Context(), as(token), nil); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
					t.Errorf("with the token %q Connect() = %v, want Unauthorized", token, err)
				}
			}
			ann, bob := connect(t, era, as("0123456789abcdef-ann")), connect(t, era, as("0123456789abcdef-bob"))
			listsTools(t, ann, in)
			listsTools(t, bob, in)
			const tool = "supervised_refund"
			at := ann.expect(t, ann.call(t, tool, own(map[string]any{"goal": in.Refund.Goal, "actions": []any{}})), expected{Tool: tool, Status: "waiting"})
			on := map[string]any{"run_id": at.RunID, "actions": in.Refund.Actions}
			bob.expect(t, bob.call(t, tool, on), expected{Tool: tool, Status: "refused", Reason: "invalid_request:not_found:run_id"})
			if _, err := bob.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "patterngate://runs/" + at.RunID}); err == nil {
				t.Error("bob reads ann's run")
			}
			for _, about := range []string{"run_status", "run_wait", "run_cancel"} {
				bob.expect(t, bob.call(t, about, map[string]any{"run_id": at.RunID}), expected{Tool: about, Status: "refused", Reason: "invalid_request:not_found:run_id"})
			}
			ann.expect(t, ann.call(t, tool, on), expected{Tool: tool, Status: "ok", Reason: "success"})
			if e := ann.run(t, at.RunID); e.StopReason != "success" {
				t.Errorf("ann's own run reads as %+v, want success", e)
			}
			for _, s := range []*session{ann, bob} {
				if err := s.Close(); err != nil {
					t.Errorf("Close() = %v", err)
				}
			}
		})
	}
}
