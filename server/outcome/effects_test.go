package outcome

import (
	"fmt"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
)

// TestEffectsLeaveOutOldReadsFirst: at most 100 rows, and writes stay as long as there are reads to leave out.
func TestEffectsLeaveOutOldReadsFirst(t *testing.T) {
	var ledger []gateway.Entry
	for i := range 130 {
		e := gateway.Entry{Key: fmt.Sprint(i), Effect: catalog.Read}
		if i%10 == 0 {
			e.Effect = catalog.Write
		}
		ledger = append(ledger, e)
	}
	list, omitted := effects(ledger)
	writes := 0
	for _, e := range list {
		if e.Effect == "write" {
			writes++
		}
	}
	if len(list) != 100 || omitted != 30 || writes != 13 || list[0].Key != "0" || list[len(list)-1].Key != "129" || list[1].Key != "10" {
		t.Errorf("got %d rows, %d omitted, %d writes, from %v; want 100, 30, all 13 and the newest reads", len(list), omitted, writes, list[:3])
	}
}
