package transport

import (
	"strings"
	"testing"

	"patterngate/ijson"
)

// A text is not taken for lighter than what it becomes.
func TestWeightOf(t *testing.T) {
	for _, unit := range []string{"[]", "{}", `{"":0}`, `{"a":{"b":[]}}`, "0", `"a"`, `"abcdefghij"`, `[[[[0]]]]`} {
		text := []byte("[" + strings.Repeat(unit+",", 10_000) + "0]")
		v, err := ijson.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, holds := weightOf(text), ijson.Weight(v); got < holds || got > 20*holds {
			t.Errorf("%s: weighed as %d, holds %d", unit, got, holds)
		}
	}
}
