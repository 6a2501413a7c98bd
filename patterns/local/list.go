package local

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

const (
	defaultRows = 20
	maxSummary  = 200 // bytes of a row's summary
)

// place is a place in a list: the page begins after this run.
type place struct {
	began time.Time
	id    string
}

// newestFirst orders runs by their begin. Several runs can begin at one time if the clock stands still. They are in the order of
// their numbers then, as in the state file.
func newestFirst(a time.Time, aid string, b time.Time, bid string) int {
	an, _ := journal.RunNumber(aid)
	bn, _ := journal.RunNumber(bid)
	return cmp.Or(b.Compare(a), cmp.Compare(bn, an))
}

// cursor encodes a place as text. A hash in it binds it to the filter of its list, and shows damage.
func (p place) cursor(f patterns.Filter) string {
	text := fmt.Sprintf("%d.%s", p.began.UnixMicro(), strings.TrimPrefix(p.id, "run_"))
	bound := fmt.Sprintf("%s %q %q %q %q %d %d", text, f.Principal, f.Status, f.Pattern, f.StopReason, f.Since.UnixMicro(), f.Until.UnixMicro())
	sum := sha256.Sum256([]byte(bound))
	return base64.RawURLEncoding.EncodeToString([]byte(text + "." + hex.EncodeToString(sum[:6])))
}

// placeOf reads a cursor. It returns false for the first page.
func placeOf(f patterns.Filter) (place, bool, error) {
	if f.Cursor == "" {
		return place{}, false, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	parts := strings.Split(string(text), ".")
	if err != nil || len(parts) != 3 {
		return place{}, false, patterns.ErrCursor
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	p := place{time.UnixMicro(at), "run_" + parts[1]}
	if err != nil || p.cursor(f) != f.Cursor {
		return place{}, false, patterns.ErrCursor
	}
	return p, true, nil
}

// pageOf picks a page from rows that come newest first.
func pageOf(f patterns.Filter, rows iter.Seq[patterns.RunRow]) (patterns.Page, error) {
	from, later, err := placeOf(f)
	if err != nil {
		return patterns.Page{}, err
	}
	limit := cmp.Or(f.Limit, defaultRows)
	var page patterns.Page
	for row := range rows {
		if later && newestFirst(from.began, from.id, row.Began, row.RunID) >= 0 || !fits(f, row) {
			continue
		}
		if len(page.Rows) == limit {
			last := page.Rows[limit-1]
			page.Next = place{last.Began, last.RunID}.cursor(f)
			break
		}
		page.Rows = append(page.Rows, row)
	}
	return page, nil
}

// fits reports whether a row matches the filter.
func fits(f patterns.Filter, row patterns.RunRow) bool {
	switch {
	case f.Status != "" && f.Status != row.Status, f.Pattern != "" && f.Pattern != row.Pattern:
		return false
	case f.StopReason != "" && f.StopReason != row.StopReason && !strings.HasPrefix(row.StopReason, f.StopReason+":"):
		return false
	case !f.Since.IsZero() && row.Began.Before(f.Since), !f.Until.IsZero() && !row.Began.Before(f.Until):
		return false
	}
	return true
}

// rested adds to a row how its run rests.
func rested(row patterns.RunRow, rest patterns.Ended) patterns.RunRow {
	row.Summary = ijson.Cut(row.Summary, maxSummary)
	if w := rest.Waiting; w != nil {
		row.Status, row.Phase, row.WaitingKind, row.Expires = "waiting", w.Phase, string(w.Kind), w.Until
		return row
	}
	row.Status, row.StopReason, row.Phase, row.Ended = "stopped", rest.Result.StopReason, rest.Result.Phase, rest.Ended
	if rest.Result.OK() {
		row.Status = "ok"
	}
	return row
}
