package catalog

import (
	"encoding/json"
	"testing"

	"patterngate/ijson"
)

// Splitting an object finds what decoding it finds, in its order, and putting it together gives the same value.
func FuzzMembersOf(f *testing.F) {
	for _, seed := range []string{`{}`, ` { "a" : 1 , "b\n" : [ "}" , {"c":"\\\""} ] , "" : null } `, `{"a":{"b":[[]]},"c":-1.5e3,"d":"x"}`, `[1]`, `"{}"`, `{"a":true}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ijson.Decode([]byte(text))
		if err != nil {
			return
		}
		object, isObject := v.(map[string]any)
		members := membersOf(json.RawMessage(text))
		if len(members) != len(object) || isObject != (members != nil) {
			t.Fatalf("membersOf(%s) finds %d members of %d", text, len(members), len(object))
		}
		for _, m := range members {
			if want, there := object[m.name]; !there || !ijson.Equal(want, m.decoded()) {
				t.Fatalf("membersOf(%s): %q is %s, want %v", text, m.name, m.value, want)
			}
		}
		if again, err := ijson.Decode(objectOf(members)); isObject && (err != nil || !ijson.Equal(again, v)) {
			t.Fatalf("objectOf(membersOf(%s)) = %v, %v", text, again, err)
		}
	})
}
