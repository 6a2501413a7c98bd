package record

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestActsAsOthersSawThem(t *testing.T) {
	acts := Read(events(
		`0 start - {"run_id":"run_1","pattern":"p","pattern_kind":"call","principal":"local:1"}`,
		`1 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k1","input":{"cents":5}}`,
		`2 outcome pay#1 {"state":"failed","reason":"unavailable"}`,
		`3 intent pay#2 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k1","input":{"cents":5}}`,
		`5 outcome pay#2 {"state":"ok","output":{"id":7}}`,
		`6 intent pay#3 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k2","input":{"cents":{"$redacted":"sha256:00"}}}`,
		`7 outcome refused#1 {"state":"canceled","reason":"cancelled"}`,
	)).Acts()
	seen := func(second int64) string {
		var list []string
		for _, a := range acts {
			if e, begun := a.At(time.Unix(second, 0)); begun {
				list = append(list, fmt.Sprintf("%s %s %v %t", e.Key, e.Status, e.Observation, a.Hidden))
			}
		}
		return strings.Join(list, "; ")
	}
	for second, want := range map[int64]string{
		0: "", 1: "pay#1 reserved <nil> false", 4: "pay#1 reserved <nil> false", 5: "pay#1 done map[id:7] false",
		9: "pay#1 done map[id:7] false; pay#3 reserved <nil> true",
	} {
		if got := seen(second); got != want {
			t.Errorf("after %d s: %s, want %s", second, got, want)
		}
	}
	if len(acts) != 2 || acts[0].Entry.RunID != "run_1" || acts[0].Principal != "local:1" {
		t.Errorf("acts %+v", acts)
	}
}
