package store

import (
	"patterngate/patterns"
)

// Reader reads one state of the store. For a run, question or plan that does not exist, a method returns nil or false.
// Errors wrap [patterns.ErrJournal].
type Reader interface {
	Calls
	Questioner

	// Row returns a run's row.
	Row(n int64) (*Row, error)
	// Record returns a run's row and all its events. If the events could not be read, Row.Damage is set.
	Record(n int64) (*Row, []patterns.Event, error)
	// Events returns the record of a run. Event returns one event of it, or an empty list if there is none.
	Events(n int64) ([]patterns.Event, error)
	Event(n, seq int64) ([]patterns.Event, error)
	// Hidden returns the values that a run hides.
	Hidden(n int64) ([]HiddenValue, error)

	// Standing, Stands and Mark return the state of a run in three forms.
	Standing(n int64) (Standing, error)
	Stands(n int64) (RunIs, error)
	Mark(n int64) (Mark, bool, error)

	// IDs returns the newest runs of a principal, at most 200. Newest returns the newest runs without a parent, at most
	// 50.
	IDs(principal string) ([]int64, error)
	Newest(principal string) ([]Standing, error)
	// Page returns the runs of a principal that began before the given one, newest first, at most most of them.
	Page(principal string, began, n int64, most int) ([]*Row, error)
	// Between returns the runs with numbers from low to high, at most 20.
	Between(low, high int64) ([]int64, error)
	// Below returns the child runs of a run, and their child runs.
	Below(n int64) ([]int64, error)
	// Principals returns all principals that began a run.
	Principals() ([]string, error)
	// Old returns the runs that ended before a time, except child runs of unfinished runs. Tombstones returns the
	// tombstones of pruned runs, newest first.
	Old(before int64) ([]*Row, error)
	Tombstones() ([]Bury, error)

	// Ready calls keep for each run that is ready, or due at now, until keep returns false. It returns the time when
	// the next run is due; 0: never.
	Ready(now int64, keep func(*Row) bool) (next int64, err error)
	// Owners returns the owners of running runs, except but.
	Owners(but string) ([]string, error)
	// Owned returns the epochs of the running runs of an owner. Canceled returns those of them that must be cancelled.
	Owned(owner string) (map[int64]int64, error)
	Canceled(owner string) ([]int64, error)

	// Config returns a configuration by its hash.
	Config(hash string) ([]byte, bool, error)
	// Switches returns the kill switches that are on.
	Switches() ([]patterns.Switch, error)
	// Act returns the act that has a business key.
	Act(tool, once string) (*Act, error)

	// Plan returns a stored plan without its body, PlanBody with it. If the body cannot be read, PlanBody returns
	// [ErrDamaged]; another view can still read the plan.
	Plan(n int64) (*Plan, error)
	PlanBody(n int64) (*Plan, error)
	// Plans returns the numbers of stored plans, newest first.
	Plans(PlanPage) ([]int64, error)

	// NewestReload returns the number of the newest reload; 0: none. Reloads returns the requested reloads after a
	// number, at most most of them.
	NewestReload() (int64, error)
	Reloads(after int64, most int) ([]Reload, error)
	// ReloadAnswers returns the results of a reload, sorted by owner.
	ReloadAnswers(n int64) ([]ReloadAnswer, error)

	// ID returns the id that the store got when it was created.
	ID() (string, error)
}

// Questioner reads the questions of runs to people, their answers, and the keys of approvers.
type Questioner interface {
	// Question returns one question. Questions calls keep for a page of them, newest first, until it returns false.
	Question(ap int64) (*Asked, error)
	Questions(q QuestionPage, keep func(*Asked) bool) error
	// QuestionsBetween returns the questions with numbers from low to high, at most 20.
	QuestionsBetween(low, high int64) ([]int64, error)
	// CountOpen returns how many questions are open and do not expire before now.
	CountOpen(now int64) (int, error)
	// QuestionSchema returns the schema of the arguments in a question.
	QuestionSchema(ap int64) ([]byte, error)
	// Answered returns the answered questions of a run whose answers the run has not read.
	Answered(run int64) ([]Answered, error)
	// Grant returns an answer that the run has read.
	Grant(ap, run int64) (Grant, bool, error)
	// Share returns the idempotency key of the call that spent a part of a plan's approval; "": none.
	Share(ap int64, share string) (string, error)
	// Keys returns the keys of approvers.
	Keys() (Keys, error)
}

// Mark is the state of a run, in a form that shows a change to a waiting caller.
type Mark struct {
	Principal, State string
	Epoch            int64
	Turn             int
	Key              string // key of the effect that waits
}

// QuestionPage selects a page of questions. The page begins before the question Approval, which was asked at Since.
type QuestionPage struct {
	Since, Approval int64
	All             bool  // with closed ones
	Now             int64 // selects open questions that expire later
}

// PlanPage selects a page of plans. The page begins before the plan N, which was created at Created. An empty Principal
// or Pattern selects all.
type PlanPage struct {
	Principal, Pattern string
	Created, N         int64
	Most               int
}
