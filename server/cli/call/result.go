package call

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// These exit codes exist only for call. The registry of stop reasons has the others.
const (
	exitToolFailed = int(stopreason.ExitTool)
	exitWaiting    = 7 // running or waiting
)

// envelope is the part of a Patterngate's structured result that call reads (spec/surface.md section 1).
type envelope struct {
	Status, StopReason, RunID, Summary string
	Answered                           bool // there is an answer
	Joined                             bool // the run was begun by an earlier equal call
	NoResult                           bool // no call of the run returned a result
	Demo                               bool // a reachable tool is one of the demo
	Dry                                bool // the result is of a dry run
	Verdict                            string
	Next                               nextStep
	Problems                           []problem
}

// problem is the part of a problem that call reads.
type problem struct {
	Pointer string `json:"pointer"`
	Want    string `json:"want"`
}

// readEnvelope reads a structured result. It returns false if the result is not a Patterngate's.
func readEnvelope(structured json.RawMessage) (envelope, bool) {
	var members map[string]json.RawMessage // a map is case-sensitive, a struct is not
	if json.Unmarshal(structured, &members) != nil {
		return envelope{}, false
	}
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(members[name], &s) // a value of another type is ignored
		return s
	}
	e := envelope{Status: text("status"), StopReason: text("stop_reason"), RunID: text("run_id"), Summary: text("summary"), Answered: text("answer") != ""}
	e.NoResult = text("answered") == gateway.AnsweredNo
	e.Joined, e.Demo = string(members["joined"]) == "true", string(members["demo"]) == "true"
	e.Dry, e.Verdict = string(members[dryArgument]) == "true", text("verdict")
	_ = json.Unmarshal(members["problems"], &e.Problems) // problems of another form are only shown
	known := slices.Contains([]string{"ok", "stopped", "running", "waiting"}, e.Status)
	if !known || json.Unmarshal(members["next"], &e.Next) != nil || e.Next.Action == "" || e.Summary == "" {
		return envelope{}, false
	}
	return e, true
}

// exit returns the exit code of a Patterngate's result. It returns 1 for an unknown stop reason, which a newer version
// could send.
func (e envelope) exit() int {
	switch e.Status {
	case "ok":
		if e.Dry && wouldStop(e.Verdict) {
			return int(stopreason.ExitRefused)
		}
		if e.NoResult {
			return exitToolFailed
		}
		return console.ExitDone
	case "stopped":
		if row, ok := stopreason.Lookup(e.StopReason); ok && row.Exit != stopreason.ExitNone {
			return int(row.Exit)
		}
		return console.ExitFault
	}
	return exitWaiting
}

// print writes a result to standard output and returns the exit code for it.
func (c *toolCall) print(tool string, result upstream.Result) (code int, err error) {
	e, ours := readEnvelope(result.Structured)
	switch {
	case ours:
		code = e.exit()
		if c.dry && !e.Dry && code != console.ExitUsage { // a refused request is not a run of either kind
			code = console.ExitFault
			_, _ = fmt.Fprintln(c.errs, printable.Text(notSaidDry(console.Cut(tool, console.MaxTyped))))
		}
	case result.IsError:
		code = exitToolFailed
		_, _ = fmt.Fprintln(c.errs, printable.Text(saidError(console.Cut(tool, console.MaxTyped))))
	}
	var text string
	switch {
	case c.JSON && result.Structured != nil:
		text = console.IndentedJSON(result.Structured)
	case c.JSON:
		text = console.IndentedJSON(result.Raw)
	case ours && result.Text() != "":
		text = c.ourText(result.Text(), e)
	default:
		text = foreignText(result)
	}
	if _, err := io.WriteString(c.Out, text); err != nil {
		return code, console.Fault("call", err)
	}
	return code, nil
}

// ourText returns the text of a Patterngate's result with its NEXT line in words.
func (c *toolCall) ourText(text string, e envelope) string {
	var b strings.Builder
	told := false
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !told && strings.HasPrefix(line, "NEXT {") {
			b.WriteString(c.words(e))
			told = true
			continue
		}
		line = printable.Text(line)
		if i == 0 {
			line = c.headline(line, e)
		}
		b.WriteString(line + "\n")
	}
	if !told {
		b.WriteString(c.words(e))
	}
	return b.String()
}

// headline colours the first word of a result, or both words of NO RESULT.
func (c *toolCall) headline(line string, e envelope) string {
	word, _, _ := strings.Cut(line, " ")
	if e.NoResult && e.Status == "ok" {
		word, _, _ = strings.Cut(line, " |")
	}
	color := map[string]string{"ok": console.Green, "stopped": console.Red}[e.Status]
	if e.Dry && wouldStop(e.Verdict) || e.NoResult {
		color = console.Red
	}
	return c.Paint(cmp.Or(color, console.Bold), word) + line[len(word):]
}

// foreignText returns a result of any server as people read it: its content, else its structured content.
func foreignText(result upstream.Result) string {
	var b strings.Builder
	for _, block := range result.Content {
		b.WriteString(blockText(block))
	}
	if len(result.Content) == 0 && result.Structured != nil {
		return console.IndentedJSON(result.Structured)
	}
	return b.String()
}

// blockText returns one block of content with its line ends. For content that cannot be shown, it returns its name.
func blockText(block upstream.Block) string {
	switch {
	case block.Type == "text", block.Type == "resource" && block.Text != "":
		return foreignLines(block.Text)
	case block.Type == "resource_link":
		return printable.Text(fmt.Sprintf("[link %s %s]", console.Cut(block.Name, console.MaxTyped), console.Cut(block.URI, maxProgressLine))) + "\n"
	case block.Type == "":
		return "[unreadable content]\n"
	}
	named := strings.Join(strings.Fields(strings.Join([]string{block.Type, block.MIME, block.URI}, " ")), " ")
	return printable.Text(fmt.Sprintf("[%s, %d bytes as base64; --json shows it]", console.Cut(named, maxProgressLine), block.Data)) + "\n"
}

// foreignLines returns text of any server with control characters made visible. It keeps tabs, which do no harm in a
// terminal.
func foreignLines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		for i, part := range strings.Split(strings.TrimSuffix(line, "\r"), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(printable.Text(part))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
