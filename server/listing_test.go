package server

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// Over stdio tools/list is byte for byte what mcp-go answers by itself, in both eras, also while several ask and after a reload.
func TestListEncodedOnce(t *testing.T) {
	const modern = `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`
	for name, params := range map[string]string{"handshake": "", "stateless": modern} {
		t.Run(name, func(t *testing.T) {
			s := serving(t)
			list := `{"jsonrpc":"2.0","id":7,"method":"tools/list"` + params + `}`
			answers := func() (bare []byte, lines [][]byte) {
				text := list + "\n" + strings.Replace(list, `"id":7`, `"id":8`, 1) + "\n"
				if params == "" {
					text = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" + text
				}
				var out bytes.Buffer
				if err := s.ServeStdio(t.Context(), strings.NewReader(text), &out); err != nil && err != io.EOF {
					t.Fatal(err)
				}
				for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
					if bytes.Contains(line, []byte(`"tools":[`)) {
						lines = append(lines, bytes.Replace(line, []byte(`"id":8`), []byte(`"id":7`), 1))
					}
				}
				bare, err := json.Marshal(s.mcp.HandleMessage(t.Context(), json.RawMessage(list)))
				if err != nil {
					t.Fatal(err)
				}
				return bare, lines
			}
			check := func() {
				t.Helper()
				bare, lines := answers()
				if len(lines) != 2 || !bytes.Contains(bare, []byte(td)) {
					t.Fatalf("%d answers; %.300s", len(lines), bare)
				}
				for _, line := range lines {
					if !bytes.Equal(line, bare) {
						t.Errorf("over stdio\n%.300s\nby itself\n%.300s", line, bare)
					}
				}
			}
			check()
			config := s.config
			config.Patterns = config.Patterns[:2]
			if err := s.Replace(config); err != nil {
				t.Fatal(err)
			}
			check()
		})
	}
}
