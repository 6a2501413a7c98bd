package status

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// cancelWait is how long run_cancel waits for the run to end. A call in progress may take longer.
const cancelWait = 10 * time.Second

// showCanceled presents a run after a request to cancel it.
func (s *toolSet) showCanceled(ctx context.Context, r *arguments.Request, run patterns.Snapshot, err error) (*mcp.CallToolResult, error) {
	principal := s.Host.Principal(ctx)
	id, _ := r.Arguments["run_id"].(string)
	over := errors.Is(err, patterns.ErrOver)
	if over && run.RunID == "" {
		var known bool
		if run, known = s.Engine.Run(principal, id); !known {
			err = patterns.ErrNoRun
		}
	}
	unrecorded := errors.Is(err, patterns.ErrJournal) && run.RunID != ""
	switch {
	case errors.Is(err, patterns.ErrNoRun):
		return s.refuseRun(ctx, r)
	case err != nil && !over && !unrecorded:
		return nil, err
	}
	e := s.about(run)
	switch {
	case unrecorded:
		_ = s.Host.Fault(ctx, err) // the run is shown, with a problem
		e.Problems = append([]document.Problem{{
			Pointer: "/run_id", Reason: arguments.ReasonNotTaken, Got: document.Got(id),
			Want: wantRecorded,
		}}, e.Problems...)
	case over:
		e.Problems = append([]document.Problem{{
			Pointer: "/run_id", Reason: arguments.ReasonEnded, Got: document.Got(id), Want: wantOpenRun,
		}}, e.Problems...)
	case run.State == patterns.Over:
		e.Next = envelope.Next{Action: envelope.ActionDone}
	}
	result, err := s.Host.Show(ctx, e)
	if err == nil {
		s.Host.Delivered(ctx, e)
	}
	return result, err
}
