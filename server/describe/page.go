package describe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// part is the part of a search's results that one answer shows.
type part struct {
	search
	found []int // all results, as positions in the directory
	met   int   // how many words of the query they have
	to    int   // end of the results shown, exclusive
	users []int // the patterns shown
}

func (p part) shown() []int { return p.found[p.from:p.to] }

// page encodes the results of a search in both channels. Each channel has at most most bytes, unless one tool alone
// needs more. off says what is switched off now.
func (d *Tool) page(s search, off string, most int) (structured json.RawMessage, text string, err error) {
	listed := d.directory()
	p := listed.part(s, most)
	e := envelope.Done(arguments.CatalogTool, sentence.WithLast(listed.summary(p), off))
	e.Simulated = listed.simulated
	cursor := ""
	if p.to < len(p.found) && s.bound != "" {
		cursor = d.cursors.seal(p.to, s.bound)
	}
	structured, err = envelope.AppendJSON(make([]byte, 0, 8<<10), e)
	if err != nil {
		return nil, "", fmt.Errorf("presenting: %w", err)
	}
	return listed.appendRows(structured, p, cursor), string(listed.appendLines(e.AppendText(make([]byte, 0, 4<<10)), p, cursor)), nil
}

// part chooses what is shown: tools while they fit, up to the limit of the search, and the patterns that may use them.
// The pattern that the search names is always shown. A search without filters shows patterns until they fill half of
// the page.
func (d *directory) part(s search, most int) part {
	p := part{search: s}
	p.found, p.met = d.found(s)
	p.from = min(p.from, len(p.found))
	p.to = p.from
	row, line := envelope.PageFrame, envelope.PageFrame
	use := func(i int) {
		if !slices.Contains(p.users, i) {
			p.users = append(p.users, i)
			row, line = row+len(d.patterns[i].row)+1, line+len(d.patterns[i].line)
		}
	}
	for i := range d.patterns {
		if all := s.pattern < 0 && !s.filtered(); i == s.pattern || all && max(row, line) < most/2 {
			use(i)
		}
	}
	for p.to < len(p.found) && p.to-p.from < s.limit {
		e, users := d.tools[p.found[p.to]], len(p.users)
		row, line = row+e.rowSize()+1, line+e.lineSize()
		for _, i := range e.patterns {
			use(i)
		}
		if max(row, line) > most && p.to > p.from {
			p.users = p.users[:users]
			break
		}
		p.to++
	}
	slices.Sort(p.users)
	return p
}

// summary says how many tools were found and which of them are shown.
func (d *directory) summary(p part) string {
	total := len(p.found)
	if total == 0 {
		return p.nothing()
	}
	said := []string{toolsFound(total)}
	if p.pattern < 0 && !p.filtered() {
		said = []string{toolsCallable(total-d.unused, len(d.patterns))}
		if d.unused > 0 {
			said = append(said, toolsUnused(d.unused))
		}
	}
	if n := d.notReady(p); n > 0 {
		said = append(said, toolsNotReady(n))
	}
	if p.met < len(p.words) {
		said = append(said, bestMatch(len(p.words), p.met))
	}
	if len(p.shown()) < total {
		said = append(said, shownRange(p.from+1, p.to))
	}
	switch {
	case p.to < total && p.bound == "":
		said = append(said, othersIn(arguments.CatalogTool))
	case p.to < total:
		said = append(said, callForMore)
	}
	return sentence.Joined(said...)
}

// notReady returns how many of the tools shown cannot be called now.
func (d *directory) notReady(p part) int {
	n := 0
	for _, i := range p.shown() {
		if state, _ := d.tools[i].state(); state != stateReady {
			n++
		}
	}
	return n
}

// nothing says why no tool was found.
func (s search) nothing() string {
	switch {
	case len(s.words) > 0:
		return noToolMatches
	case s.pattern >= 0 && len(s.names) > 0:
		return patternUsesNone
	case s.pattern >= 0:
		return patternUsesNothing
	}
	return noToolAtAll
}

// appendRows adds the members tools, patterns and next_cursor to an encoded envelope.
func (d *directory) appendRows(encoded []byte, p part, cursor string) []byte {
	dst := append(bytes.TrimSuffix(encoded, []byte("}")), `,"tools":[`...)
	for n, i := range p.shown() {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = d.tools[i].appendRow(dst)
	}
	dst = append(dst, `],"patterns":[`...)
	for n, i := range p.users {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, d.patterns[i].row...)
	}
	dst = append(dst, ']')
	if cursor != "" {
		dst = envelope.AppendString(append(dst, `,"next_cursor":`...), cursor)
	}
	return append(dst, '}')
}

// appendLines adds the same to the text channel.
func (d *directory) appendLines(dst []byte, p part, cursor string) []byte {
	if len(p.shown()) > 0 {
		dst = append(dst, toolsHeading...)
		for _, i := range p.shown() {
			dst = d.tools[i].appendLine(dst)
		}
		dst = bytes.TrimSuffix(dst, []byte("\n"))
	}
	if len(p.users) > 0 {
		dst = append(dst, patternsHeading...)
		for _, i := range p.users {
			dst = append(dst, d.patterns[i].line...)
		}
		dst = bytes.TrimSuffix(dst, []byte("\n"))
	}
	if cursor != "" {
		dst = append(append(dst, "\nNEXT_CURSOR "...), cursor...)
	}
	return dst
}

// maxResource is the maximum size of a resource, in bytes.
const maxResource = 1 << 20

// Whole returns the answer to a call without arguments, with the page size of a resource. It has no cursor, because a
// cursor belongs to one principal.
func (d *Tool) Whole(ctx context.Context) (json.RawMessage, error) {
	off := d.Host.SwitchedOff(ctx)
	if d.directory().lives || off != "" {
		return d.wholeNow(off)
	}
	return d.still()
}

func (d *Tool) wholeNow(off string) (json.RawMessage, error) {
	structured, _, err := d.page(search{pattern: -1, limit: len(d.directory().tools)}, off, maxResource)
	return structured, err
}
