package planexecute

import (
	"slices"
	"time"

	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// schedule is how far the subtasks of a plan's newest revision came in this run, by their places.
type schedule struct {
	order    []int // of execution
	rank     []int // the place in it
	missing  []int // how many of those that it waits for are not completed
	ready    []int // ranks of what a slot may take, ascending
	attempts []int // of this run
	pause    []float64
	running  []bool             // in a slot, or waiting for a person
	resting  []int              // that wait for the pause before a retry, and nobody counts it yet
	slots    int                // taken
	faulty   []bool             // failed or in doubt in this run, and not skipped
	faults   int                // of these
	doubts   map[int]doubted    // calls that may have happened
	again    map[int]doubted    // such calls that are to be made again
	once     []string           // the idempotency key of a subtask's act; "" there was none
	earlier  []string           // what once was when this run began
	unknown  []string           // why nobody knows what became of its newest call; "": it is known
	rests    []bool             // waits for a retry
	first    []patterns.Outcome // of a subtask's calls that may change something; zero: none was made
	parked   bool               // the caller's work is waited for
}

// doubted is a call whose outcome is not known.
type doubted struct {
	call step.MadeCall
	e    patterns.Effect
	row  patterns.AttemptRow
	over bool // the attempt that was to follow is not made
	late bool // then: by the run's own end, or a budget; it is only looked up
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

// offer lets a slot take a subtask.
func (s *schedule) offer(i int) {
	at, _ := slices.BinarySearch(s.ready, s.rank[i])
	s.ready = slices.Insert(s.ready, at, s.rank[i])
}

// busy are the subtasks that the run is at, or of which it has to find out what became of them.
func (x *execution) busy() map[string]bool {
	list := map[string]bool{}
	for i, row := range x.plan.Subtasks {
		if x.running[i] || x.rests[i] {
			list[row.ID] = true
		}
	}
	return list
}

// next hands out what is to be done now: pauses before retries, then the first ready subtask for a free slot.
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

// halted reports whether nothing new is to be begun: the run's end has come, a budget is used up, a subtask failed, or a call
// is in doubt, which is settled first.
func (x *execution) halted() bool {
	return x.cut != "" || x.faults > 0 || len(x.doubts) > 0 || x.spent != "" && x.spent != maxSteps
}

const maxSteps = "max_steps"

// affordable is the place among the ready ones of the first that may be begun. What a budget forbids ends the run.
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
		x.spent = maxSteps // retries of what was begun go on
	}
	return 0, false
}

// unaffordable says which budget a subtask's next attempt would exceed; perhaps it will not when what is under way has cost
// less than it may.
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
		q, _ := x.AsDeclared(patterns.PhaseExecute, x.workQuestion(x.places[s.ID], argsOf(s)))
		if x.over = x.Log.Unaffordable(patterns.PhaseExecute, q, x.underWay); x.over != nil {
			return x.over.Reason, x.Log.Unaffordable(patterns.PhaseExecute, q, step.Estimate{}) == nil
		}
	}
	return "", false
}

// sharedRequests is how many requests to the model a question may cost while others may be asked beside it.
const sharedRequests = 4

// share is how many of the requests that are left one question may cost. Where they are few and others may be asked beside
// it, it is not repeated: then each of them has one.
func (x *execution) share(left int) int {
	switch {
	case x.call.Concurrent == 1:
		return max(1, left)
	case left >= sharedRequests*x.call.Concurrent:
		return sharedRequests
	}
	return 1
}

// sleep is the pause before a retry.
func (x *execution) sleep(branch patterns.Run, i int) {
	e := x.Effect(patterns.PhaseExecute, x.plan.Subtasks[i].ID+" waits for its next attempt")
	e.Ends = x.halted
	out := patterns.Pause(branch, e, time.Duration(x.pause[i]*float64(time.Second)))
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

// quiet ends the pauses that were not begun any more. Those that only wait until doubts are settled are begun then.
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
		x.ready = slices.DeleteFunc(x.ready, func(rank int) bool { // retries that were due, and had no slot yet
			i := x.order[rank]
			if x.attempts[i] > 0 {
				x.dropped(i)
			}
			return x.attempts[i] > 0
		})
	}
	x.late()
}

// dropped gives up a retry for which somebody else's failure left no time.
func (x *execution) dropped(i int) {
	x.rests[i] = false
	s := &x.plan.Subtasks[i]
	s.Status, s.StopReason, s.Attempts = patterns.SubtaskFailed, x.lastReason(s.ID), x.attempts[i]
	x.fault(i)
	x.unmade(i)
}

// lastReason is why a subtask's newest attempt failed.
func (x *execution) lastReason(id string) string {
	for _, row := range slices.Backward(x.rows) {
		if row.SubtaskID == id && !row.OK {
			return row.StopReason
		}
	}
	return ""
}

// fault notes a subtask for which the run stops, or is planned anew.
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

// leave gives a slot back.
func (x *execution) leave(i int) {
	x.slots--
	x.running[i] = false
}

// complete notes a result and lets those that waited for it begin.
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

// mayBegin reports whether there is work for a slot: nothing that it waits for is missing, and it is not the caller's.
func (x *execution) mayBegin() bool {
	for i, s := range x.plan.Subtasks {
		if s.Status == patterns.SubtaskPending && x.missing[i] == 0 && s.Tool != planning.CallerExecutor {
			return true
		}
	}
	return false
}

// forCaller are the caller's subtasks that are ready, in the order of execution.
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
