package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson"
)

// Result is a tool's answer as the server sent it. Its JSON was checked for grammar and repeated members.
type Result struct {
	Raw        json.RawMessage // the whole result object
	Structured json.RawMessage // its structuredContent; nil if the server sent none
	Content    []Block
	IsError    bool
}

// Block is one block of a result's content. Fields that its type does not have are empty.
type Block struct {
	Type string // text, image, audio, resource_link, resource, or another
	Text string // of text, and of an embedded resource that is text
	MIME string
	URI  string // of resource_link and resource
	Name string // of resource_link
	Data int    // bytes of image, audio and of a resource that is not text, as sent (base64)
}

// Reply is a tool's answer after strict decoding.
type Reply struct {
	Structured any    // decoded value; nil if the server sent none
	Text       string // the text contents, joined by line feeds
	IsError    bool
}

// Text returns the text blocks of a result, joined by line feeds.
func (r Result) Text() string {
	var texts []string
	for _, b := range r.Content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// errRepeated reports an answer with a repeated member. Readers of JSON differ about which of the two members counts.
var errRepeated = errors.New(repeatedMember)

// readResult reads the parts of a result that the client needs.
func readResult(raw json.RawMessage) (Result, error) {
	if ijson.Repeats(raw, "") {
		return Result{}, unreadableError{errRepeated}
	}
	var sent struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Type       string            `json:"resultType"`
	}
	if err := json.Unmarshal(raw, &sent); err != nil {
		return Result{}, unreadableError{fmt.Errorf(notToolResult, err)}
	}
	if sent.Type == string(mcp.ResultTypeInputRequired) {
		return Result{}, ErrInputWanted
	}
	r := Result{Raw: raw, IsError: sent.IsError}
	if string(sent.Structured) != "null" {
		r.Structured = sent.Structured
	}
	for _, content := range sent.Content {
		r.Content = append(r.Content, readBlock(content))
	}
	return r, nil
}

// readBlock reads one block. Other JSON becomes a block with an empty type.
func readBlock(raw json.RawMessage) Block {
	var sent struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MIME     string `json:"mimeType"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
		Resource struct {
			URI  string `json:"uri"`
			MIME string `json:"mimeType"`
			Text string `json:"text"`
			Blob string `json:"blob"`
		} `json:"resource"`
	}
	_ = json.Unmarshal(raw, &sent) // fields that cannot be read stay empty
	b := Block{Type: sent.Type, Text: sent.Text, MIME: sent.MIME, URI: sent.URI, Name: sent.Name, Data: len(sent.Data)}
	if r := sent.Resource; sent.Type == "resource" {
		b.Text, b.MIME, b.URI, b.Data = r.Text, r.MIME, r.URI, len(r.Blob)
	}
	return b
}
