package planexecute

import (
	"slices"
	"time"

	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// schedule is how far the subtasks of a plan's newest revision came in this run. Its slices are indexed by the subtasks' places
// in the plan.
type schedule struct {
	order    []int              // of execution: places by rank
	rank     []int              // the rank of each subtask in that order
	missing  []int              // how many of the subtasks that it waits for are not completed
	ready    []int              // the ranks of the subtasks that may take a slot, ascending
	attempts []int              // attempts in this run
	pause    []float64          // seconds before the next attempt
	running  []bool             // in a slot, which includes waiting for a person
	resting  []int              // subtasks whose pause before a retry has not begun
	slots    int                // slots in use
	faulty   []bool             // failed or in doubt in this run, and not skipped
	faults   int                // how many are faulty
	doubts   map[int]doubted    // calls that may have happened
	again    map[int]doubted    // such calls that are made again
	once     []string           // the idempotency key of a subtask's act; "" if there was none
	earlier  []string           // the value of once when this run began
	unknown  []string           // why its newest call is in doubt; "" if it is not
	rests    []bool             // it waits for a retry
	first    []patterns.Outcome // the first of a subtask's calls that may change something; zero if none was made
	parked   bool               // the run waits for the caller's work
}

// doubted is a call with an unknown outcome.
type doubted struct {
	call step.MadeCall
	e    patterns.Effect
	row  patterns.AttemptRow
	over bool // the attempt after it is not made
	late bool // the same, because of the run's end or a budget: the call is only looked up
}

func newSchedule(p *patterns.StoredPlan, g *planning.Graph) *schedule {
	n := len(p.Subtasks)
	s := &schedule{
		order: g.Order(), rank: make([]int, n), missing: make([]int, n), attempts: make([]int, n), pause: make([]float64, n),
		running: make([]bool, n), faulty: make([]bool, n), once: make([]string, n), earlier: make([]string, n), unknown: make([]string, n), first: make([]patterns.Outcome, n),
		rests: make([]bool, n), doubts: map[int]doubted{}, again: map[int]doubted{},
	}
	for rank, i := range s.order {
		s.rank[i] = rank
	}
	for i := range p.Subtasks {
		s.once[i], s.earlier[i] = p.Subtasks[i].Once, p.Subtasks[i].Once
		for _, before := range g.Before(i) {
			if p.Subtasks[before].Status != patterns.SubtaskCompleted {
				s.missing[i]++
			}
		}
	}
	for i, row := range p.Subtasks {
		if row.Status == patterns.SubtaskPending && s.missing[i] == 0 && row.Tool != planning.CallerExecutor {
			s.offer(i)
		}
	}
	return s
}

// offer lets a subtask take a slot.
func (s *schedule) offer(i int) {
	at, _ := slices.BinarySearch(s.ready, s.rank[i])
	s.ready = slices.Insert(s.ready, at, s.rank[i])
}

// busy returns the ids of the subtasks that are running, or that wait for a retry.
func (x *execution) busy() map[string]bool {
	list := map[string]bool{}
	for i, row := range x.plan.Subtasks {
		if x.running[i] || x.rests[i] {
			list[row.ID] = true
		}
	}
	return list
}

// next hands out the next work: pauses before retries, then the first ready subtask if a slot is free.
func (x *execution) next() (string, func(patterns.Run), bool) {
	if x.halted() {
		return "", nil, false
	}
	if len(x.resting) > 0 {
		i := x.resting[0]
		x.resting = x.resting[1:]
		return "retry", func(branch patterns.Run) { x.sleep(branch, i) }, true
	}
	if x.slots >= x.call.Concurrent || len(x.ready) == 0 {
		return "", nil, false
	}
	at, ok := x.affordable()
	if !ok {
		return "", nil, false
	}
	i := x.order[x.ready[at]]
	x.ready = slices.Delete(x.ready, at, at+1)
	x.slots++
	x.running[i] = true
	if x.attempts[i]++; x.attempts[i] == 1 {
		x.began++
	}
	return x.plan.Subtasks[i].ID, func(branch patterns.Run) { x.attempt(branch, i) }, true
}

// halted reports whether nothing new may begin. The run has ended, a budget is used up, a subtask failed, or a call in doubt
// must be settled first.
func (x *execution) halted() bool {
	return x.cut != "" || x.faults > 0 || len(x.doubts) > 0 || x.spent != "" && x.spent != maxSteps
}

const maxSteps = "max_steps"

// affordable returns the place in ready of the first subtask that may begin. A budget that forbids it ends the run.
func (x *execution) affordable() (int, bool) {
	for at, rank := range x.ready {
		i := x.order[rank]
		if reason, perhaps := x.unaffordable(x.plan.Subtasks[i]); reason != "" {
			if !perhaps {
				x.spent = reason
			}
			return 0, false
		}
		if x.call.MaxSteps == 0 || x.attempts[i] > 0 || x.began < x.call.MaxSteps {
			return at, true
		}
		x.spent = maxSteps // retries of subtasks that began continue
	}
	return 0, false
}

// unaffordable returns which budget a subtask's next attempt would exceed, or "". perhaps reports whether the budget may suffice
// later, if current work costs less than it could.
func (x *execution) unaffordable(s patterns.PlannedSubtask) (reason string, perhaps bool) {
	b := x.Spec.Budget
	switch {
	case s.Tool != planning.ModelExecutor:
		if !b.MaxToolCalls.Allows(x.tools + x.undecided + 1) {
			return "max_tool_calls", b.MaxToolCalls.Allows(x.tools + 1)
		}
	case !b.MaxLLMCalls.Allows(x.Usage.Requests + x.asking + 1):
		return "max_llm_calls", b.MaxLLMCalls.Allows(x.Usage.Requests + 1)
	default:
		q, _ := x.Completed(patterns.PhaseExecute, x.workQuestion(x.places[s.ID], argsOf(s)))
		if x.over = x.Log.Unaffordable(patterns.PhaseExecute, q, x.underWay); x.over != nil {
			return x.over.Reason, x.Log.Unaffordable(patterns.PhaseExecute, q, step.Estimate{}) == nil
		}
	}
	return "", false
}

// sharedRequests is how many requests to the model a question may cost while others can be asked at the same time.
const sharedRequests = 4

// share returns how many of the remaining requests one question may cost. If few remain and others can be asked at the same
// time, it is 1: the question is not repeated.
func (x *execution) share(left int) int {
	switch {
	case x.call.Concurrent == 1:
		return max(1, left)
	case left >= sharedRequests*x.call.Concurrent:
		return sharedRequests
	}
	return 1
}

// sleep makes the pause before a retry.
func (x *execution) sleep(branch patterns.Run, i int) {
	e := x.Effect(patterns.PhaseExecute, x.plan.Subtasks[i].ID+" waits for its next attempt")
	out := patterns.Pause(branch, e, patterns.PauseAct{Ends: x.halted}, time.Duration(x.pause[i]*float64(time.Second)))
	if reason := step.CutReason(out); reason != "" {
		x.cutBy(reason)
	}
	if x.faults > 0 {
		x.dropped(i)
		return
	}
	x.rests[i] = false
	x.offer(i)
}

// quiet ends the pauses that did not begin. While calls are in doubt it does nothing, and the pauses begin after that.
func (x *execution) quiet() {
	if len(x.doubts) > 0 {
		return
	}
	for _, i := range x.resting {
		if x.rests[i] = false; x.faults > 0 {
			x.dropped(i)
		}
	}
	x.resting = nil
	if x.faults > 0 {
		x.ready = slices.DeleteFunc(x.ready, func(rank int) bool { // retries that were due and had no slot yet
			i := x.order[rank]
			if x.attempts[i] > 0 {
				x.dropped(i)
			}
			return x.attempts[i] > 0
		})
	}
	x.late()
}

// dropped gives up a retry because another subtask failed.
func (x *execution) dropped(i int) {
	x.rests[i] = false
	s := &x.plan.Subtasks[i]
	s.Status, s.StopReason, s.Attempts = patterns.SubtaskFailed, x.lastReason(s.ID), x.attempts[i]
	x.fault(i)
	x.unmade(i)
}

// lastReason returns why a subtask's newest attempt failed.
func (x *execution) lastReason(id string) string {
	for _, row := range slices.Backward(x.rows) {
		if row.SubtaskID == id && !row.OK {
			return row.StopReason
		}
	}
	return ""
}

// fault marks a subtask because of which the run stops or replans.
func (x *execution) fault(i int) {
	if !x.faulty[i] {
		x.faulty[i] = true
		x.faults++
	}
}

func (x *execution) cutBy(reason string) {
	if x.cut == "" || reason == "cancelled" || reason == patterns.ReasonKillSwitch {
		x.cut = reason
	}
}

// leave frees the slot of a subtask.
func (x *execution) leave(i int) {
	x.slots--
	x.running[i] = false
}

// complete stores a result and lets the subtasks that waited for it begin.
func (x *execution) complete(i int, source string, result any, bytes int) {
	s := &x.plan.Subtasks[i]
	s.Status, s.Source, s.Result, s.Bytes, s.StopReason, s.Attempts = patterns.SubtaskCompleted, source, result, bytes, "", max(x.attempts[i], 1)
	s.Once = ""
	x.done[s.ID] = true
	for _, after := range x.graph.After(i) {
		if x.missing[after]--; x.missing[after] == 0 && x.plan.Subtasks[after].Status == patterns.SubtaskPending &&
			x.plan.Subtasks[after].Tool != planning.CallerExecutor {
			x.offer(after)
		}
	}
}

// mayBegin reports whether there is work for a slot: a pending subtask that waits for no other one, and is not the caller's.
func (x *execution) mayBegin() bool {
	for i, s := range x.plan.Subtasks {
		if s.Status == patterns.SubtaskPending && x.missing[i] == 0 && s.Tool != planning.CallerExecutor {
			return true
		}
	}
	return false
}

// forCaller returns the caller's subtasks that are ready, in the order of execution.
func (x *execution) forCaller() []int {
	var list []int
	for _, i := range x.order {
		s := x.plan.Subtasks[i]
		if s.Tool == planning.CallerExecutor && s.Status == patterns.SubtaskPending && x.missing[i] == 0 {
			list = append(list, i)
		}
	}
	return list
}
