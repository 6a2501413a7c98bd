package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// declaredTool is a tool as tools/list shows it.
type declaredTool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema declaredSchema
	Annotations               map[string]bool
}

// declaredSchema is the part of JSON Schema that published schemas use, members in their order.
type declaredSchema struct {
	Type                 string
	Description          string
	Properties           declaredMembers
	Required             []string
	Items                *declaredSchema
	Enum                 []string
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	Minimum, Maximum     *int
	AdditionalProperties json.RawMessage // false, or a schema
}

type declaredMember struct {
	name   string
	schema declaredSchema
}

type declaredMembers []declaredMember

// UnmarshalJSON keeps the order of members.
func (m *declaredMembers) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		member := declaredMember{name: fmt.Sprint(name)}
		if err := d.Decode(&member.schema); err != nil {
			return err
		}
		*m = append(*m, member)
	}
	return nil
}

// declaredTools are the tools of a fresh installation.
func declaredTools(t *testing.T) []declaredTool {
	t.Helper()
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{Out: io.Discard, Err: io.Discard}}}
	loaded, err := a.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, err := loaded.Server(a.Environ, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s.Tools())
	if err != nil {
		t.Fatal(err)
	}
	var tools []declaredTool
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// The page of tools is what tools/list shows.
func TestToolsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Tools\n\n" +
		"What `tools/list` shows of a fresh installation; `patterngate tools NAME` prints one with its schemas as they are. The\n" +
		"schemas are for readers: what a call holds is judged by the server and the gate. An object or a list may also be sent as a\n" +
		"string that holds its JSON; an optional argument that is `null` is as if absent. What becomes of a run whose call comes back\n" +
		"before its end: [durability.md](durability.md#leaving-a-run-and-coming-back).\n\n" +
		"This page is written by a test (`go test ./server/cli -run TestToolsPage -update`).\n")
	results := map[string][]string{} // tools by what they return
	var order []string
	for _, tool := range declaredTools(t) {
		writeTool(&b, tool)
		rows := memberRows("", tool.OutputSchema)
		if len(results[rows]) == 0 {
			order = append(order, rows)
		}
		results[rows] = append(results[rows], "`"+tool.Name+"`")
	}
	for _, rows := range order {
		fmt.Fprintf(&b, "\n## The result of %s\n\n| member | type | |\n|---|---|---|\n%s", strings.Join(results[rows], ", "), rows)
	}
	fresh(t, "tools.md", b.String())
}

func writeTool(b *strings.Builder, tool declaredTool) {
	fmt.Fprintf(b, "\n## `%s`\n\n**%s.** %s\n\n", tool.Name, tool.Title, tool.Description)
	var hints []string
	for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		hints = append(hints, fmt.Sprintf("%s: %t", name, tool.Annotations[name]))
	}
	fmt.Fprintf(b, "%s.\n\n| argument | type | |\n|---|---|---|\n%s", strings.Join(hints, ", "), memberRows("", tool.InputSchema))
	for _, m := range tool.InputSchema.Properties {
		if _, example, ok := strings.Cut(m.schema.Description, exampleMark); ok {
			fmt.Fprintf(b, "\nA whole `%s`:\n\n```json\n%s\n```\n", m.name, example)
		}
	}
}

// exampleMark parts a description from its example.
const exampleMark = " Example: "

// memberRows are the rows of a schema's members, those within them below theirs.
func memberRows(above string, s declaredSchema) string {
	var b strings.Builder
	for _, m := range s.Properties {
		about, _, _ := strings.Cut(m.schema.Description, exampleMark)
		if slices.Contains(s.Required, m.name) {
			about = strings.TrimSpace("Required. " + about)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", above+m.name, m.schema.words(), strings.ReplaceAll(about, "|", `\|`))
		b.WriteString(memberRows(above+m.name+".", m.schema))
		if m.schema.Items != nil {
			b.WriteString(memberRows(above+m.name+"[].", *m.schema.Items))
		}
		var each declaredSchema
		if json.Unmarshal(m.schema.AdditionalProperties, &each) == nil {
			b.WriteString(memberRows(above+m.name+".*.", each))
		}
	}
	return b.String()
}

// words are a schema's type with its bounds.
func (s declaredSchema) words() string {
	if len(s.Enum) > 0 {
		return "one of `" + strings.Join(s.Enum, "`, `") + "`"
	}
	words := s.Type
	switch {
	case words == "":
		words = "any"
	case s.Items != nil && s.Items.Type != "":
		words += " of " + s.Items.Type + "s"
	}
	for _, bound := range []struct {
		noun        string
		least, most *int
	}{{" characters", s.MinLength, s.MaxLength}, {"", s.MinItems, s.MaxItems}, {"", s.Minimum, s.Maximum}} {
		switch {
		case bound.least != nil && bound.most != nil:
			words += fmt.Sprintf(", %d to %d%s", *bound.least, *bound.most, bound.noun)
		case bound.least != nil:
			words += fmt.Sprintf(", at least %d%s", *bound.least, bound.noun)
		case bound.most != nil:
			words += fmt.Sprintf(", at most %d%s", *bound.most, bound.noun)
		}
	}
	return words
}
