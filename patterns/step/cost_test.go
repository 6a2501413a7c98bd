package step

import (
	"strings"
	"testing"

	"patterngate/patterns"
)

func TestEstimateCountsWhatIsSent(t *testing.T) {
	t.Parallel()
	price := patterns.Price{InputUSD: 2, OutputUSD: 8}
	for payload, input := range map[string]int{
		"":                          1000,
		"abcd":                      1001,
		"abcde":                     1002,
		strings.Repeat("\u4e2d", 4): 1006, // \u4e2d is sent in 6 bytes
		"\U0001F600":                1003, // in 12
	} {
		e := EstimateOf([]byte(payload), price)
		if e.Input != input || e.Output != 500 || e.Tokens() != input+500 || e.USD != price.Of(input, 500) {
			t.Errorf("%q is estimated at %+v, want %d tokens in", payload, e, input)
		}
	}
	if got := price.Of(1_000_000, 500_000); got != 6 {
		t.Errorf("a million in and half a million out cost %v", got)
	}
}
