package ijson_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"patterngate/ijson"
)

// Weight says what a value holds, within a factor of two.
func TestWeight(t *testing.T) {
	names := new(strings.Builder)
	for i := range 20_000 {
		fmt.Fprintf(names, `,"%x":0.5`, i)
	}
	tests := map[string]string{
		"a list of lists":   "[[]" + strings.Repeat(",[]", 100_000) + "]",
		"a list of objects": "[{}" + strings.Repeat(",{}", 100_000) + "]",
		"a list of {a:[]}":  "[{}" + strings.Repeat(`,{"a":[]}`, 50_000) + "]",
		"a list of numbers": "[0" + strings.Repeat(",1.5", 100_000) + "]",
		"a list of strings": "[0" + strings.Repeat(`,"abcdefghijklmnop"`, 50_000) + "]",
		"many names":        "{" + names.String()[1:] + "}",
		"one string":        `"` + strings.Repeat("a", 1_000_000) + `"`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			v, err := ijson.Decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			held := int(after.HeapAlloc) - int(before.HeapAlloc)
			if got := ijson.Weight(v); got < held/2 || got > 2*held {
				t.Errorf("Weight %d, want about the %d bytes that it holds", got, held)
			}
			runtime.KeepAlive(v)
		})
	}
}
