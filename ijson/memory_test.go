package ijson_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"patterngate/ijson"
)

// TestDecodeMemory holds what one text can make the process allocate, garbage included.
func TestDecodeMemory(t *testing.T) {
	fill := func(before, unit, after string) string {
		return before + strings.Repeat(unit, (ijson.MaxBytes-len(before)-len(after))/len(unit)) + after
	}
	names := new(strings.Builder)
	for i := 0; names.Len() < ijson.MaxBytes-20; i++ {
		fmt.Fprintf(names, `,"%x":0`, i)
	}
	tests := map[string]struct {
		text  string
		limit int // bytes allocated for each byte of the text
	}{
		"brackets":             {fill("", "[", ""), 1},
		"objects in objects":   {fill("", `{"a":`, ""), 1},
		"objects, lists":       {fill("", `{"a":[`, ""), 1},
		"a list of zeros":      {fill("[0", ",0", "]"), 64},
		"a list of lists":      {fill("[0", ",[]", "]"), 64},
		"a list of objects":    {fill("[0", ",{}", "]"), 64},
		"a list of {a:0}":      {fill("[0", `,{"a":0}`, "]"), 64},
		"a list of strings":    {fill("[0", `,"a"`, "]"), 64},
		"many names":           {"{" + names.String()[1:] + "}", 64},
		"one string":           {fill(`"`, "a", `"`), 3},
		"one escaped string":   {fill(`"`, `\n`, `"`), 8},
		"one number":           {fill("", "1", ""), 4},
		"one fraction":         {fill("0.", "1", ""), 4},
		"white space":          {fill("", " ", ""), 1},
		"a list, then a fault": {fill("[0", ",0", "x"), 64},
		"one long name, twice": {`{"` + strings.Repeat("a", ijson.MaxBytes/2-10) + `":0,"` + strings.Repeat("a", ijson.MaxBytes/2-10) + `":0}`, 8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if len(tt.text) > ijson.MaxBytes {
				t.Fatalf("the text has %d bytes, Decode does not look at it", len(tt.text))
			}
			text := []byte(tt.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v, err := ijson.Decode(text)
			runtime.ReadMemStats(&after)
			got := int(after.TotalAlloc-before.TotalAlloc) / len(text)
			t.Logf("%d bytes for each byte (refused: %v)", got, err != nil)
			if got >= tt.limit {
				t.Errorf("Decode allocated %d bytes for each byte of the text, want less than %d", got, tt.limit)
			}
			runtime.KeepAlive(v)
		})
	}
}

// TestRefusalsAreCheap holds that what is refused at its beginning costs no look at the rest.
func TestRefusalsAreCheap(t *testing.T) {
	for name, text := range map[string]string{
		"too deep":  strings.Repeat("[", ijson.MaxBytes),
		"too large": strings.Repeat("[", 8*ijson.MaxBytes),
	} {
		deep := []byte(text)
		allocations := testing.AllocsPerRun(10, func() {
			if _, err := ijson.Decode(deep); err == nil {
				t.Errorf("%s: accepted", name)
			}
		})
		if allocations > 40 {
			t.Errorf("%s: %v allocations, want at most 40", name, allocations)
		}
	}
}
