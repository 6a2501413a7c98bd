package httptool_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

// What a call costs beside a bare request of net/http, with a result of 5 KB.
func BenchmarkCall(b *testing.B) {
	url := replies(b, typed(200, "application/json", `{"text": "`+strings.Repeat("x", 5<<10)+`"}`))
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
		for b.Loop() {
			reply, err := client.Get(url + "/refunds/pg_1")
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.ReadAll(reply.Body)
			_ = reply.Body.Close()
		}
	})
	for name, effect := range map[string]catalog.Effect{"read": catalog.Read, "write": catalog.Write} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			tool := build(b, httptool.Config{URL: url + "/refunds/{key}", Effect: effect})
			for b.Loop() {
				if _, err := tool.Do(b.Context(), catalog.Call{Args: map[string]any{"key": "pg_1"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A file with many tools is read quickly.
func BenchmarkNew(b *testing.B) {
	config := httptool.Config{Name: "refund", Method: "POST", URL: "https://pay.example/v1/orders/{id}/refunds?dry={flag}", Effect: catalog.Write,
		Headers: []httptool.Header{{Name: "Accept", Text: "application/json"}}, Arguments: argument, Client: local(),
		Body: httptool.Body{Mapping: map[string]any{"amount": "{n}", "note": "for {id}"}}}
	for b.Loop() {
		if _, faults := httptool.New(config); faults != nil {
			b.Fatal(faults)
		}
	}
}
