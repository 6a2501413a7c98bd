package transport

import (
	"runtime"
	"testing"
	"time"
)

// Messages as clients write them.
const (
	helloExample = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"legacy","version":"1"}}}`
	readyExample = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callExample  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_task_decomposition","arguments":` +
		`{"goal":"April report of manager 42","plan":{"steps":[` +
		`{"id":"a","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},` +
		`{"id":"b","title":"Sales","tool":"fetch_sales_data","args":{"month":"2026-04"}},` +
		`{"id":"c","title":"Refunds","tool":"fetch_refund_data","args":{"month":"2026-04"}},` +
		`{"id":"d","title":"Figures","tool":"calculate_monthly_kpis","args":{"month":"2026-04"}},` +
		`{"id":"e","title":"Risks","tool":"detect_risk_signals","args":{"month":"2026-04"}}]}}}}`
	modernExample = `{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"2"}},` +
		`"name":"route_ticket","arguments":{"ticket":"My invoice is wrong"}}}`
	cancelExample = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
)

// deadline is how long a test waits for what must come; a run that fails takes as long, one that passes does not.
const deadline = 20 * time.Second

// eventually tries until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(began) > deadline {
			t.Fatalf("%s: it did not happen", what)
		}
	}
}
