package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

func outputSchema(t testing.TB) *catalog.Schema {
	t.Helper()
	text, err := envelopeSchema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := catalog.CompileSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEnvelopeSchemaIsOneThatClientsTake holds the rules for published schemas (design.md section 7).
func TestEnvelopeSchemaIsOneThatClientsTake(t *testing.T) {
	text := outputSchema(t).JSON()
	if most := 4 << 10; len(text) > most {
		t.Errorf("the output schema has %d bytes, want at most %d", len(text), most)
	}
	v, err := ijson.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	root, _ := v.(map[string]any)
	if root["type"] != "object" {
		t.Errorf("the root's type is %v, want object", root["type"])
	}
	if diff := cmp.Diff(any([]any{"status"}), root["required"]); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	walkSchema(t, "", root)
}

func walkSchema(t *testing.T, at string, schema map[string]any) {
	t.Helper()
	for name, v := range schema {
		if slices.Contains([]string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "$schema"}, name) {
			t.Errorf("%s/%s: clients drop schemas with it", at, name)
		}
		switch v := v.(type) {
		case map[string]any:
			if name == "properties" {
				for property, inner := range v {
					if object, ok := inner.(map[string]any); ok {
						walkSchema(t, at+"/"+property, object)
					} else {
						t.Errorf("%s/%s is %v, want a schema that is an object", at, property, inner)
					}
				}
				continue
			}
			walkSchema(t, at+"/"+name, v)
		case bool:
			t.Errorf("%s/%s is %v, want a schema that is an object", at, name, v)
		case []any:
			if name == "type" || name == "required" && at != "" {
				t.Errorf("%s/%s is a list", at, name)
			}
		}
	}
}

// TestEnvelopeSchemaNamesWhatEnvelopesHave compares the published shape with the struct that is encoded.
func TestEnvelopeSchemaNamesWhatEnvelopesHave(t *testing.T) {
	for name, pair := range map[string][2]reflect.Type{
		"envelope": {reflect.TypeFor[Envelope](), reflect.TypeFor[envelopeShape]()},
		"next":     {reflect.TypeFor[next](), reflect.TypeFor[nextShape]()},
		"problem":  {reflect.TypeFor[gateway.Problem](), reflect.TypeFor[problemShape]()},
		"effect":   {reflect.TypeFor[effect](), reflect.TypeFor[effectShape]()},
		"spent":    {reflect.TypeFor[patterns.Spent](), reflect.TypeFor[spentShape]()},
	} {
		encoded := memberNames(pair[0])
		if name == "envelope" { // less what the tools about runs add
			encoded = encoded[:slices.Index(encoded, "record")]
		}
		if diff := cmp.Diff(encoded, memberNames(pair[1])); diff != "" {
			t.Errorf("%s: members (-encoded +published):\n%s", name, diff)
		}
	}
}

// TestEnvelopeOrder holds the order of the contract's table.
func TestEnvelopeOrder(t *testing.T) {
	want := `status stop_reason phase run_id summary next waiting_for current problems
		answer answer_bytes plan route selected_route action aggregate failed_critical
		expected_statuses received_status bad_observation human_approval
		trace trace_omitted history history_omitted raw_plan raw_route raw_action
		effects effects_omitted budget usage filled joined demo record
		pattern created_at ended_at step`
	if diff := cmp.Diff(strings.Fields(want), memberNames(reflect.TypeFor[Envelope]())); diff != "" {
		t.Errorf("members in order (-want +got):\n%s", diff)
	}
}

func memberNames(t reflect.Type) []string {
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(names, f.name)
	}
	return names
}

// TestEnvelopesMeetTheSchema proves on results of every shape what is not checked when a result is made.
func TestEnvelopesMeetTheSchema(t *testing.T) {
	schema := outputSchema(t)
	for name, s := range shapes(t) {
		c, ended := s.carriedOut(t)
		for _, e := range map[string]Envelope{
			"ended": endedEnvelope(c, ended),
			"fault": faultEnvelope(c, ended, "f_00000000"),
			"refused": refusedEnvelope(c, []gateway.Problem{
				{Pointer: "/goal", Reason: "missing:goal", Want: "a text"},
			}),
		} {
			structured, _, err := e.present(limit)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			meets(t, schema, name, structured)
		}
	}
}

// meets checks a result against the schema, and that nothing is null that may not be.
func meets(t testing.TB, schema *catalog.Schema, name string, structured json.RawMessage) {
	t.Helper()
	v, err := ijson.Decode(structured)
	if err != nil {
		t.Fatalf("%s: structuredContent: %v\n%s", name, err, structured)
	}
	if wrong := schema.Check(v); len(wrong) > 0 {
		t.Errorf("%s: structuredContent does not meet its schema: %+v\n%s", name, wrong, structured)
	}
	root, _ := v.(map[string]any)
	for member, v := range root {
		if v == nil && member != "received_status" && member != "bad_observation" && !strings.HasPrefix(member, "raw_") {
			t.Errorf("%s: %s is null, want it absent", name, member)
		}
	}
}
