package catalog_test

import (
	"testing"

	"patterngate/catalog"
)

// A server's schema that does not say what else there may be is closed; one that says so is as it says.
func TestClosed(t *testing.T) {
	for name, tt := range map[string]struct {
		schema string
		args   map[string]any
		fits   bool
	}{
		"silent, known":   {`{"type":"object","properties":{"path":{"type":"string"}}}`, map[string]any{"path": "a"}, true},
		"silent, unknown": {`{"type":"object","properties":{"path":{"type":"string"}}}`, map[string]any{"path": "a", "dry_run": true}, false},
		"nothing at all":  {`{"type":"object"}`, map[string]any{"any": 1.0}, false},
		"said to be open": {`{"type":"object","properties":{"a":{}},"additionalProperties":true}`, map[string]any{"b": 1.0}, true},
		"by a pattern":    {`{"type":"object","patternProperties":{"^x_":{"type":"string"}}}`, map[string]any{"x_a": "1"}, true},
		"by parts":        {`{"type":"object","anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, map[string]any{"b": 1.0}, true},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := catalog.CompileUpstream([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			closed := whole.Shown().Closed(whole)
			if wrong := closed.Check(tt.args); (len(wrong) == 0) != tt.fits {
				t.Errorf("%s of %v: %v, want it to fit: %v", closed.JSON(), tt.args, wrong, tt.fits)
			}
		})
	}
}
