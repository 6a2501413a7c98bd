package importer

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
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
// not be enabled. again is the command line without these flags.
func (c chosenTools) apply(servers []Server, again string) error {
	for _, list := range []struct {
		flag   string
		names  []string
		effect catalog.Effect
	}{{"--allow", c.allow, catalog.Write}, {"--read", c.read, catalog.Read}} {
		for i, name := range list.names {
			t, meant, err := findImported(servers, name)
			if err != nil {
				return misnamed(list.flag, list.names, i, meant, again, err)
			}
			if list.flag == "--read" && slices.Contains(c.allow, name) {
				return console.Usage("init --read", errors.New(alsoAllowed(name)), useOne)
			}
			t.allow, t.effect = true, list.effect
		}
	}
	return nil
}

// check returns an error for a name whose server is not among these. It needs no started server.
func (c chosenTools) check(servers []Server, again string) error {
	for _, list := range []struct {
		flag  string
		names []string
	}{{"--allow", c.allow}, {"--read", c.read}} {
		for i, name := range list.names {
			if slices.ContainsFunc(servers, func(s Server) bool {
				return strings.HasPrefix(name, s.Name+"/") || strings.HasPrefix(name, s.From.Name+"/")
			}) {
				continue
			}
			if _, meant, err := findImported(servers, name); err != nil {
				return misnamed(list.flag, list.names, i, meant, again, err)
			}
		}
	}
	return nil
}

// misnamed returns the error of a name in a flag. meant is the name that was meant, or "".
func misnamed(flag string, names []string, i int, meant, again string, err error) error {
	names = slices.Clone(names)
	if _, off := errors.AsType[offError](err); off { // the name is right
		if names = slices.Delete(names, i, i+1); len(names) > 0 {
			again += " " + flag + " " + console.ShellWord(runtime.GOOS, strings.Join(names, ","))
		}
		return console.Usage("init "+flag, err, again+"   # "+leavesOff)
	}
	names[i] = cmp.Or(meant, anyTool)
	return console.Usage("init "+flag, err, again+" "+flag+" "+console.ShellWord(runtime.GOOS, strings.Join(names, ",")))
}

// offError is the error of a tool whose server is not enabled.
type offError struct{ error }

// findImported returns the tool that SERVER/TOOL names. The server's name is that of the client's file or of the new file.
// With an error it returns the name that was meant, if there is one.
func findImported(servers []Server, name string) (t *importedTool, meant string, err error) {
	owner, tool, _ := strings.Cut(name, "/")
	var called []string
	for i := range servers {
		s := &servers[i]
		called = append(called, s.From.Name, s.Name)
		for _, by := range []string{s.From.Name, s.Name} {
			tool, ok := strings.CutPrefix(name, by+"/")
			if !ok {
				continue
			}
			if s.problem != "" {
				return nil, "", offError{errors.New(serverOff(name, s.problem))}
			}
			for j := range s.tools {
				if s.tools[j].Name == tool {
					return &s.tools[j], "", nil
				}
			}
			if near := catalog.Near(tool, toolNames(s.tools)); near != "" {
				meant = by + "/" + near
			}
			return nil, meant, errors.New(noSuchTool(name, s.Name, meant, toolList(s.tools)))
		}
	}
	if near := catalog.Near(owner, called); near != "" && tool != "" {
		meant = near + "/" + tool
	}
	return nil, meant, errors.New(noSuchServer(name, meant, serverList(servers)))
}

func toolNames(tools []importedTool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

func toolList(tools []importedTool) string {
	return ijson.Cut(strings.Join(toolNames(tools), ", "), maxStarterWords)
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
		fmt.Fprintf(q.shown, "%s [%s]: ", question, usual)
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
		fmt.Fprintf(q.shown, "  %s\n", typeOneOf(words))
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
	answerRead = "read"
	answerAll  = "write"
	answerNone = "none"
	answerOff  = "off"
)

// choose asks which tools to enable and what they do. Enter enables no tool: the server's word is only shown.
func (q initQuestions) choose(ctx context.Context, servers []Server) error {
	for i := range servers {
		s := &servers[i]
		if s.problem != "" || len(s.tools) == 0 {
			continue
		}
		fmt.Fprintf(q.shown, "\n%s\n", hasTools(q.paint(console.Bold, printable.Text(s.Name)), console.Plural(int64(len(s.tools)), "tool")))
		fmt.Fprint(q.shown, q.list(s.tools))
		question, words := whichAll, []string{answerEach, answerAll, answerNone}
		if slices.ContainsFunc(s.tools, importedTool.saysReads) {
			question, words = whichAllOrRead, []string{answerEach, answerRead, answerAll, answerNone}
		}
		said, err := q.answer(ctx, question, answerEach, words...)
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

// list returns one line for each tool: its name, the server's word on what it does, and the start of its description.
func (q initQuestions) list(tools []importedTool) string {
	width := 0
	for _, t := range tools {
		width = max(width, len(t.listed())) // names are ASCII
	}
	var b strings.Builder
	for _, t := range tools {
		word := "-"
		switch {
		case t.saysReads():
			word = "reads"
		case t.reads != nil:
			word = "writes"
		}
		pad := strings.Repeat(" ", width-len(t.listed()))
		fmt.Fprintf(&b, "  %s%s  %-6s  %s\n", q.paint(console.Bold, printable.Text(t.listed())), pad, word, console.OtherText(t.Description, max(20, listWidth-width)))
	}
	return b.String()
}

// listWidth is the number of characters that the name and the description of a tool take together, so that most lines fit a
// terminal of 100 columns.
const listWidth = 86

// tool decides about one tool by the answer for all of its server, or asks.
func (q initQuestions) tool(ctx context.Context, owner, said string, t *importedTool) error {
	switch said {
	case answerNone:
		return nil
	case answerRead:
		if t.saysReads() {
			t.allow, t.effect = true, catalog.Read
		}
		return nil
	case answerAll:
		t.allow = true
		return nil
	}
	fmt.Fprintf(q.shown, "\n  %s\n", shownTool(*t))
	words := []string{string(catalog.Read), string(catalog.Write), string(catalog.Destructive), answerOff}
	word, err := q.answer(ctx, "  "+console.OtherName(owner+"/"+t.Name)+": "+strings.Join(words, ", "), answerOff, words...)
	if err != nil || word == answerOff {
		return err
	}
	t.allow, t.effect = true, catalog.Effect(word)
	return nil
}

// saysReads reports whether the server says that the tool only reads.
func (t importedTool) saysReads() bool { return t.reads != nil && *t.reads }

// shownTool returns a server's hint and description of a tool on one line, with control characters made visible.
func shownTool(t importedTool) string {
	hint := ""
	switch {
	case t.saysReads():
		hint = "(" + saysReads + ") "
	case t.reads != nil:
		hint = "(" + saysWrites + ") "
	}
	return hint + console.OtherText(t.Description, 200)
}
