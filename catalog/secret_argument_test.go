package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
)

// An argument that is a secret is put in when the call is sent: what the server's schema says of it judges the server, and *** in
// its place hinders no call.
func TestSecretArgumentHindersNoCall(t *testing.T) {
	for name, raw := range map[string]string{
		"open":             `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"string"}},"required":["q","token"]}`,
		"closed":           `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"string"}},"required":["q","token"],"additionalProperties":false}`,
		"closed otherwise": `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"string"}},"required":["token"],"unevaluatedProperties":false}`,
		"of a form":        `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"string","minLength":20,"pattern":"^tok_"}},"required":["token"],"additionalProperties":false}`,
		"a number":         `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"integer","minimum":5}},"dependentRequired":{"q":["token"]},"additionalProperties":false}`,
		"an object":        `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"object","required":["a"]}},"additionalProperties":false}`,
		"counted":          `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"type":"string"}},"minProperties":2,"maxProperties":2}`,
		"in a part":        `{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{}},"allOf":[{"properties":{"token":{"minLength":20}},"required":["token"]}]}`,
		"by a reference":   `{"$ref":"#/$defs/args","$defs":{"args":{"type":"object","properties":{"q":{"type":"string","maxLength":3},"token":{"pattern":"^tok_"}},"required":["token"],"additionalProperties":false}}}`,
	} {
		whole := upstream(t, raw)
		for also, s := range map[string]*catalog.Schema{"hidden": whole.Hiding("token"), "without": whole.Without("token")} {
			t.Run(name+", "+also, func(t *testing.T) {
				if name == "in a part" && also == "without" || name == "a number" && also == "without" {
					return // what is left speaks of an argument that is cut off
				}
				tool := catalog.Tool{Input: whole.Shown().Without("token"), Also: []*catalog.Schema{s}, Fixed: map[string]any{"token": catalog.Masked}}
				if wrong := tool.Check(map[string]any{"q": "abc"}); wrong != nil {
					t.Errorf("a call that fits is refused: %v", wrong)
				}
				if wrong := tool.Check(map[string]any{"q": "abcd"}); len(wrong) != 1 || wrong[0].Pointer != "/q" {
					t.Errorf("a call that does not fit: %v, want /q refused", wrong)
				}
				if wrong := tool.Check(map[string]any{"q": "abc", "token": catalog.Masked}); len(wrong) != 1 || wrong[0].Pointer != "/token" || wrong[0].Kind != catalog.MismatchUnknown {
					t.Errorf("a call that names the secret: %v, want /token unknown", wrong)
				}
			})
		}
	}
}

// Rules see the secret's place as a text, without anything that the server says of the value.
func TestHidingLeavesAText(t *testing.T) {
	whole := upstream(t, `{"type":"object","properties":{"q":{"type":"string"},"token":{"enum":["a","b"],"default":"a"}},"required":["token"],"additionalProperties":false,"examples":[{"token":"b"}],"const":{"token":"a"}}`)
	var got, want any
	if err := json.Unmarshal(whole.Hiding("token", "none").JSON(), &got); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{"type":"object","properties":{"q":{"type":"string"},"token":{"type":"string","description":"Set by the configuration."}},"required":["token"],"additionalProperties":false}`), &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Hiding (-want +got):\n%s", diff)
	}
	if whole.Hiding("none") != whole || whole.Hiding() != whole || (*catalog.Schema)(nil).Hiding("x") != nil {
		t.Error("nothing is hidden, and yet it is another schema")
	}
}
