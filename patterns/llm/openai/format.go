package openai

import (
	"errors"
	"net/http"
	"sync"

	"patterngate/patterns"
)

// Format is the way in which a request demands JSON. The zero Format is JSON mode.
type Format string

// The formats (spec/config.md section 3, response_format).
const (
	// JSONObject is JSON mode: any object.
	JSONObject Format = "json_object"
	// JSONSchema sends the schema of the reply that is wanted.
	JSONSchema Format = "json_schema"
	// AutoFormat sends the schema, and where the server refuses that, asks once more in JSON mode; from then on, in this
	// process, it asks that model in JSON mode at once.
	AutoFormat Format = "auto"
)

// takesSchemas is what is known of servers and their models, by both: true where a schema was taken, false where it was refused.
// It outlives configurations: what a server can is none of theirs.
var takesSchemas sync.Map

// formatOf is the format of a question: "" for text. A question that may cost one request tries no schema where it is not known
// that it is taken: there would be none left to ask without it.
func (m *Client) formatOf(q patterns.Question) Format {
	if !q.Decision() {
		return ""
	}
	if m.format == AutoFormat {
		takes, known := takesSchemas.Load(m.place)
		if known && takes == false || !known && q.MaxRequests == 1 {
			return JSONObject
		}
	}
	if m.format == JSONObject || m.format == "" || m.schemas.of(q).text == nil {
		return JSONObject
	}
	return JSONSchema
}

// learned notes whether a server took a schema.
func (m *Client) learned(tried, answered Format) {
	if m.format == AutoFormat && tried == JSONSchema {
		takesSchemas.Store(m.place, answered == JSONSchema)
	}
}

// refusesSchema reports whether a server may have refused a request because of its schema: a fault of the request, or of a server
// that cannot do such a thing.
func (m *Client) refusesSchema(format Format, err error) bool {
	var known *fault
	if m.format != AutoFormat || format != JSONSchema || !errors.As(err, &known) {
		return false
	}
	return known.code == http.StatusBadRequest || known.code == http.StatusUnprocessableEntity || known.code == http.StatusNotImplemented
}
