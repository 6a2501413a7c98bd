package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
)

func (a *Commands) approvalsListCommand() *cobra.Command {
	var f patterns.ApprovalFilter
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the calls that wait for a person, newest first",
		Long:    "Lists the waiting calls of all principals, newest first, page by page.",
		Example: "  patterngate approvals list\n  patterngate approvals list --rule big_refund\n  patterngate approvals list --all --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit < 1 || f.Limit > statefile.MostListed {
				return console.Usage("--limit", fmt.Errorf("got %d", f.Limit), fmt.Sprintf("--limit 1 to %d", statefile.MostListed))
			}
			if err := checkRule(cmd, f.Rule); err != nil {
				return err
			}
			return a.withApprovals("approvals list", func(d desk) error { return a.listApprovals(d, f) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.All, "all", false, "also list decided and expired requests, and requests of runs that ended")
	ruleFlag(cmd, &f.Rule)
	flags.StringVar(&f.Cursor, "cursor", "", "show the page after this `CURSOR`, which the previous page printed")
	flags.IntVar(&f.Limit, "limit", 20, fmt.Sprintf("rows of a page, at most %d", statefile.MostListed))
	return cmd
}

// ruleFlag adds --rule to a command. The flag selects the questions of one policy rule.
func ruleFlag(cmd *cobra.Command, rule *string) {
	cmd.Flags().StringVar(rule, "rule", "", "only requests of this `RULE` of a policy")
}

// checkRule rejects a --rule that cannot be the id of a rule. Otherwise the list would be empty, or would show
// everything.
func checkRule(cmd *cobra.Command, rule string) error {
	if cmd.Flags().Changed("rule") && !stopreason.IsReason(rule) {
		return console.Usage("--rule", fmt.Errorf("got %s; the id of a rule has small letters, digits and _", console.Quoted(rule)), "patterngate approvals list")
	}
	return nil
}

// askedRow is a row of a list as --json shows it.
type askedRow struct {
	ID        string         `json:"approval_id"`
	RunID     string         `json:"run_id"`
	Pattern   string         `json:"pattern"`
	Principal string         `json:"principal"`
	Phase     string         `json:"phase,omitempty"`
	Tool      string         `json:"tool"`
	Effect    string         `json:"effect"`
	ArgsHash  string         `json:"args_hash"`
	Phrase    string         `json:"phrase"`
	Rule      string         `json:"rule,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	RuleText  string         `json:"rule_text,omitempty"`
	Values    map[string]any `json:"values,omitempty"` // values that made the rule true, by expression
	Least     string         `json:"min_assurance"`
	Digest    string         `json:"digest"`
	State     string         `json:"state"`
	Since     string         `json:"since"`
	Expires   string         `json:"expires_at"`
	Decision  string         `json:"decision,omitempty"`
	Assurance string         `json:"assurance,omitempty"`
	By        string         `json:"by,omitempty"`
	Channel   string         `json:"channel,omitempty"`
	Compared  *bool          `json:"compared,omitempty"` // false: the digest was not compared
	KeyID     string         `json:"key_id,omitempty"`
	DecidedAt string         `json:"decided_at,omitempty"`
	Spent     bool           `json:"spent,omitempty"`
}

func askedRowOf(asked patterns.Asked) askedRow {
	q := asked.Question
	row := askedRow{
		ID: asked.ID, RunID: q.Run, Pattern: asked.Pattern, Principal: asked.Principal, Phase: asked.Phase, Tool: q.Tool,
		Effect: string(asked.Effect), ArgsHash: asked.ArgsHash, Phrase: phraseOf(asked), Rule: asked.Rule, Reason: asked.Reason,
		RuleText: asked.Text, Values: asked.Values,
		Least: string(asked.Least), Digest: asked.Digest, State: string(asked.State), Since: console.ClockText(asked.Since), Expires: console.ClockText(q.Expires),
		Spent: asked.Spent,
	}
	if g := asked.Given; g != nil {
		row.Decision, row.Assurance, row.By, row.Channel = string(g.Choice), string(g.Assurance), g.By, g.Channel
		row.KeyID, row.DecidedAt, row.Compared = g.Key, console.ClockText(g.At), comparedOf(g.Answer)
	}
	return row
}

// comparedOf returns false if the digest of the answer was not compared, and nil otherwise.
func comparedOf(a gateway.Answer) *bool {
	if compared := false; a.Uncompared {
		return &compared
	}
	return nil
}

// phraseOf describes the call in words. The words contain only typed values that the policy has judged.
func phraseOf(asked patterns.Asked) string {
	if asked.Phrase != "" {
		return asked.Phrase
	}
	return "calling " + asked.Question.Tool
}

func (a *Commands) listApprovals(d desk, f patterns.ApprovalFilter) error {
	page, err := d.ListApprovals(f)
	switch {
	case errors.Is(err, patterns.ErrCursor):
		return console.Usage("--cursor", errors.New("the cursor does not belong to this list"), "use the same filters as for the page that printed it")
	case err != nil:
		return console.Fault("approvals list", err)
	}
	if len(page.Rows) == 0 {
		a.NoteOther()
	}
	if a.JSON {
		rows := []askedRow{}
		for _, asked := range page.Rows {
			rows = append(rows, askedRowOf(asked))
		}
		return a.PrintJSON(struct {
			Approvals []askedRow `json:"approvals"`
			Next      string     `json:"next_cursor,omitempty"`
		}{rows, page.Next})
	}
	if err := a.Print(askedTable(page.Rows, time.Now(), a.TableWidth(), f.All)); err != nil {
		return err
	}
	if page.Next != "" {
		_, _ = fmt.Fprintln(a.Err, "more: --cursor "+console.Clip(page.Next, 4*console.MaxName))
	}
	if len(page.Rows) > 0 {
		a.Next(console.AfterApprovals(page.Rows[0].ID)...)
	}
	return nil
}

// askedTable returns a page as a table with one line for each question. Lines are cut to the width, and the columns
// that can be long are last. A table of all questions shows their state: most of them do not wait.
func askedTable(rows []patterns.Asked, now time.Time, width int, all bool) string {
	if len(rows) == 0 {
		return "no call waits for a person\n"
	}
	var b strings.Builder
	wide := 11 // of the time that is left, or of the state
	if all {
		wide = 16
	}
	line := func(id, since, left, pattern, needs, what string) {
		columns := fmt.Sprintf("%-19s  %-20s  %-*s  %-22s  %-6s  ", id, since, wide, left, pattern, needs)
		switch { // narrow tables drop the seconds and the pattern first
		case width < 80:
			columns = fmt.Sprintf("%-19s  %-*s  ", id, wide, left)
		case width < 120:
			columns = fmt.Sprintf("%-19s  %-16s  %-*s  %-6s  ", id, console.FirstRunes(since, 16), wide, left, needs)
		}
		b.WriteString(strings.TrimRight(columns+console.Clip(what, max(10, width-len([]rune(columns)))), " ") + "\n")
	}
	asked, left := "WAITS SINCE", "EXPIRES IN"
	if all {
		asked, left = "ASKED", "STATE"
	}
	line("APPROVAL", asked, left, "PATTERN", "NEEDS", "WHAT (RULE)")
	for _, asked := range rows {
		what, state := phraseOf(asked), standsIn(asked, now)
		if all && asked.State == patterns.AskedOpen && state != expired {
			state = openFor(state)
		}
		if asked.Rule != "" {
			what += " (" + console.Cell(asked.Rule, console.MaxName, width) + ")"
		}
		line(console.Clip(asked.ID, 19), console.ClockText(asked.Since), state, console.Cell(asked.Pattern, 22, width), console.Clip(string(asked.Least), 6), what)
	}
	return b.String()
}

// standsIn returns the state of a question in a word or two: the time left for an answer, or the result.
func standsIn(asked patterns.Asked, now time.Time) string {
	switch {
	case asked.State == patterns.AskedDecided && asked.Given != nil:
		if asked.Given.Choice == gateway.ChooseEdit {
			return "edited"
		}
		return recordtext.DecisionWord(string(asked.Given.Choice))
	case asked.State != patterns.AskedOpen:
		return console.Clip(string(asked.State), 11)
	}
	left := asked.Question.Expires.Sub(now)
	if left <= 0 {
		return expired
	}
	return leftText(left)
}

// leftText returns a remaining duration in at most 11 characters, rounded down.
func leftText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 100*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %02d h", int(d.Hours())/24, int(d.Hours())%24)
}

func (a *Commands) approvalsWatchCommand() *cobra.Command {
	rule := ""
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Print a line for each call that waits, until you press Ctrl-C",
		Long: "Prints one line for each call that waits now, oldest first, and then one for each new call.\n\n" +
			"With --json each line is a JSON object with the members of a row of \"patterngate approvals list --json\".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkRule(cmd, rule); err != nil {
				return err
			}
			return a.withNewApprovals("approvals watch", func(d desk) error { return a.watchApprovals(cmd.Context(), d, rule) })
		},
	}
	ruleFlag(cmd, &rule)
	return cmd
}

// look is how long watch waits for a change by this process before it checks for changes by other processes.
const look = 200 * time.Millisecond

// watchApprovals prints each question once, until ctx ends. If rule is set, it prints only the questions of that rule.
func (a *Commands) watchApprovals(ctx context.Context, d desk, rule string) error {
	told := map[string]bool{}
	since := uint64(0)
	for {
		fresh, err := d.untold(told, rule)
		if err != nil {
			return console.Fault("approvals watch", err)
		}
		for _, asked := range slices.Backward(fresh) { // oldest first
			told[asked.ID] = true
			if err := a.tellAsked(asked); err != nil {
				return err
			}
		}
		patience, over := context.WithTimeout(ctx, look)
		_, since = d.Owner.Changed(patience, since)
		over()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// untold returns the waiting questions that are not in told, newest first. New questions come first in the list, so it
// stops after the first page with a known one.
func (d desk) untold(told map[string]bool, rule string) (fresh []patterns.Asked, err error) {
	f := patterns.ApprovalFilter{Limit: statefile.MostListed, Rule: rule}
	for {
		page, err := d.ListApprovals(f)
		if err != nil {
			return nil, err
		}
		known := false
		for _, asked := range page.Rows {
			if told[asked.ID] {
				known = true
				continue
			}
			fresh = append(fresh, asked)
		}
		if f.Cursor = page.Next; known || f.Cursor == "" {
			return fresh, nil
		}
	}
}

// tellAsked prints one question on a line.
func (a *Commands) tellAsked(asked patterns.Asked) error {
	if a.JSON {
		line, err := json.Marshal(askedRowOf(asked))
		if err != nil {
			return console.Fault("approvals watch", err)
		}
		return a.PrintLines(append(line, '\n'))
	}
	line := console.ClockText(asked.Since) + "  " + console.Clip(asked.ID, console.MaxName) + "  " + console.Clip(phraseOf(asked), 2*console.MaxName)
	if asked.Rule != "" {
		line += " (" + console.Clip(asked.Rule, console.MaxName) + ")"
	}
	return a.Print(line + "; expires " + console.ClockText(asked.Question.Expires) + "; patterngate approvals show " + console.Clip(asked.ID, console.MaxName) + "\n")
}
