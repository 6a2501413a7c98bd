package server

import (
	"encoding/json"
	"testing"

	"patterngate/gateway"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

func BenchmarkPresent(b *testing.B) {
	c, ended := sent{kind: gateway.TaskDecomposition, arguments: `{"goal":"April"}`, replies: []string{modelPlan, "Net sales in April were 26,825 USD."}}.carriedOut(b)
	structured, text, err := outcome.Ended(c, ended).Present(32 << 10)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d + %d bytes", len(structured), len(text))
	b.Run("envelope", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			outcome.Ended(c, ended)
		}
	})
	e := outcome.Ended(c, ended)
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
			if _, _, err := outcome.Ended(c, ended).PresentIn(space, 32<<10); err != nil {
				b.Fatal(err)
			}
		}
	})
}
