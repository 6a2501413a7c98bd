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
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

// outputSchema is a schema of all members that results may have.
func outputSchema(t testing.TB) *catalog.Schema {
	t.Helper()
	return compiled(t, envelope.SchemaOf(reflect.TypeFor[envelope.Envelope](), func(string) bool { return true }))
}

func compiled(t testing.TB, text json.RawMessage) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEnvelopeSchemaIsOneThatClientsTake holds the rules for published schemas (design.md section 7).
func TestEnvelopeSchemaIsOneThatClientsTake(t *testing.T) {
	for _, spec := range everySpec(t) {
		text := envelope.Schema(spec)
		if most := 4 << 10; len(text) > most {
			t.Errorf("%s: the output schema has %d bytes, want at most %d", spec.Name, len(text), most)
		}
		v, err := ijson.Decode(compiled(t, text).JSON())
		if err != nil {
			t.Fatal(err)
		}
		root, _ := v.(map[string]any)
		if root["type"] != "object" {
			t.Errorf("%s: the root's type is %v, want object", spec.Name, root["type"])
		}
		if diff := cmp.Diff(any([]any{"status"}), root["required"]); diff != "" {
			t.Errorf("%s: required (-want +got):\n%s", spec.Name, diff)
		}
		walkSchema(t, "", root)
	}
}

// everySpec are the specs of all tools that have an output schema of their own.
func everySpec(t testing.TB) []patterns.Spec {
	var specs []patterns.Spec
	for _, p := range withPlanning(builtins(t), true) {
		specs = append(specs, p.Spec)
	}
	call := patterns.Spec{Name: "get_manager_profile", Kind: gateway.Call, Tool: "get_manager_profile", Catalog: specs[0].Catalog}
	return append(specs, statusSpec(specs[len(specs)-1]), call)
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

// TestEveryMemberIsInSomeSchema holds that no member of a result is forgotten, and that each of planning's is some tool's.
func TestEveryMemberIsInSomeSchema(t *testing.T) {
	named := ""
	s := serving(t, offersPlanning)
	outputs := s.Outputs()
	for _, tool := range s.Tools() {
		named += string(outputs[tool.Name])
		delete(outputs, tool.Name)
	}
	if len(outputs) > 0 {
		t.Errorf("output schemas of tools that are not listed: %v", outputs)
	}
	for _, spec := range everySpec(t) {
		named += string(envelope.Schema(spec))
	}
	for _, name := range memberNames(reflect.TypeFor[envelope.Envelope]()) {
		if !strings.Contains(named, `"`+name+`":{`) {
			t.Errorf("no output schema names %s", name)
		}
	}
}

// TestEnvelopeOrder holds the order of the contract's table.
func TestEnvelopeOrder(t *testing.T) {
	want := `status stop_reason phase answered run_id summary next waiting_for current problems
		answer answer_bytes plan route selected_route action aggregate failed_critical
		expected_statuses received_status bad_observation observation human_approval block
		trace trace_omitted history history_omitted raw_plan raw_route raw_action
		effects effects_omitted budget usage filled joined demo record
		dry_run verdict judged judged_omitted
		pattern created_at ended_at step
		plan_id revision subtask_count levels levels_omitted subtasks_omitted plan_status progress replan_count
		ready running waiting failed skipped blocked in_doubt ids_omitted preserved added removed rationale
		subtask_results results_omitted open resumable details
		goal strategy metadata last_run last_stop_reason revisions subtasks plans next_cursor`
	if diff := cmp.Diff(strings.Fields(want), memberNames(reflect.TypeFor[envelope.Envelope]())); diff != "" {
		t.Errorf("members in order (-want +got):\n%s", diff)
	}
}

func memberNames(t reflect.Type) []string {
	var names []string
	envelope.SchemaOf(t, func(name string) bool {
		names = append(names, name)
		return true
	})
	return names
}

// TestEnvelopesMeetTheSchema proves on results of every shape what is not checked when a result is made.
func TestEnvelopesMeetTheSchema(t *testing.T) {
	schema := outputSchema(t)
	for name, s := range shapes(t) {
		c, ended := s.carriedOut(t)
		for _, e := range map[string]envelope.Envelope{
			"ended": outcome.Ended(c, ended),
			"fault": outcome.Fault(c, ended, "f_00000000"),
			"refused": outcome.Refused(c, []document.Problem{
				{Pointer: "/goal", Reason: "missing:goal", Want: "a text"},
			}),
		} {
			structured, _, err := e.Present(limit)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			meets(t, schema, name, structured)
			named(t, c.Spec, name, structured)
		}
	}
}

// named holds that a tool's output schema names all members of a result.
func named(t testing.TB, spec patterns.Spec, name string, structured json.RawMessage) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(structured, &members); err != nil {
		t.Fatal(err)
	}
	schema := string(envelope.Schema(spec))
	for member := range members {
		if !strings.Contains(schema, `"`+member+`":{`) {
			t.Errorf("%s: the output schema of %s does not name %s", name, spec.Name, member)
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
