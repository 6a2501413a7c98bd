package server

import (
	"encoding/json"
	"testing"

	"patterngate/gateway"
	"patterngate/server/envelope"
)

func BenchmarkPresent(b *testing.B) {
	c, ended := sent{kind: gateway.TaskDecomposition, arguments: `{"goal":"April"}`, replies: []string{modelPlan, "Net sales in April were 26,825 USD."}}.carriedOut(b)
	structured, text, err := endedEnvelope(c, ended).Present(32 << 10)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d + %d bytes", len(structured), len(text))
	b.Run("envelope", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			endedEnvelope(c, ended)
		}
	})
	e := endedEnvelope(c, ended)
	b.Run("structured maps", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("structured own maps", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := envelope.AppendJSON(make([]byte, 0, 8<<10), e); err != nil {
				b.Fatal(err)
			}
		}
	})
	space := envelope.NewScratch()
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := endedEnvelope(c, ended).PresentIn(space, 32<<10); err != nil {
				b.Fatal(err)
			}
		}
	})
}
