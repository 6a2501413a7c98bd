package gateway

import (
	"slices"
	"testing"

	"patterngate/ijson"
)

// One test of an observation decides for every tool whether a call returned a result.
func TestResultsOf(t *testing.T) {
	call := func(tool, hash string, status EffectStatus, observation string) Entry {
		e := Entry{Tool: tool, Hash: hash, Status: status}
		if observation != "" {
			v, err := ijson.Decode([]byte(observation))
			if err != nil {
				t.Fatal(err)
			}
			e.Observation = v
		}
		return e
	}
	unfit, assumed := call("a", "1", Finished, `{"rows":[1]}`), call("a", "1", Failed, "")
	unfit.Unfit, assumed.Assumed = true, true
	for name, tt := range map[string]struct {
		calls   []Entry
		want    string
		without []string
	}{
		"no call":              {},
		"a result":             {[]Entry{call("a", "1", Finished, `{"rows":[]}`)}, "", nil},
		"a text":               {[]Entry{call("a", "1", Finished, `"done"`)}, "", nil},
		"null":                 {[]Entry{call("a", "1", Finished, `null`)}, "", nil},
		"an empty object":      {[]Entry{call("a", "1", Finished, `{}`)}, "", nil},
		"a null error":         {[]Entry{call("a", "1", Finished, `{"error":null,"rows":[]}`)}, "", nil},
		"an error":             {[]Entry{call("a", "1", Finished, `{"error":"ENOENT"}`)}, "no", []string{"a"}},
		"an error object":      {[]Entry{call("a", "1", Finished, `{"error":{"code":404}}`)}, "no", []string{"a"}},
		"an error in result":   {[]Entry{call("a", "1", Finished, `{"status":"done","result":{"error":"user_not_found"}}`)}, "no", []string{"a"}},
		"a warning":            {[]Entry{call("a", "1", Finished, `{"warning":"no data"}`)}, "no", []string{"a"}},
		"a warning in result":  {[]Entry{call("a", "1", Finished, `{"status":"done","worker":"a","result":{"warning":"no data"}}`)}, "no", []string{"a"}},
		"a warning and more":   {[]Entry{call("a", "1", Finished, `{"result":{"warning":"old","rows":[1]}}`)}, "", nil},
		"failed":               {[]Entry{call("a", "1", Failed, "")}, "no", []string{"a"}},
		"in doubt":             {[]Entry{call("a", "1", InDoubt, "")}, "no", []string{"a"}},
		"reserved":             {[]Entry{call("a", "1", Reserved, "")}, "no", []string{"a"}},
		"not as its schema":    {[]Entry{unfit}, "no", []string{"a"}},
		"supposed by dry runs": {[]Entry{assumed}, "", nil},
		"some": {
			[]Entry{call("b", "1", Failed, ""), call("a", "1", Finished, `1`), call("b", "2", Failed, ""), call("c", "1", InDoubt, "")},
			"partly", []string{"b", "c"},
		},
		"a retry that went well": {[]Entry{call("a", "1", Failed, ""), call("a", "1", Finished, `{"rows":[]}`)}, "", nil},
		"other arguments":        {[]Entry{call("a", "1", Failed, ""), call("a", "2", Finished, `{"rows":[]}`)}, "partly", []string{"a"}},
	} {
		got := ResultsOf(tt.calls)
		if got.Answered() != tt.want || !slices.Equal(got.Without, tt.without) {
			t.Errorf("%s: answered %q, without %q; want %q, %q", name, got.Answered(), got.Without, tt.want, tt.without)
		}
	}
}
