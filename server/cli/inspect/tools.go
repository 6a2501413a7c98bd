package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/server/cli/console"
)

// Tools returns the command "tools".
func (a *Commands) Tools() *cobra.Command {
	return &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools that an MCP client sees, or show one with its schemas",
		Example: "  patterngate tools\n" +
			"  patterngate tools route_ticket",
		Long: "Lists the tools that \"serve\" offers to a client. With NAME it shows one tool: description, arguments and result.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.tools(name)
		},
	}
}

// toolRow is a tool as --json shows it: its declaration as a client gets it, with the whole output schema.
type toolRow struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input_schema"`
	Output      json.RawMessage `json:"output_schema"`
}

func (a *Commands) tools(name string) error {
	listed, err := a.Listed()
	if err != nil {
		return err
	}
	var rows []toolRow
	var names []string
	for _, t := range listed {
		names = append(names, t.Name)
		if name == "" || t.Name == name {
			rows = append(rows, toolRow{t.Name, t.Title, t.Description, t.Input, t.Output})
		}
	}
	if len(rows) == 0 {
		return console.Usage("tools", errors.New(noneOf("tool", console.Typed(name), gateway.NearTyped(name, names), names)), "patterngate tools")
	}
	if a.JSON {
		return console.WriteJSON(a.Out, rows)
	}
	var text strings.Builder
	for i, r := range rows {
		if i > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "%s: %s\n%s\n", a.Paint(console.Bold, r.Name), r.Title, fold(r.Description, 100))
		if name != "" {
			fmt.Fprintf(&text, "\ninput schema\n%s\n\noutput schema\n%s\n", indented(r.Input), indented(r.Output))
		}
	}
	if _, err := io.WriteString(a.Out, text.String()); err != nil {
		return err
	}
	if name == "" {
		a.Next(console.AfterTools...)
	}
	return nil
}

func indented(raw json.RawMessage) string {
	b, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// fold breaks text into lines of at most width characters, each indented by two blanks.
func fold(text string, width int) string {
	var b strings.Builder
	line := " "
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > width && line != " " {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	return b.String() + line
}
