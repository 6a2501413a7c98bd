package offline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Words of made-up catalogs and goals: few, so that results and arguments meet, in circles too.
var (
	things   = []string{"order", "parcel", "van", "user", "a/b", "x~y", "Größe", "city"}
	makings  = []string{"get", "find", "list", "Track", "open", "cancel"}
	formerly = []string{"_id", "", "_month", "_date", "s"}
)

func drawnName(t *rapid.T, label string) string {
	return rapid.SampledFrom(things).Draw(t, label) + rapid.SampledFrom(formerly).Draw(t, label+" ending")
}

// drawnSchema is an object schema of a few members, some of them lists or objects of others.
func drawnSchema(t *rapid.T, label string, deep int) map[string]any {
	properties, required := map[string]any{}, []any{}
	for range rapid.IntRange(0, 3).Draw(t, label+" members") {
		name := drawnName(t, label)
		switch kind := rapid.SampledFrom([]string{"string", "integer", "number", "boolean", "object", "array", "string", "", "null"}).Draw(t, label+" kind"); {
		case deep == 0 && (kind == "object" || kind == "array") || kind == "":
			properties[name] = map[string]any{}
		case kind == "object":
			properties[name] = drawnSchema(t, label, deep-1)
		case kind == "array":
			properties[name] = map[string]any{"type": "array", "items": drawnSchema(t, label, deep-1)}
		case kind == "string" && rapid.Bool().Draw(t, label+" enum"):
			properties[name] = map[string]any{"type": []any{"string", "null"}}
		case kind == "string" && rapid.Bool().Draw(t, label+" members"):
			properties[name] = map[string]any{"type": kind, "enum": []any{"Lyon", []any{}, map[string]any{}}}
		default:
			properties[name] = map[string]any{"type": kind}
		}
		if rapid.Bool().Draw(t, label+" required") && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
}

func drawnTools(t *rapid.T) []catalog.Tool {
	var tools []catalog.Tool
	for i := range rapid.IntRange(1, 6).Draw(t, "tools") {
		input, err := catalog.CompileSchema(ijson.Canonical(drawnSchema(t, "input", 0)))
		if err != nil {
			t.Fatal(err)
		}
		output, err := catalog.CompileSchema(ijson.Canonical(drawnSchema(t, "output", 2)))
		if err != nil {
			t.Fatal(err)
		}
		tool := catalog.Tool{
			Name:        fmt.Sprintf("%s_%s_%d", rapid.SampledFrom(makings).Draw(t, "verb"), rapid.SampledFrom(things[:4]).Draw(t, "thing"), i),
			Description: "What is known of an " + rapid.SampledFrom(things).Draw(t, "described") + ".", Effect: catalog.Read, Input: input, Output: output,
			Do: func(context.Context, catalog.Call) (any, error) { return nil, nil },
		}
		if rapid.IntRange(0, 3).Draw(t, "writes") == 0 {
			tool.Effect = catalog.Write
		}
		tools = append(tools, tool)
	}
	return tools
}

// Over whatever catalog, each plan that the rules make is one that the gate accepts, and the same question has the same plan.
func TestSubtasksOverAnyCatalog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := drawnTools(t)
		var words []string
		for range rapid.IntRange(1, 12).Draw(t, "words") {
			words = append(words, rapid.SampledFrom(append(slices.Clone(things), "get", "track", "cancel", "the", "and,", "order_id=ORD-7", "user 42",
				"2026-04", "2026-04-17,", "summary", "of", "Lyon", `"$results.x"`)).Draw(t, "word"))
		}
		strategy := rapid.SampledFrom([]planning.Strategy{planning.Flat, planning.Hierarchical, planning.Iterative}).Draw(t, "strategy")
		limit, deepest := rapid.IntRange(1, 6).Draw(t, "limit"), rapid.IntRange(1, 4).Draw(t, "deepest")
		q := planQuestion(tools, map[string]any{
			"goal": strings.Join(words, " "), "strategy": string(strategy), "max_subtasks": float64(limit), "max_depth": float64(deepest)})
		first, err := llmFresh().Ask(context.Background(), q)
		second, _ := llmFresh().Ask(context.Background(), q)
		if !cmp.Equal(first, second) {
			t.Fatalf("two plans for one question: %s and %s", first.Text, second.Text)
		}
		var fault *patterns.ModelFault
		if errors.As(err, &fault) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		judged(t, first.Text, tools, planning.Rules{Strategy: strategy, Min: 1, Max: limit, MaxDepth: deepest})
	})
}
