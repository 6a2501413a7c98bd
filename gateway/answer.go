package gateway

import (
	"errors"
	"strconv"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// MaxAnswer is the maximum size of an answer that must fit a schema, in bytes of its compact JSON. Such an answer
// cannot be cut as a text can.
const MaxAnswer = 16 << 10

// ParseAnswer reads a final answer that must be JSON of a schema (spec/config.md section 7, answer). It returns the
// decoded value, or a refusal with every fault. The reason is invalid_answer:non_json or invalid_answer:bad_schema.
// Pointers are relative to the answer.
func ParseAnswer(text string, schema *catalog.Schema) (any, *document.Refusal) {
	f := document.NewFaults("invalid_answer")
	v := decodeAnswer(f, text, "")
	if f.Count() == 0 {
		judgeAnswer(f, v, "", schema)
	}
	if r := f.Refusal(); r != nil {
		return nil, r
	}
	return v, nil
}

// decodeAnswer decodes the text at a place in the document. It records a fault if the text is not JSON.
func decodeAnswer(f *document.Faults, text string, at ijson.Pointer) any {
	v, err := ijson.Decode([]byte(text))
	if err == nil {
		return v
	}
	fault, ok := errors.AsType[*ijson.Fault](err)
	if !ok {
		fault = &ijson.Fault{Reason: ijson.ReasonNotJSON}
	}
	got := document.Missing
	if at != "" {
		got = text
	}
	f.Add("non_json", at+fault.Pointer, got, oneDocument(fault.Offset, fault.Reason))
	return nil
}

// judgeAnswer checks the decoded answer at a place in the document against its schema and [MaxAnswer].
func judgeAnswer(f *document.Faults, v any, at ijson.Pointer, schema *catalog.Schema) {
	const reason = "bad_schema"
	for _, w := range schema.Check(v) {
		got, there := w.Pointer.In(v)
		if !there {
			got = document.Missing
		}
		p := f.Add(reason, at+w.Pointer, got, w.Want)
		tokens := w.Pointer.Tokens()
		switch obj, isObject := v.(map[string]any); {
		case w.Kind != catalog.MismatchUnknown:
		case isObject && len(tokens) == 1:
			_, means := document.Misspellings(obj, namesOf(schema))
			p.Rename(obj, at, tokens[0], means[tokens[0]], "")
		default:
			p.Choose = document.RemoveOrRename
		}
	}
	if n := len(ijson.Canonical(v)); n > MaxAnswer {
		f.Add(reason, at, v, answerBytes(strconv.Itoa(MaxAnswer), strconv.Itoa(n)))
	}
}

// namesOf returns the names of the members of a schema.
func namesOf(schema *catalog.Schema) []string {
	var names []string
	for _, p := range schema.Properties() {
		names = append(names, p.Name)
	}
	return names
}
