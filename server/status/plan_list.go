package status

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// listPlans answers plan_status without a plan_id.
func (s *toolSet) listPlans(ctx context.Context, r *arguments.Request) (*mcp.CallToolResult, error) {
	f := patterns.PlanFilter{Principal: s.Host.Principal(ctx), Pattern: r.Spec.Plans, Limit: r.Limit, Cursor: r.Said("cursor")}
	for {
		page, err := s.Engine.ListPlans(f)
		if errors.Is(err, patterns.ErrCursor) {
			r.Add(arguments.OutOfLimit, "cursor", f.Cursor, wantPlanCursor)
			return s.refuseAbout(ctx, r.Call, r.Of(arguments.OutOfLimit))
		}
		if err != nil {
			return nil, err
		}
		e := plansEnvelope(r.Tool, page, f.Cursor != "")
		e.Simulated = r.Spec.Simulated()
		fits, err := e.PlansFit(s.ResultBytes)
		if err != nil {
			return nil, err
		}
		if fits < len(page.Plans) && fits > 0 { // the cursor must lead to the plans that are not shown
			f.Limit = fits
			continue
		}
		return s.Host.Show(ctx, e)
	}
}

// plansEnvelope presents a page of plans.
func plansEnvelope(tool string, page patterns.PlanPage, later bool) envelope.Envelope {
	e := envelope.Done(tool, plansSummary(len(page.Plans), page.Next != "", later))
	e.Plans, e.NextCursor = []envelope.PlanRow{}, page.Next
	for _, state := range page.Plans {
		e.Plans = append(e.Plans, newPlanRow(state))
	}
	return e
}

func newPlanRow(state patterns.PlanState) envelope.PlanRow {
	view := viewOf(state)
	row := envelope.PlanRow{
		PlanID: state.Plan.ID, Goal: sentence.AtMost(state.Plan.Goal, maxRowSummary), Strategy: state.Plan.Strategy, Revision: state.Plan.Revision,
		Progress: envelope.FourDigits(view.Progress), PlanStatus: view.Counts,
	}
	if last := state.Plan.Last; last != nil {
		row.LastStopReason = sentence.Short(last.StopReason, maxRowSummary)
	}
	return row
}

// plansSummary says how many plans are shown.
func plansSummary(n int, more, later bool) string {
	switch {
	case n == 0 && later:
		return noMorePlans
	case n == 0:
		return noPlanYet
	case more:
		return newestFirstMore(n, "plan")
	case later:
		return newestFirstLast(n, "plan")
	}
	return newestFirst(n, "plan")
}
