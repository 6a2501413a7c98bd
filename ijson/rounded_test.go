package ijson_test

import (
	"math"
	"strings"
	"testing"

	"patterngate/ijson"
)

func TestRounded(t *testing.T) {
	for text, want := range map[string]string{
		`{"maximum":9223372036854775807}`:                          `{"maximum":9.223372036854776e+18}`,
		`{"a":[-9223372036854775808, 18446744073709551615],"b":1}`: `{"a":[-9.223372036854776e+18, 1.8446744073709552e+19],"b":1}`,
		`9007199254740992`:                                         `9.007199254740992e+15`,
		`9007199254740991`:                                         `9007199254740991`,
		`{"9223372036854775807":"\"9223372036854775807"}`:          `{"9223372036854775807":"\"9223372036854775807"}`,
		`9223372036854775807.5`:                                    `9223372036854775807.5`,
		`{"a":` + strings.Repeat("9", 400) + `}`:                   `{"a":` + strings.Repeat("9", 400) + `}`,
		`"open 9223372036854775807`:                                `"open 9223372036854775807`,
	} {
		if got := string(ijson.Rounded([]byte(text))); got != want {
			t.Errorf("Rounded(%.60s) = %.80s, want %.80s", text, got, want)
		}
	}
	v, err := ijson.Decode(ijson.Rounded([]byte(`[9223372036854775807]`)))
	if list, ok := v.([]any); err != nil || !ok || list[0] != math.Pow(2, 63) {
		t.Errorf("Decode(Rounded) = %v, %v", v, err)
	}
}
