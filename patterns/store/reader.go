package store

import (
	"patterngate/patterns"
)

// Reader reads one state of what is stored. A run, question or plan that is not there is nil, or false; errors wrap [patterns.ErrJournal].
type Reader interface {
	Calls
	Questioner

	// Row returns a run's row.
	Row(n int64) (*Row, error)
	// Record returns a run's row and all its events. Row.Damage says that the events could not be read.
	Record(n int64) (*Row, []patterns.Event, error)
	// Events returns the record of a run, Event one event of it (an empty list: there is none).
	Events(n int64) ([]patterns.Event, error)
	Event(n, seq int64) ([]patterns.Event, error)
	// Hidden returns the values that a run hides.
	Hidden(n int64) ([]HiddenValue, error)

	// Standing, Stands and Mark return how a run stands, in the form that each needs.
	Standing(n int64) (Standing, error)
	Stands(n int64) (RunIs, error)
	Mark(n int64) (Mark, bool, error)

	// IDs returns the newest runs of a principal, at most 200. Newest returns those that no call of another run began, at most 50.
	IDs(principal string) ([]int64, error)
	Newest(principal string) ([]Standing, error)
	// Page returns at most so many runs of a principal that began before the given one, newest first.
	Page(principal string, began, n int64, most int) ([]*Row, error)
	// Between returns the runs with numbers from low to high, at most 20.
	Between(low, high int64) ([]int64, error)
	// Below returns the child runs of a run, and theirs.
	Below(n int64) ([]int64, error)
	// Principals returns everybody who began a run.
	Principals() ([]string, error)
	// Old returns runs that ended before a time and that no run needs which goes on. Tombstones returns what stays of pruned runs,
	// newest first.
	Old(before int64) ([]*Row, error)
	Tombstones() ([]Bury, error)

	// Ready calls keep for runs that are ready, or due at now, until it returns false, and returns when the next one is due; 0: never.
	Ready(now int64, keep func(*Row) bool) (next int64, err error)
	// Owners returns the owners of running runs, but for one.
	Owners(but string) ([]string, error)
	// Owned returns the epochs of the running runs of an owner. Canceled returns those that are to be cancelled.
	Owned(owner string) (map[int64]int64, error)
	Canceled(owner string) ([]int64, error)

	// Config returns a configuration by its hash.
	Config(hash string) ([]byte, bool, error)
	// Switches returns the kill switches that are on.
	Switches() ([]patterns.Switch, error)
	// Act returns the act that has a business key.
	Act(tool, once string) (*Act, error)

	// Plan returns a stored plan without its body, PlanBody with it. The error of PlanBody is [ErrDamaged] if the body cannot be read;
	// another view may then still read the plan.
	Plan(n int64) (*Plan, error)
	PlanBody(n int64) (*Plan, error)
	// Plans returns the numbers of stored plans, newest first.
	Plans(PlanPage) ([]int64, error)

	// NewestReload returns the number of the newest reload; 0: none. Reloads returns those that were asked for after one, at most so many.
	NewestReload() (int64, error)
	Reloads(after int64, most int) ([]Reload, error)
	// ReloadAnswers returns what became of a reload, in the order of the owners.
	ReloadAnswers(n int64) ([]ReloadAnswer, error)

	// ID returns the id that was made when the store was.
	ID() (string, error)
}

// Questioner reads questions that runs put to people, their answers, and the keys of approvers.
type Questioner interface {
	// Question returns one question. Questions calls keep for a page of them, newest first, until it returns false.
	Question(ap int64) (*Asked, error)
	Questions(q QuestionPage, keep func(*Asked) bool) error
	// QuestionsBetween returns the questions with numbers from low to high, at most 20.
	QuestionsBetween(low, high int64) ([]int64, error)
	// CountOpen returns how many questions are open and do not expire before now.
	CountOpen(now int64) (int, error)
	// QuestionSchema returns the schema of the arguments that are asked about.
	QuestionSchema(ap int64) ([]byte, error)
	// Answered returns the questions of a run that were answered and not taken up.
	Answered(run int64) ([]Answered, error)
	// Grant returns the answer to a question that its run took up.
	Grant(ap, run int64) (Grant, bool, error)
	// Share returns the idempotency key of the call that spent a part of a plan's approval; "": none.
	Share(ap int64, share string) (string, error)
	// Keys returns the keys of approvers.
	Keys() (Keys, error)
}

// Mark is how a run stands for somebody who waits for a change.
type Mark struct {
	Principal, State string
	Epoch            int64
	Turn             int
	Key              string // of the effect that waits
}

// QuestionPage says where a page of questions begins: before the question Approval that was asked at Since.
type QuestionPage struct {
	Since, Approval int64
	All             bool  // closed ones too
	Now             int64 // of open ones: those that expire later
}

// PlanPage says where a page of plans begins: before the plan N that was created at Created. "" is everybody's, of all patterns.
type PlanPage struct {
	Principal, Pattern string
	Created, N         int64
	Most               int
}
