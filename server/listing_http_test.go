package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Over HTTP tools/list is byte for byte what mcp-go answers by itself, in both eras and after a reload. It is made of the list that was
// encoded once, as over stdio.
func TestListEncodedOnceOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		name, list := "handshake", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
		if modern {
			name, list = "stateless", modernLine(7, "tools/list", "")
		}
		t.Run(name, func(t *testing.T) {
			s := serving(t)
			h := listening(t, s)
			c := h.connect(modern, nil)
			check := func() {
				t.Helper()
				bare, err := json.Marshal(s.mcp.HandleMessage(t.Context(), json.RawMessage(list)))
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					a := h.post(c.head("tools/list", ""), list)
					_, got, event := strings.Cut(a.body, `data: {"jsonrpc":"2.0","id"`) // after a reload notifications come before it
					if got = strings.TrimSpace(got); event {
						got = `{"jsonrpc":"2.0","id"` + got
					} else {
						got = strings.TrimSpace(a.body)
					}
					if a.status != 200 || got != string(bare) || !bytes.Contains(bare, []byte(td)) {
						t.Fatalf("status %d, over HTTP\n%.300s\nby itself\n%.300s", a.status, a.body, bare)
					}
				}
				if s.newest().encoded.list == nil {
					t.Error("the answer was not made of the list that was encoded once")
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
