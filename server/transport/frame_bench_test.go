package transport

import "testing"

// BenchmarkFrame measures what the transport adds to a line before mcp-go sees it.
func BenchmarkFrame(b *testing.B) {
	line := []byte(callExample)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readFrame(line); err != nil {
			b.Fatal(err)
		}
		tamed(line)
	}
}
