package importer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// chosenTools are the tools that flags name.
type chosenTools struct{ read, allow []string }

// apply marks the tools that the flags name. It returns an error for a name that no server has, since that tool would then
// not be enabled.
func (c chosenTools) apply(servers []Server) error {
	for _, list := range []struct {
		flag   string
		names  []string
		effect catalog.Effect
	}{{"--allow", c.allow, catalog.Write}, {"--read", c.read, catalog.Read}} {
		for _, name := range list.names {
			t, err := findImported(servers, name)
			if err != nil {
				return console.Usage("init "+list.flag, err, "patterngate init "+list.flag+" SERVER/TOOL")
			}
			if list.flag == "--read" && slices.Contains(c.allow, name) {
				return console.Usage("init --read", fmt.Errorf("%s is in --allow too, which makes it a write", name), "use one of them")
			}
			t.allow, t.effect = true, list.effect
		}
	}
	return nil
}

// findImported returns the tool that SERVER/TOOL names. The server's name is that of the client's file or of the new file.
func findImported(servers []Server, name string) (*importedTool, error) {
	for i := range servers {
		s := &servers[i]
		for _, called := range []string{s.From.Name, s.Name} {
			tool, ok := strings.CutPrefix(name, called+"/")
			if !ok {
				continue
			}
			if s.problem != "" {
				return nil, fmt.Errorf("%s: the server is not enabled: %s", name, s.problem)
			}
			for j := range s.tools {
				if s.tools[j].Name == tool {
					return &s.tools[j], nil
				}
			}
			return nil, fmt.Errorf("%s: %s has no such tool; it has %s", name, s.Name, toolList(s.tools))
		}
	}
	return nil, fmt.Errorf("%s: no such server; there are %s", name, serverList(servers))
}

func toolList(tools []importedTool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return ijson.Cut(strings.Join(names, ", "), maxStarterWords)
}

func serverList(servers []Server) string {
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = s.Name
	}
	return ijson.Cut(strings.Join(names, ", "), maxStarterWords)
}

// initQuestions asks a person, line by line.
type initQuestions struct {
	keys  *bufio.Reader
	shown io.Writer
	paint func(code, text string) string
}

// answer shows a question until the answer is one of the words or the start of one. Enter means usual. The end of the input
// returns [exitInterrupted] and decides nothing.
func (q initQuestions) answer(ctx context.Context, question, usual string, words ...string) (string, error) {
	for {
		fmt.Fprintf(q.shown, "%s [%s] ", question, usual)
		line, err := q.line(ctx)
		if err != nil {
			fmt.Fprintln(q.shown)
			return "", err
		}
		got := strings.ToLower(strings.TrimSpace(line))
		if got == "" {
			return usual, nil
		}
		for _, w := range words {
			if strings.HasPrefix(w, got) {
				return w, nil
			}
		}
		fmt.Fprintf(q.shown, "one of %s\n", strings.Join(words, ", "))
	}
}

// line reads one line. The end of ctx does not wait for it.
func (q initQuestions) line(ctx context.Context) (string, error) {
	type typed struct {
		text string
		err  error
	}
	done := make(chan typed, 1)
	go func() {
		text, err := q.keys.ReadString('\n')
		done <- typed{text, err}
	}()
	select {
	case got := <-done:
		if got.err != nil && got.text == "" {
			return "", console.ExitCode(console.ExitInterrupted)
		}
		return got.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// These are the answers of a person.
const (
	answerEach = "each"
	answerAll  = "write"
	answerNone = "none"
	answerOff  = "off"
)

// choose asks which tools to enable and what they do. Without an answer a tool is a write. It only shows the server's own
// description.
func (q initQuestions) choose(ctx context.Context, servers []Server) error {
	for i := range servers {
		s := &servers[i]
		if s.problem != "" || len(s.tools) == 0 {
			continue
		}
		fmt.Fprintf(q.shown, "\n%s has %s:\n", q.paint(console.Bold, printable.Text(s.Name)), console.Plural(int64(len(s.tools)), "tool"))
		for _, t := range s.tools {
			fmt.Fprintf(q.shown, "  %s  %s\n", q.paint(console.Bold, printable.Text(t.listed())), shownTool(t))
		}
		said, err := q.answer(ctx, "ask for each tool, allow all as write, or allow none?", answerEach, answerEach, answerAll, answerNone)
		if err != nil {
			return err
		}
		for j := range s.tools {
			if err := q.tool(ctx, s.Name, said, &s.tools[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// tool asks about one tool.
func (q initQuestions) tool(ctx context.Context, owner, said string, t *importedTool) error {
	switch said {
	case answerNone:
		return nil
	case answerAll:
		t.allow = true
		return nil
	}
	question := "  " + console.OtherName(owner+"/"+t.Name) + ": read, write, destructive, or off?"
	word, err := q.answer(ctx, question, string(catalog.Write), string(catalog.Read), string(catalog.Write), string(catalog.Destructive), answerOff)
	if err != nil || word == answerOff {
		return err
	}
	t.allow, t.effect = true, catalog.Effect(word)
	return nil
}

// shownTool returns a server's description of a tool on one line, with control characters made visible.
func shownTool(t importedTool) string {
	hint := ""
	if t.reads != nil {
		hint = "(the server says that it writes) "
		if *t.reads {
			hint = "(the server says that it only reads) "
		}
	}
	return hint + console.OtherText(t.Description, 200)
}
