package catalogcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/catalog"
	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
)

// acceptTimeout is the time limit for all servers together to list their tools.
const acceptTimeout = 2 * time.Minute

func (a *Commands) acceptCommand() *cobra.Command {
	yes, key := false, ""
	cmd := &cobra.Command{
		Use:   "accept [SERVER[/TOOL]]...",
		Short: "Compare what servers declare with what you accepted, and accept it",
		Long: "Starts the MCP servers of your configuration and compares their tool definitions with the lock file. It shows " +
			"each difference and asks you whether you accept it. The lock file is patterngate.lock beside the configuration, " +
			"or catalog.pin.\n\n" +
			"A tool is held until you accept it: Patterngate does not call it, and no model reads its description. If an " +
			"approver key is enrolled, each acceptance is signed.\n\n" +
			"A SERVER that is off in the file starts only to list its tools, after a question or with --yes. Nothing of it is accepted.\n\n" +
			"A running server reads the lock file again on \"patterngate reload\".",
		Example: "  patterngate catalog accept\n  patterngate catalog accept orders/read_text_file",
		RunE: func(cmd *cobra.Command, names []string) error {
			loaded, err := a.LoadToAccept()
			if err != nil {
				return err
			}
			return a.accept(cmd.Context(), loaded, names, yes, key)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "accept, or start a server that is off, without asking")
	signing.KeyFlag(cmd, &key)
	return cmd
}

// acceptance is one tool whose declaration is new, changed or not signed.
type acceptance struct {
	server   string
	declared pins.Definition
}

func (c acceptance) name() string { return c.server + "/" + c.declared.Name }

// acceptedRow is the result for a tool, as --json shows it.
type acceptedRow struct {
	Tool    string        `json:"tool"`
	State   string        `json:"state"` // same, new, changed, unsigned, missing, unreachable
	SHA256  string        `json:"sha256,omitempty"`
	Changes []pins.Change `json:"changes,omitempty"`
	Why     string        `json:"why,omitempty"`
}

func (a *Commands) accept(ctx context.Context, loaded assembly.Loaded, names []string, yes bool, key string) error {
	const what = "catalog accept"
	wanted, err := wantedTools(loaded.Catalog, names)
	if s := offline(loaded.Catalog, names); s != nil && !a.JSON {
		if err := a.mayStart(what, s, yes); err != nil {
			return err
		}
		err = a.showOffered(ctx, loaded, s, err)
	}
	if off, ok := errors.AsType[*offError](err); ok && loaded.Path != "" {
		return console.Usage(what, err, editAt(loaded.Path, off.at.Line))
	}
	if errors.Is(err, errNoServersDeclared) {
		return console.Usage(what, errors.New(noServersIn(console.OtherText(loaded.Path, console.MaxTyped))), anotherFile)
	}
	if err != nil {
		return console.Usage(what, err, "patterngate catalog list")
	}
	lock, err := pins.Read(loaded.Catalog.Pin)
	if err != nil {
		return console.Fault(what, err)
	}
	asking, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	defer loaded.Close()
	ring, err := a.Ring(what, loaded)
	if err != nil {
		return err
	}
	stands := standing{lock, assembly.CountingLines(lock, ring, console.Now())}
	progress := a.StateFile.Spin(comparingTools)
	rows, open := a.compared(asking, loaded, wanted, stands)
	progress.Stop()
	if err := a.showCompared(rows, open, len(offTools(loaded.Catalog))); err != nil {
		return err
	}
	if len(open) == 0 {
		return unreachable(what, rows)
	}
	question := fmt.Sprintf("Accept %s?", console.Plural(len(open), "tool"))
	if err := a.Confirm(what, acceptRisk, question, yes); err != nil {
		return err
	}
	if err := a.acceptAll(ctx, loaded, lock, open, key); err != nil {
		return err
	}
	if err := lock.Write(loaded.Catalog.Pin); err != nil {
		return console.Fault(what, err)
	}
	if !a.JSON {
		err = a.Print(wroteLock(printable.Text(loaded.Catalog.Pin)))
	}
	if err != nil {
		return err
	}
	a.StateFile.Next(console.AfterAccept...)
	return unreachable(what, rows)
}

// unreachable returns an error if a tool could not be compared.
func unreachable(what string, rows []acceptedRow) error {
	for _, r := range rows {
		if r.State == "unreachable" || r.State == "missing" {
			return console.Fault(what, fmt.Errorf("%s: %s", r.Tool, r.Why))
		}
	}
	return nil
}

// wantedTools returns the named tools by server. Without names it returns all that the file names.
func wantedTools(c tools.Catalog, names []string) (map[string][]string, error) {
	all := map[string][]string{}
	for _, s := range c.Servers {
		for _, t := range s.Tools {
			if s.Enabled && t.Enabled && !slices.Contains(all[s.Name], t.Upstream) {
				all[s.Name] = append(all[s.Name], t.Upstream)
			}
		}
	}
	switch {
	case len(c.Servers) == 0:
		return nil, errNoServersDeclared
	case len(names) == 0 && len(all) == 0:
		return nil, &offError{everyToolOff, firstOff(c, "")}
	case len(names) == 0:
		return all, nil
	}
	wanted := map[string][]string{}
	for _, name := range names {
		at, tool, one := strings.Cut(name, "/")
		tools, ok := all[at]
		if s := serverIn(c, at); s != nil && s.Enabled && len(s.Tools) == 0 {
			return nil, &offError{noToolsOf(at), s.At}
		}
		if err := disabledIn(c, at, tool); err != nil {
			return nil, err
		}
		switch {
		case !ok:
			return nil, errors.New(noServer(console.Quoted(at), gateway.NearTyped(at, slices.Sorted(maps.Keys(all)))))
		case one && !slices.Contains(tools, tool):
			return nil, errors.New(noToolOf(console.Quoted(tool), at, gateway.NearTyped(tool, tools)))
		case one:
			wanted[at] = append(wanted[at], tool)
		default:
			wanted[at] = tools
		}
	}
	return wanted, nil
}

// offError is the error of a tool or server that the file disables, with the place to edit.
type offError struct {
	text string
	at   grammar.Position
}

// Error implements error.
func (e *offError) Error() string { return e.text }

// firstOff returns the place of the first disabled server or tool, of one server if it is named.
func firstOff(c tools.Catalog, server string) grammar.Position {
	for _, s := range c.Servers {
		if server != "" && s.Name != server {
			continue
		}
		if !s.Enabled {
			return s.At
		}
		if i := slices.IndexFunc(s.Tools, func(t tools.ServerTool) bool { return !t.Enabled }); i >= 0 {
			return s.Tools[i].At
		}
	}
	return grammar.Position{}
}

// disabledIn returns an error if the file disables the server or the tool. An empty tool means the server as a whole.
func disabledIn(c tools.Catalog, server, tool string) error {
	for _, s := range c.Servers {
		if s.Name != server {
			continue
		}
		if !s.Enabled {
			return &offError{serverOff(server), s.At}
		}
		named, enabled, at := false, false, grammar.Position{}
		for _, t := range s.Tools {
			if tool == "" || t.Upstream == tool {
				named, enabled, at = true, enabled || t.Enabled, t.At
			}
		}
		switch {
		case named && !enabled && tool == "":
			return &offError{everyToolOfOff(server), firstOff(c, server)}
		case named && !enabled:
			return &offError{toolOff(console.Quoted(tool), server), at}
		}
	}
	return nil
}

// standing is a lock, whole and with only the lines that count. Another program could have written the other lines.
type standing struct{ all, counting *pins.Lock }

// compared asks each server for its declarations and compares them with the lock.
func (a *Commands) compared(ctx context.Context, loaded assembly.Loaded, wanted map[string][]string, lock standing) (rows []acceptedRow, open []acceptance) {
	for _, s := range loaded.Catalog.Servers {
		tools := wanted[s.Name]
		if len(tools) == 0 {
			continue
		}
		declared, err := loaded.Definitions(ctx, s.Name)
		for _, name := range tools {
			row, accept := comparedTool(s.Name, name, declared, err, lock, loaded.Mask())
			if rows = append(rows, row); accept != nil {
				open = append(open, *accept)
			}
		}
	}
	return rows, open
}

// comparedTool compares a server's declaration of a tool with the lock. If the line in the lock does not count, it shows
// the whole declaration, since no person has reviewed it. The server already has its secrets, which mask knows. It refuses
// a declaration that contains one, since the lock and every client would show it. It hides them in the reasons too.
func comparedTool(at, name string, declared []upstream.Definition, err error, lock standing, mask *catalog.Mask) (acceptedRow, *acceptance) {
	row := acceptedRow{Tool: at + "/" + name}
	found := slices.IndexFunc(declared, func(d upstream.Definition) bool { return d.Tool() == name })
	switch {
	case err != nil:
		row.State, row.Why = "unreachable", mask.Text(err.Error())
		return row, nil
	case found < 0:
		names := make([]string, len(declared))
		for i, d := range declared {
			names[i] = d.Tool()
		}
		row.State, row.Why = "missing", mask.Text(meant(lacksTool(names), gateway.NearTyped(name, names)))
		return row, nil
	}
	now, err := assembly.DefinitionOf(declared[found])
	if err != nil {
		row.State, row.Why = "unreachable", mask.Text(err.Error())
		return row, nil
	}
	if repeats(mask, now) {
		row.State, row.Why = "unreachable", repeatsSecret
		return row, nil
	}
	row.SHA256 = now.Hash()
	was, known := lock.all.Tool(at, name)
	accepted, counts := lock.counting.Tool(at, name)
	switch {
	case !known:
		row.State = "new"
	case was.Hash() != now.Hash():
		row.State = "changed"
	case !counts:
		row.State = "unsigned"
	default:
		row.State = "same"
		return row, nil
	}
	row.Changes = pins.Compare(accepted, now)
	return row, &acceptance{at, now}
}

// repeats reports whether a declaration contains a secret.
func repeats(mask *catalog.Mask, d pins.Definition) bool {
	all := map[string]any{"title": d.Title, "description": d.Description}
	for name, raw := range map[string][]byte{"input": d.Input, "output": d.Output} {
		if v, err := ijson.Decode(raw); err == nil { // an invalid schema is not accepted anyway
			all[name] = v
		}
	}
	return !ijson.Equal(all, mask.Value(all))
}

// showCompared prints the rows. off is how many tools the file disables.
func (a *Commands) showCompared(rows []acceptedRow, open []acceptance, off int) error {
	if a.JSON {
		return a.PrintJSON(rows)
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s %s", a.Paint(console.Bold, r.Tool), r.State)
		if r.Why != "" {
			b.WriteString(": " + printable.Text(r.Why))
		}
		b.WriteByte('\n')
		for _, c := range r.Changes {
			if c.Pointer != "/name" { // the name is already shown
				b.WriteString(changeText(c))
			}
		}
	}
	if len(open) == 0 {
		b.WriteString(nothingToAccept(off))
	}
	return a.Print(b.String())
}

// changeText returns one difference as text. It makes control characters from servers visible.
func changeText(c pins.Change) string {
	var b strings.Builder
	if c.Was != "" && c.Was != `""` {
		fmt.Fprintf(&b, "  - %s %s\n", c.Pointer, printable.Text(c.Was))
	}
	if c.Is != "" {
		fmt.Fprintf(&b, "  + %s %s\n", c.Pointer, printable.Text(c.Is))
	}
	return b.String()
}

// acceptAll writes the accepted declarations to the lock, each signed if an approver key counts. Keys are in the state
// file, so :memory: has none.
func (a *Commands) acceptAll(ctx context.Context, c assembly.Loaded, lock *pins.Lock, open []acceptance, key string) error {
	const what = "catalog accept"
	if c.State == settings.MemoryState && key == "" {
		return enter(lock, open, func(string, map[string]any) gateway.SignedAct { return gateway.SignedAct{} })
	}
	return a.WithState(what, c, func(runs statefile.Runs) error {
		var shown strings.Builder
		for _, c := range open {
			fmt.Fprintf(&shown, "%s %s\n", c.name(), c.declared.Hash())
		}
		signed := signing.Request{What: what, Does: "accept " + console.Plural(len(open), "tool"), Call: shown.String(), Key: key}
		sign, done, err := a.OpenOnce(ctx, runs, signed)
		if err != nil {
			return err
		}
		defer done()
		return enter(lock, open, sign)
	})
}

// enter writes the accepted declarations to the lock.
func enter(lock *pins.Lock, open []acceptance, sign func(name string, subject map[string]any) gateway.SignedAct) error {
	for _, c := range open {
		entry := pins.Acceptance{At: console.Now(), By: statefile.ByUser("").By, Assurance: string(gateway.UserAssurance)}
		if act := sign(gateway.ActAccept, assembly.AcceptSubject(c.name(), c.declared)); act.Signature != "" {
			entry = pins.Acceptance{
				At: act.At, By: "key:" + act.Key, Assurance: string(gateway.SignedAssurance), Key: act.Key, Nonce: act.Nonce, Signature: act.Signature,
			}
		}
		if err := lock.Accept(c.server, c.declared, entry); err != nil {
			return console.Fault("catalog accept", fmt.Errorf("%s: %w", c.name(), err))
		}
	}
	return nil
}
