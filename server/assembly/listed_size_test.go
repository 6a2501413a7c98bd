package assembly

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// The limits of the default tools/list, for each protocol revision. Every conversation of every client pays for it.
const (
	maxListBytes  = 16 << 10
	maxListTokens = 4000 // of o200k_base
)

// listings are one tools/list over stdio for each served protocol revision.
var listings = map[string]string{
	"2025-11-25": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","id":7,"method":"tools/list"}` + "\n",
	"2026-07-28": `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n",
}

// listedResult returns the result of a tools/list of the default configuration, as it is sent.
func listedResult(t *testing.T, input string) json.RawMessage {
	t.Helper()
	return answered(t, embedded(t), input)
}

// answered returns the result with id 7 of what a server with a configuration answers over stdio.
func answered(t *testing.T, loaded Loaded, input string) json.RawMessage {
	t.Helper()
	s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(input), &out); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var m struct {
			ID     int
			Result json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if m.ID == 7 {
			return m.Result
		}
	}
	t.Fatalf("no answer with id 7 in %s", &out)
	return nil
}

// TestListedSize holds the default tools/list to its size in both protocol revisions. It writes the figures to
// docs/models.md.
func TestListedSize(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	tokens := func(text []byte) int {
		n, err := codec.Count(string(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var tools []json.RawMessage
	for version, input := range listings {
		result := listedResult(t, input)
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(result, &list); err != nil {
			t.Fatal(err)
		}
		tools = list.Tools
		if n := tokens(result); len(tools) != 13 || len(result) > maxListBytes || n > maxListTokens {
			t.Errorf("%s: tools/list has %d tools, %d bytes and %d tokens; want 13, at most %d and %d", version, len(tools), len(result), n, maxListBytes, maxListTokens)
		} else {
			t.Logf("%s: %d bytes, %d tokens", version, len(result), n)
		}
	}
	var b strings.Builder
	b.WriteString("| Tool | Bytes | Tokens |\n|---|---|---|\n")
	bytesOfAll, tokensOfAll := 0, 0
	for _, tool := range tools {
		var named struct{ Name string }
		if err := json.Unmarshal(tool, &named); err != nil {
			t.Fatal(err)
		}
		n := tokens(tool)
		bytesOfAll, tokensOfAll = bytesOfAll+len(tool), tokensOfAll+n
		fmt.Fprintf(&b, "| `%s` | %d | %d |\n", named.Name, len(tool), n)
	}
	fmt.Fprintf(&b, "| together | %d | %d |\n", bytesOfAll, tokensOfAll)
	generated(t, "../../docs/models.md", "listing", b.String(), *update)
}
