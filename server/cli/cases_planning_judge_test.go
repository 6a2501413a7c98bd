package cli_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"patterngate/ijson"
)

// planJudge compares the answers of a planning session with what is expected of them. Objects are open: further members may
// stand, and an expected null may be missing; what is below an exact member is exact. It judges one session.
type planJudge struct {
	judge
	runs, wanted map[string]string // expected run ids to those found, and back
	message      bool              // it is the user message of a request that is judged
}

func newPlanJudge() *planJudge {
	return &planJudge{runs: map[string]string{}, wanted: map[string]string{}}
}

// exactMembers carry their own members only.
var exactMembers = []string{"args", "inputs", "subtask_results", "result", "expect", "raw_plan"}

var notComparedInPlans = regexp.MustCompile(`^(created_at|summary|usage|request_id|(elapsed|duration|started|finished|latency).*|.*_ms)$`)

// answer judges the structured result of one call.
func (j *planJudge) answer(at ijson.Pointer, want, got map[string]any) {
	j.compare(at, want, got)
	status, reason := got["status"], got["stop_reason"]
	if _, phase := got["phase"]; phase != (status == "stopped") {
		j.fault(at.Member("phase"), "stands: %v, although status is %v; it stands on every stop and on nothing else", phase, status)
	}
	ok := reason == "success" || reason == "success_partial" || reason == "iteration_pending"
	if (status == "ok") != ok {
		j.fault(at.Member("status"), "got %v with stop_reason %v", status, reason)
	}
	j.holdsTogether(at, got)
}

// request judges a user message.
func (j *planJudge) request(at ijson.Pointer, want, got any) {
	j.message = true
	j.compare(at, want, got)
	j.message = false
}

func (j *planJudge) compare(at ijson.Pointer, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		if found, is := got.(map[string]any); is {
			j.members(at, want, found)
			return
		}
	case []any:
		if found, is := got.([]any); is && len(found) == len(want) {
			for i := range want {
				j.compare(at.Index(i), want[i], found[i])
			}
			return
		}
	case nil:
		if got == nil {
			return
		}
	default:
		j.value(at, want, got)
		return
	}
	j.fault(at, "got %s; want %s", show(got), show(want))
}

func (j *planJudge) members(at ijson.Pointer, want, got map[string]any) {
	for _, name := range sortedNames(want) {
		expected, where := want[name], at.Member(name)
		found, there := got[name]
		switch {
		case notComparedInPlans.MatchString(name):
		case !there && expected == nil:
		case !there:
			j.fault(where, "is missing; want %s", show(expected))
		case name == "run_id":
			j.run(where, expected, found)
		case name == "problems":
			j.problems(where, expected, found)
		case name == "delay_seconds":
			j.delay(where, expected, found)
		case name == "used_ids" && j.message:
			j.value(where, sorted(expected), sorted(found))
		case name == "reason" && j.message:
			if _, text := found.(string); !text {
				j.fault(where, "got %s; want some text", show(found))
			}
		case slices.Contains(exactMembers, name):
			j.value(where, expected, found)
		default:
			j.compare(where, expected, found)
		}
	}
}

// run holds that ids are equal exactly where they are expected to be.
func (j *planJudge) run(at ijson.Pointer, want, got any) {
	expected, _ := want.(string)
	found, _ := got.(string)
	if found == "" {
		j.fault(at, "got %s; want the id of a run", show(got))
		return
	}
	before, known := j.runs[expected]
	other, taken := j.wanted[found]
	if !known && !taken {
		j.runs[expected], j.wanted[found] = found, expected
		return
	}
	if before != found || other != expected {
		j.fault(at, "got %s, which is %q; want %s, which is %q", found, other, expected, before)
	}
}

// problems holds that each expected problem is there; others may be.
func (j *planJudge) problems(at ijson.Pointer, want, got any) {
	rows, _ := want.([]any)
	found, _ := got.([]any)
	for i, row := range rows {
		expected, _ := row.(map[string]any)
		if !slices.ContainsFunc(found, func(v any) bool {
			problem, _ := v.(map[string]any)
			return sameProblem(expected, problem)
		}) {
			j.fault(at.Index(i), "got %s; want %s among them", show(got), show(row))
		}
	}
}

// deepProblem are the reasons whose pointer may lie deeper.
var deepProblem = regexp.MustCompile(`^(subtask_[0-9]+_bad_args|bad_args:.*|cycle_detected|max_depth)$`)

func sameProblem(want, got map[string]any) bool {
	reason, said := want["reason"].(string)
	if said && got["reason"] != reason {
		return false
	}
	pointer, _ := want["pointer"].(string)
	found, is := got["pointer"].(string)
	deep := deepProblem.MatchString(reason) || !said && strings.HasPrefix(pointer, "/results/")
	return is && (found == pointer || deep && strings.HasPrefix(found, pointer+"/"))
}

// delay holds that a pause is at most a tenth longer.
func (j *planJudge) delay(at ijson.Pointer, want, got any) {
	least, _ := want.(float64)
	found, is := got.(float64)
	const rounding = 1e-9
	if !is || found < least-rounding || found > least*1.1+rounding {
		j.fault(at, "got %s; want %v to %v", show(got), least, least*1.1)
	}
}

func sorted(v any) any {
	list, is := v.([]any)
	if !is {
		return v
	}
	return slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(show(a), show(b)) })
}

// planIDs are the ids of a session's plans, in the order in which it returned them.
type planIDs []string

var planIDForm = regexp.MustCompile(`^plan_[0-9a-f]{16}$`)

// note keeps the id of an answer that names a new one.
func (p *planIDs) note(got map[string]any) error {
	v, there := got["plan_id"]
	if !there {
		return nil
	}
	id, _ := v.(string)
	if !planIDForm.MatchString(id) {
		return fmt.Errorf("plan_id is %s; want plan_ and 16 hex digits", show(v))
	}
	if !slices.Contains(*p, id) {
		*p = append(*p, id)
	}
	return nil
}

// put writes the ids that are known in the place of their names.
func (p planIDs) put(text []byte) []byte {
	words := string(text)
	for i, id := range p {
		words = strings.ReplaceAll(words, fmt.Sprintf(`"<plan %d>"`, i+1), `"`+id+`"`)
	}
	return []byte(words)
}
