package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

// TestAppendJSONIsEncodingJSON compares results of every shape with what encoding/json writes.
func TestAppendJSONIsEncodingJSON(t *testing.T) {
	for name, s := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			e := outcome.Ended(s.carriedOut(t))
			got, err := envelope.AppendJSON(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(withEncodingJSON(t, e), string(got)); diff != "" {
				t.Errorf("(-encoding/json +got):\n%s", diff)
			}
		})
	}
}

func withEncodingJSON(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return strings.ReplaceAll(text, `\u2028`, "\u2028") // encoding/json escapes it for JavaScript, which is no business of ours
}
