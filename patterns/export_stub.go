package patterns

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"time"
)

// ExportRecord is a run's record as JSON Lines (spec/surface.md section 7). A stand-in until the export lands.
func ExportRecord(runID, pattern string, events []Event, exportedAt time.Time) []byte {
	var b bytes.Buffer
	line := func(v any) {
		text, _ := json.Marshal(v)
		b.Write(append(text, '\n'))
	}
	head := HeadOf(events)
	line(struct {
		Kind       string `json:"kind"`
		Format     int    `json:"format"`
		RunID      string `json:"run_id"`
		Pattern    string `json:"pattern"`
		Events     int64  `json:"events"`
		Head       string `json:"head"`
		ExportedAt string `json:"exported_at"`
		Keys       []any  `json:"keys"`
	}{"patterngate.export", 1, runID, pattern, head.Events, hex.EncodeToString(head.Hash), exportedAt.UTC().Format(time.RFC3339), []any{}})
	for _, e := range events {
		line(struct {
			Seq  int64           `json:"seq"`
			At   int64           `json:"at"`
			Kind EventKind       `json:"kind"`
			Key  string          `json:"key"`
			Hash string          `json:"hash"`
			Body json.RawMessage `json:"body"`
		}{e.Seq, e.At, e.Kind, e.Key, hex.EncodeToString(e.Hash), e.Body})
	}
	return b.Bytes()
}
