package recordtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Recorder writes a record by hand, as an engine would. T and ID must be set. Times are seconds after [Began]. A body that is no
// JSON fails the test. It is not safe for concurrent use.
type Recorder struct {
	T      testing.TB
	ID     string
	Events []patterns.Event
}

// Began is when the runs began.
var Began = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// Add appends an event. body is JSON.
func (r *Recorder) Add(at float64, kind patterns.EventKind, key, body string) {
	r.T.Helper()
	v, err := ijson.Decode([]byte(body))
	if err != nil {
		r.T.Fatalf("%s %s: %v\n%s", kind, key, err, body)
	}
	e := patterns.Event{
		Seq: int64(len(r.Events) + 1), At: Began.Add(time.Duration(at * float64(time.Second))).UnixMicro(),
		Kind: kind, Key: key, Body: ijson.Canonical(v),
	}
	var before []byte
	if n := len(r.Events); n > 0 {
		before = r.Events[n-1].Hash
	}
	e.Seal(r.ID, before)
	r.Events = append(r.Events, e)
}

// Start appends the first event, of a run of a pattern. arguments and budget are JSON.
func (r *Recorder) Start(pattern, kind, arguments, budget string) {
	r.Add(0, patterns.StartEvent, "", `{"run_id":"`+r.ID+`","pattern":"`+pattern+`","pattern_kind":"`+kind+`","version":"1.0","principal":"local:1000",
		"client":{"name":"claude-ai","version":"0.1","era":"2025-11-25"},"config":"sha256:00","arguments":`+arguments+`,"budget":`+budget+`}`)
}

// intent appends what the run is going to do.
func (r *Recorder) intent(at float64, key, body string) { r.Add(at, patterns.IntentEvent, key, body) }

// outcome appends what came of an intent.
func (r *Recorder) outcome(at float64, key, body string) {
	r.Add(at, patterns.OutcomeEvent, key, body)
}

// Call appends the intent of a call and, if outcome is not "", its outcome.
func (r *Recorder) Call(at, until float64, key, effect, input, verdict, outcome string) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	name, _, _ = strings.Cut(name, "#")
	r.intent(at, key, `{"effect_kind":"tool","name":"`+name+`","effect":"`+effect+`","idempotency_key":"`+r.ID+"/"+key+`","input":`+input+`,"verdict":`+verdict+`}`)
	if outcome != "" {
		r.outcome(until, key, outcome)
	}
}

// spend appends a call that uses the approval.
func (r *Recorder) spend(at, until float64, key, input, verdict, outcome string) {
	name, _, _ := strings.Cut(key, "#")
	r.intent(at, key, `{"effect_kind":"tool","name":"`+name+`","effect":"write","grant":"`+recordedID+`","idempotency_key":"`+r.ID+"/"+key+`","input":`+input+`,"verdict":`+verdict+`}`)
	r.outcome(until, key, outcome)
}

// allowlisted is the verdict about a call that the allow list permits.
const allowlisted = `{"decision":"approve","reason":"allowlisted"}`

// All returns the records of this package by name.
func All(t testing.TB) map[string][]patterns.Event {
	return map[string][]patterns.Event{
		"refund": Refund(t), "report": report(t), "doubt": doubt(t), "waiting": Waiting(t), "hostile": Hostile(t),
		"empty": empty(t), "asking": asking(t), "lapsed": lapsed(t), "plan": plan(t),
	}
}

// Refund returns a supervised refund: looked up, blocked once, reduced by a person, paid.
func Refund(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000a1"}
	r.Start("supervised_refund", "supervisor", `{"goal":"Refund the annual plan of user 42","actions":[]}`, `{"max_seconds":30,"max_steps":8}`)
	r.intent(0.001, "turn#1", `{"effect_kind":"caller","name":"turn","input":{"argument":"actions","turn":1,"refused":0}}`)
	r.outcome(62.5, "turn#1", `{"state":"ok","output":{"actions":[]}}`)
	r.intent(62.501, "action#1", `{"effect_kind":"caller","name":"action","input":{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}}`)
	r.outcome(62.501, "action#1", `{"state":"ok"}`)
	r.Call(62.502, 62.51, "get_refund_context#1", "read", `{"user_id":42}`, `{"decision":"approve","rule":"read_only_context","reason":"read_only_context","passes":1,"policy":"sha256:11"}`,
		`{"state":"ok","output":{"billing":{"days_since_payment":10,"last_charge_usd":1200}}}`)
	r.intent(62.52, "action#2", `{"effect_kind":"model","name":"action","input":{"goal":"x"}}`)
	r.outcome(63.75, "action#2", `{"state":"ok","output":"{}","usage":{"llm_calls":1,"input_tokens":812,"output_tokens":64}}`)
	r.Add(63.751, patterns.JudgedEvent, "issue_refund#judged1", `{"phase":"supervisor","decision":"escalate","rule":"high_refund_requires_human","reason":"high_refund_requires_human","proposal":{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200,"reason":"annual plan"}}}`)
	q := r.question("issue_refund#1", "issue_refund", map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "annual plan"})
	r.asks(63.752, "approve#1", q, "high_refund_requires_human")
	r.refusedAnswer(9000, "local:1000", "approval_invalid")
	r.answers(11000, "approve#1", q, gateway.ChooseEdit, map[string]any{"user_id": 42.0, "amount_usd": 800.0, "reason": "annual plan"}, "800 is what the contract says")
	r.spend(11000.01, 11000.2, "issue_refund#1", `{"user_id":42,"amount_usd":800,"reason":"annual plan"}`,
		`{"decision":"escalate","rule":"high_refund_requires_human","reason":"high_refund_requires_human","passes":2,"policy":"sha256:11"}`,
		`{"state":"ok","output":{"refund":{"refund_id":"rf_1","amount_usd":800}}}`)
	r.Add(11000.3, patterns.JudgedEvent, "send_refund_email#judged1", `{"phase":"supervisor","decision":"block","rule":"email_before_refund","reason":"email_before_refund","need":["issue_refund"],"proposal":{"kind":"tool","name":"send_refund_email","args":{"user_id":7}}}`)
	r.Add(11000.4, patterns.EndEvent, "", `{"status":"stopped","stop_reason":"supervisor_block:email_before_refund","phase":"supervisor","usage":{"llm_calls":1,"input_tokens":812,"output_tokens":64},
		"envelope":{"status":"stopped","usage":{"model":"gpt-4.1-mini","llm_calls":1,"input_tokens":812,"output_tokens":64},"budget":{"max_seconds":{"limit":30,"used":1.45},"max_steps":{"limit":8,"used":3}},
		"effects":[{"key":"get_refund_context#1","tool":"get_refund_context","effect":"read","args_hash":"aaaaaaaaaaaa","status":"done"},{"key":"issue_refund#1","tool":"issue_refund","effect":"write","args_hash":"bbbbbbbbbbbb","status":"done"}]}}`)
	return r.Events
}

// report returns a run of an orchestrator: three tasks side by side, one with a time-out, a second attempt and a late answer.
func report(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000b2"}
	r.Start("run_orchestrator", "orchestrator", `{"goal":"Morning report","region":"US","report_date":"2026-02-26"}`, `{"max_seconds":20,"max_dispatches":8}`)
	r.intent(0.001, "tasks#1", `{"effect_kind":"model","name":"tasks","input":{"goal":"Morning report"}}`)
	r.outcome(0.003, "tasks#1", `{"state":"ok","output":"{\"kind\":\"plan\",\"tasks\":[{\"id\":\"sales\"},{\"id\":\"payments\"},{\"id\":\"stock\"}]}","usage":{"llm_calls":1,"input_tokens":0,"output_tokens":0}}`)
	args := `{"report_date":"2026-02-26","region":"US"}`
	r.Call(0.004, 0, "task#1/sales_worker#1", "read", args, allowlisted, "")
	r.Call(0.004, 0, "task#2/payments_worker#1", "read", args, allowlisted, "")
	r.Call(0.005, 0, "task#3/inventory_worker#1", "read", args, allowlisted, "")
	r.outcome(0.104, "task#1/sales_worker#1", `{"state":"ok","output":{"sales":{"net":26825}}}`)
	r.outcome(0.505, "task#3/inventory_worker#1", `{"state":"ok","output":{"stock":{}}}`)
	r.outcome(1.004, "task#2/payments_worker#1", `{"state":"unknown","reason":"timeout"}`)
	r.Call(1.005, 1.205, "task#2/payments_worker#2", "read", args, allowlisted, `{"state":"ok","output":{"payments":{"failed":3}}}`)
	r.Add(1.3, patterns.LateEvent, "task#2/payments_worker#1", `{"output":{"payments":{"failed":3}},"state":"ok"}`)
	r.intent(1.301, "answer#1", `{"effect_kind":"model","name":"answer","input":{}}`)
	r.outcome(1.302, "answer#1", `{"state":"ok","output":"All is well.","usage":{"llm_calls":1,"input_tokens":0,"output_tokens":0}}`)
	r.Add(1.303, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","usage":{"llm_calls":2,"input_tokens":0,"output_tokens":0},
		"envelope":{"status":"ok","usage":{"model":"rules"},"plan":[{"id":"sales","worker":"sales_worker"},{"id":"payments","worker":"payments_worker"},{"id":"stock","worker":"inventory_worker"}],
		"budget":{"max_dispatches":{"limit":8,"used":4},"max_seconds":{"limit":20,"used":1.303}}}}`)
	return r.Events
}

// doubt returns a payment whose process was killed: taken over, settled by a person as not done, made again.
func doubt(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000c3"}
	r.Start("supervised_refund", "supervisor", `{"goal":"x"}`, `{"max_steps":8}`)
	r.Call(0.01, 0, "issue_refund#1", "write", `{"user_id":42,"amount_usd":20}`, `{"decision":"approve","rule":"refund_within_auto_limit","reason":"refund_within_auto_limit","passes":1}`, "")
	r.Add(3.5, patterns.NoteEvent, "", `{"what":"takeover","by":"process 4711"}`)
	r.outcome(3.5, "issue_refund#1", `{"state":"unknown","reason":"interrupted"}`)
	r.intent(3.501, "doubt#1/settle#1", `{"effect_kind":"human","name":"settle","input":{"effect":"issue_refund#1","tool":"issue_refund","args_hash":"4e1979ae6163"}}`)
	r.settles(200000, "issue_refund#1", false, "no entry in the ledger")
	r.outcome(200000.5, "doubt#1/settle#1", `{"state":"ok","by":"local:1000","channel":"cli","output":{"happened":false,"by":"local:1000","channel":"cli","comment":"no entry in the ledger"}}`)
	r.Call(200000.6, 200000.7, "doubt#1/issue_refund#1", "write", `{"user_id":42,"amount_usd":20}`, `{"decision":"approve","rule":"refund_within_auto_limit","reason":"refund_within_auto_limit","passes":1}`, `{"state":"ok","output":{}}`)
	r.Add(200001, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","usage":{"llm_calls":0,"input_tokens":0,"output_tokens":0},"envelope":{"usage":{"model":"caller"}}}`)
	return r.Events
}

// Waiting returns a run that waits for its caller.
func Waiting(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000d4"}
	r.Start("route_ticket", "routing", `{"ticket":"refund"}`, `{"max_route_attempts":3}`)
	r.intent(0.001, "route#1", `{"effect_kind":"caller","name":"route","input":{"target":"sales_specialist"}}`)
	r.outcome(0.001, "route#1", `{"state":"ok"}`)
	r.Call(0.002, 0.003, "sales_specialist#1", "read", `{"ticket":"refund"}`, allowlisted, `{"state":"ok","output":{"status":"declined"}}`)
	r.intent(0.004, "turn#1", `{"effect_kind":"caller","name":"turn","input":{"argument":"route","turn":2,"refused":0}}`)
	return r.Events
}

// hostileText has characters that act on terminals and change the order of text, and is long.
var hostileText = "\x1b[2J\x1b]0;owned\x07\n\rEnded  ok\u202eevil\u2066\u200f שלום مرحبا \u0085\u2028x" + strings.Repeat("A", 3000)

// Hostile returns a run with hostileText in each place where text from outside can be.
func Hostile(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000e5"}
	evil := quotedJSON(hostileText)
	r.Add(0, patterns.StartEvent, "", `{"run_id":"`+r.ID+`","pattern":`+evil+`,"pattern_kind":"supervisor","principal":`+evil+`,"client":{"name":`+evil+`,"version":`+evil+`},"arguments":{"goal":`+evil+`}}`)
	r.Add(1, patterns.IntentEvent, "evil\n"+string(rune(0x202e))+"#1", `{"effect_kind":"tool","name":`+evil+`,"effect":`+evil+`,"input":{`+evil+`:`+evil+`},"verdict":{"decision":`+evil+`,"rule":`+evil+`,"reason":`+evil+`,"revisions":[`+evil+`]}}`)
	r.Add(2, patterns.OutcomeEvent, "evil\n"+string(rune(0x202e))+"#1", `{"state":`+evil+`,"reason":`+evil+`,"output":`+evil+`}`)
	q := r.question(hostileText+"#1", hostileText, map[string]any{hostileText: hostileText, "a": 1.0})
	r.asks(3, "approve#1", q, hostileText)
	r.refusedAnswer(3.5, hostileText, hostileText)
	r.answers(4, "approve#1", q, gateway.ChooseEdit, map[string]any{hostileText: "x", "b": hostileText}, hostileText[:500]) // a comment has at most 1,000 characters
	r.Add(5, patterns.JudgedEvent, "x", `{"phase":`+evil+`,"decision":`+evil+`,"rule":`+evil+`,"reason":`+evil+`,"proposal":{"name":`+evil+`}}`)
	r.Add(6, patterns.NoteEvent, "", `{"what":`+evil+`,"by":`+evil+`,"channel":`+evil+`,"reason":`+evil+`}`)
	r.Add(7, "evil\x1b[31m", "\x1b[31m", `{}`)
	r.Add(8, patterns.IntentEvent, "y#1", `{"effect_kind":7}`)
	r.Add(9, patterns.EndEvent, "", `{"status":`+evil+`,"stop_reason":`+evil+`,"phase":`+evil+`,"envelope":{"budget":{`+evil+`:{"limit":1,"used":2}},"usage":{"model":`+evil+`,"llm_calls":1}}}`)
	return r.Events
}

// empty returns a record that has only its start.
func empty(t testing.TB) []patterns.Event {
	r := Recorder{T: t, ID: "run_00000000000000f6"}
	r.Start("route_ticket", "routing", `{"ticket":"x"}`, `{}`)
	return r.Events
}

func quotedJSON(text string) string {
	b, _ := json.Marshal(text) // a text
	return string(b)
}
