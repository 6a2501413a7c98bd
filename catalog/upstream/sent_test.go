package upstream

import (
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// hasty is a server that answers a request before the write of it returns.
type hasty struct {
	answers *io.PipeWriter
	over    chan struct{} // closed when the request is over
}

func (h hasty) Write(text []byte) (int, error) {
	if _, err := io.WriteString(h.answers, `{"jsonrpc":"2.0","id":"1","result":7}`+"\n"); err != nil {
		return 0, err
	}
	<-h.over
	return len(text), nil
}

func (h hasty) Close() error { return h.answers.Close() }

// A request that was answered was sent, however quick the answer was.
func TestAnsweredIsSent(t *testing.T) {
	in, answers := io.Pipe()
	h := hasty{answers, make(chan struct{})}
	p := newPipes(in, h)
	defer p.Close()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := &trace{}
	r, err := p.SendRequest(withTrace(t.Context(), sent), transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId("1"), Method: "tools/call"})
	if err != nil || !strings.Contains(string(r.Result), "7") {
		t.Fatalf("answered %+v, %v", r, err)
	}
	if !sent.read().sent {
		t.Error("nothing was sent, and yet it was answered")
	}
	close(h.over)
}
