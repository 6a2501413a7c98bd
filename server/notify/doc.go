// Package notify wakes a person when a run has put a question to them (spec/config.md section 2, key notify).
//
//	Asked ──▶ gathered, half a second ──▶ one at a time ─┬─ auto: notify-send, osascript, powershell.exe: fixed words and a number
//	 returns   1,000 at once are one          10 s       └─ exec: your program, the event as JSON on its standard input
//	 at once
//
// Nothing here can delay a run or make it fail, and nothing here decides. A desktop shows fixed words, never text of a
// model or a tool. Your program gets names, times and the phrase of judged values. These texts are cut to a length, and
// their control and bidi characters are spelled out. Each kind of failure is logged once.
//
// # The event
//
// An [Event] is one JSON document and a line feed:
//
//	{"type":"patterngate/notify/v1","event":"approval_waiting",
//	 "approval_id":"ap_...","run_id":"run_...","pattern":"...","tool":"...","rule":"...","phrase":"...","min_assurance":"user",
//	 "since":"...","expires_at":"...","url":"http://127.0.0.1:8766/a/ap_...","command":"patterngate approvals show ap_...",
//	 "asked":1,"waiting":3}
//
// Members that are not known are left out. The url contains no token: only a signed-in person can open it. asked is
// the number of questions in this event, and waiting the number of all that wait. If an event has several questions, the
// first one is at the top, and up to 19 more are in "more", which has the same members from approval_id to command.
//
// The program is started without a shell, in the working directory and as the user of the server, with the variables of
// [Variables] and no others: no keys, no tokens. A program that needs a secret reads its own file. It has 10 s, then it
// and all of its process group are killed. Its standard output is discarded. The log line of a failure has the first
// KiB of its standard error.
package notify
