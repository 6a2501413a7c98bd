package inspect

// What a reader does after a stop: the actions of the member next (spec/surface.md section 1), in words.
var nextWords = map[string]string{
	"answer_user":   "Answer from the result.",
	"fix_and_retry": "Fix the places that the result names, and call again.",
	"call":          "Make the call that the result gives.",
	"tell_user":     "Tell the person what the result says.",
}

// The view of one stop reason.
const (
	labelExit     = "exit code"
	labelPatterns = "patterns"
	labelPhases   = "phases"
	labelNext     = "next"

	onlyTask = "none: it ends a task or subtask, not the run"
	nothing  = "-"
)

// The heading of the list of stop reasons.
const (
	headReason  = "STOP REASON"
	headExit    = "EXIT"
	headMeaning = "MEANING"
)
