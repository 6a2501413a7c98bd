// Package kinds holds the code of the agent patterns, one file for each. Every pattern is a function of its [patterns.Run],
// [patterns.Spec] and [patterns.Task], and returns a [patterns.Result].
//
//	Decompose    one plan of steps, carried out in order
//	Orchestrate  a plan of tasks that workers do at the same time, and one answer made of their results
//	Route        one worker is chosen, and another one if it declines
//	Supervise    a worker proposes one action at a time, and a supervisor reviews each one
//	Call         one call of one tool
//	Plan         a stored plan of subtasks: see package planexecute
//
// [Of] returns the code of a kind. [DryRun] says how the gate would judge the calls of an intent, and makes none of them.
//
// Read call.go first, which is the smallest pattern, then decompose.go.
package kinds
