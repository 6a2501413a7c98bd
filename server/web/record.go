package web

import (
	"net/http"

	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// export answers with the record as JSON Lines, so that it can be kept and checked elsewhere.
func (p *Pages) export(w http.ResponseWriter, r *http.Request) {
	id, events, _, ok := p.record(w, r)
	if !ok {
		return
	}
	pattern := ""
	if len(events) > 0 {
		if body, err := patterns.DecodeBody(events[0]); err == nil {
			if start, ok := body.(*patterns.StartBody); ok {
				pattern = start.Pattern
			}
		}
	}
	ring, err := p.config.Approvals.Keys()
	if err != nil {
		p.fault(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/jsonl; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+id+`.jsonl"`)       // the id has only letters, digits and _
	_, _ = w.Write(patterns.ExportRecord(id, pattern, events, ring, p.now())) // an error means that the browser disconnected
}

// verify checks a record and shows what it found. It changes nothing.
func (p *Pages) verify(w http.ResponseWriter, r *http.Request) {
	if p.form(w, r) {
		p.showRun(w, r, p.frame(r.Context(), "", "runs"), true)
	}
}

// checkOf returns the result of a check, in lines for a page.
func checkOf(report record.Report) *check {
	found := &check{OK: report.OK}
	for _, line := range report.Lines() {
		found.Lines = append(found.Lines, wording.Clip(line, 200))
	}
	return found
}
