package upstream

import (
	"fmt"
	"regexp"
	"strings"

	"patterngate/ijson"
)

// These are the limits, in bytes, of server text in a note.
const (
	maxMIME = 100
	maxURI  = 500
)

// failedSilently replaces the text of an error that has none.
const failedSilently = failedWithoutWords

// Observation returns a tool's answer as one decoded JSON value (spec/config.md section 4). The first case that applies
// counts:
//
//   - If the tool failed, the value is {"error": text}.
//   - Structured content is the value. Content that is not an object becomes {"value": ...}.
//   - If the only content is a text that is a JSON object, that object is the value.
//   - Otherwise the value is {"text": ...}.
//
// Content that is not text becomes a note without its bytes. Structured content that [ijson.DecodeLimit] rejects is an
// error.
func (r Result) Observation() (any, error) {
	if r.IsError {
		text := r.prose()
		if ijson.Blank(text) {
			text = failedSilently
		}
		return map[string]any{"error": text}, nil
	}
	if r.Structured != nil {
		v, err := ijson.DecodeLimit(r.Structured, maxMessage)
		if err != nil {
			return nil, unreadableError{fmt.Errorf(structuredContent, err)}
		}
		if _, object := v.(map[string]any); !object {
			v = map[string]any{"value": v}
		}
		return v, nil
	}
	if len(r.Content) == 1 && r.Content[0].Type == "text" {
		if object, ok := objectIn(r.Content[0].Text); ok {
			return object, nil
		}
	}
	return map[string]any{"text": r.prose()}, nil
}

// objectIn returns the JSON object in a text, if the text is one.
func objectIn(text string) (map[string]any, bool) {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return nil, false
	}
	v, err := ijson.DecodeLimit([]byte(text), maxMessage)
	object, ok := v.(map[string]any)
	return object, err == nil && ok
}

// prose returns all content as text, with a line feed between the blocks.
func (r Result) prose() string {
	var texts []string
	for _, b := range r.Content {
		texts = append(texts, b.prose())
	}
	return strings.Join(texts, "\n")
}

// prose returns the block's text, or a note that describes its content.
func (b Block) prose() string {
	switch {
	case b.Type == "text", b.Type == "resource" && b.Data == 0:
		return b.Text
	case b.Type == "resource_link":
		return linkShown(ijson.Cut(b.URI, maxURI))
	case b.Type == "image", b.Type == "audio", b.Type == "resource":
		return contentShown(b.Type, kindOfData(b.MIME), b.Data/4*3)
	}
	return unknownContent
}

var mimeType = regexp.MustCompile(`^[\w.+-]+/[\w.+-]+$`)

// kindOfData returns a MIME type that is safe to show.
func kindOfData(mime string) string {
	if len(mime) > maxMIME || !mimeType.MatchString(mime) {
		return unknownType
	}
	return mime
}
