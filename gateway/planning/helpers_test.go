package planning_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// asked is the id of an approval.
const asked = "ap_00112233445566ff"

// demoCatalog holds the tools of the four reference patterns.
func demoCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// decoded is a JSON text as a value.
func decoded(t testing.TB, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// object is the text of a JSON object as a value.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	return decoded(t, text).(map[string]any)
}

// verdict is what a parser said: the stop reason, then a line for each problem. An accepted intent is nil.
func verdict(r *document.Refusal) []string {
	if r == nil {
		return nil
	}
	return append([]string{r.Reason}, lines(r.Problems)...)
}

// lines words problems as POINTER REASON, ?NAME for did_you_mean, and the repair: -POINTER takes away,
// POINTER=VALUE sets, POINTER<POINTER renames.
func lines(problems []document.Problem) []string {
	var list []string
	for _, p := range problems {
		words := []string{string(p.Pointer), p.Reason}
		if p.DidYouMean != "" {
			words = append(words, "?"+p.DidYouMean)
		}
		switch f := p.Fix; {
		case f == nil:
		case f.Remove:
			words = append(words, "-"+string(f.At))
		case f.From != "":
			words = append(words, string(f.At+"<"+f.From))
		default:
			words = append(words, string(f.At)+"="+compact(f.Value))
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
