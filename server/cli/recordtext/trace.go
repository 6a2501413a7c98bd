package recordtext

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// Trace returns one line for each event of a record, cut to the width.
func Trace(events []patterns.Event, width int) string {
	const keyColumn, hashDigits = 28, 8
	var b strings.Builder
	for _, e := range events {
		hash := hex.EncodeToString(e.Hash)
		left := fmt.Sprintf("%4d  %s  %-7s  %-*s  %s  ", e.Seq, time.UnixMicro(e.At).UTC().Format("15:04:05.000"),
			console.Clip(string(e.Kind), 8), keyColumn, console.Cell(e.Key, keyColumn, width), hash[:min(hashDigits, len(hash))])
		room := width
		if !console.IsWhole(width) {
			room = max(10, width-len([]rune(left)))
		}
		b.WriteString(left + console.OneLine(e.Body, room) + "\n")
	}
	return b.String()
}
