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
	outputs := s.Outputs()
	for i := range tools {
		if err := json.Unmarshal(outputs[tools[i].Name], &tools[i].OutputSchema); err != nil {
			t.Fatal(err)
		}
	}
	return tools
}

// The page of tools is what tools/list shows, with the whole output schemas.
func TestToolsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Tools\n\n" +
		"This page lists the MCP tools of a new installation, with their arguments and results. `patterngate tools NAME` prints one tool with\n" +
		"its schemas. [What the tools cost a model](models.md#what-the-tools-cost-your-clients-model) has their sizes, and\n" +
		"[Offer fewer tools](config.md#offer-fewer-tools) says how to leave some out.\n\n" +
		"- The schemas are for readers. The server and the gate judge what a call holds.\n" +
		"- You can send an object or a list as a string with its JSON. An optional argument that is `null` counts as absent.\n" +
		"- `tools/list` is short, because clients send it to their model in every conversation. Its output schemas name only `status`,\n" +
		"  and `next` and `dry_run` where a call can be a dry run. This page and `patterngate tools NAME` name every member of a result.\n\n" +
		"This page is written by a test (`go test ./server/cli -run TestToolsPage -update`).\n\n" +
		"## Arguments of many tools\n\n" +
		"- `max_wait_seconds`: After this time the call returns with `running`, and the run continues. 0 returns at once. See\n" +
		"  [Leaving a run and coming back](durability.md#leaving-a-run-and-coming-back).\n" +
		"- `idempotency_key` (1 to 255 printable ASCII characters): A call with the key of an earlier call returns the run of that call.\n" +
		"- `dry_run`: The plan, route or actions are only judged. Nothing is called. `plan_decompose` stores nothing.\n" +
		"- `finalize`: A final text is written at the end.\n" +
		"- `run_id`, `turn`, `continue_with`: They continue a run that waits for its caller, as `next` of its result says.\n")
	shared := map[string][]string{} // rows by the tools that have them
	var order []string
	tools := declaredTools(t)
	of := map[string][]string{} // tools by row
	var rows []string
	for _, tool := range tools {
		writeTool(&b, tool)
		for _, row := range memberRows("", tool.OutputSchema) {
			if of[row] == nil {
				rows = append(rows, row)
			}
			of[row] = append(of[row], "`"+tool.Name+"`")
		}
	}
	for _, row := range rows {
		names := strings.Join(of[row], ", ")
		if len(of[row]) == len(tools) {
			names = "every tool"
		}
		if shared[names] == nil {
			order = append(order, names)
		}
		shared[names] = append(shared[names], row)
	}
	b.WriteString("\n## Results\n\nA result has those of its members that apply. Later versions can add members.\n")
	for _, names := range order {
		fmt.Fprintf(&b, "\nOf %s:\n\n%s", names, strings.Join(shared[names], ""))
	}
	fresh(t, "tools.md", b.String())
}

func writeTool(b *strings.Builder, tool declaredTool) {
	fmt.Fprintf(b, "\n## `%s`\n\n**%s.** %s\n\n", tool.Name, tool.Title, tool.Description)
	var hints []string
	for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		hints = append(hints, fmt.Sprintf("%s: %t", name, tool.Annotations[name]))
	}
	fmt.Fprintf(b, "%s.\n\n%s", strings.Join(hints, ", "), strings.Join(memberRows("", tool.InputSchema), ""))
	for _, m := range tool.InputSchema.Properties {
		if _, example, ok := strings.Cut(m.schema.Description, exampleMark); ok {
			fmt.Fprintf(b, "\nA whole `%s`:\n\n```json\n%s\n```\n", m.name, example)
		}
	}
}

// exampleMark parts a description from its example.
const exampleMark = " Example: "

// memberRows are the lines of a schema's members, those within them below theirs.
func memberRows(above string, s declaredSchema) (rows []string) {
	for _, m := range s.Properties {
		about, _, _ := strings.Cut(m.schema.Description, exampleMark)
		if slices.Contains(s.Required, m.name) {
			about = strings.TrimSpace("Required. " + about)
		}
		row := fmt.Sprintf("- `%s` (%s)", above+m.name, m.schema.words())
		if about != "" {
			row += ": " + about
		}
		rows = append(rows, row+"\n")
		rows = append(rows, memberRows(above+m.name+".", m.schema)...)
		if m.schema.Items != nil {
			rows = append(rows, memberRows(above+m.name+"[].", *m.schema.Items)...)
		}
		var each declaredSchema
		if json.Unmarshal(m.schema.AdditionalProperties, &each) == nil {
			rows = append(rows, memberRows(above+m.name+".*.", each)...)
		}
	}
	return rows
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
