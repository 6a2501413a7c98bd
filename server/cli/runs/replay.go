package runs

import (
	"bytes"
	"errors"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/record"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
)

// A replay test runs a pattern's code again over a recorded run. The record holds the answers of the tools, models and
// people. The test compares the new result with the recorded one.
//
//	record, configuration's snapshot ──assembly.Replay──▶ result = the recorded one?

// replayTest returns an export as a session of the repository's examples. It is a txtar archive with the record, the
// configuration and the result, and a replay is compared with this result. It returns an error for a run that cannot be
// replayed.
func replayTest(events []patterns.Event, export []byte, shelf statefile.Configs) ([]byte, error) {
	s := record.Read(events)
	if s.EndedAt == "" {
		return nil, errors.New("the run has not ended; a test needs its result")
	}
	for _, e := range events {
		if patterns.RedactedAsText(e.Body) != nil {
			return nil, errors.New("some of its values were redacted, so it cannot be replayed")
		}
	}
	begun, err := local.BegunOf(events)
	if err != nil {
		return nil, err
	}
	snapshot, ok := shelf.Config(begun.Config)
	if !ok {
		return nil, fmt.Errorf("its configuration %s is not in the state file", console.Clip(begun.Config, 2*console.MaxName))
	}
	envelope, err := assembly.Replay(export, snapshot)
	if err != nil {
		return nil, fmt.Errorf("it cannot be replayed: %w", err)
	}
	again, err := recordtext.Result(envelope)
	if err != nil {
		return nil, fmt.Errorf("it cannot be replayed: %w", err)
	}
	recorded, err := recordedResult(events)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, recorded) {
		return nil, errors.New("a replay with this version ends differently from the record")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s %s. The record has the answers of its tools, models and people. The pattern's code\n"+
		"# runs again over them, and nothing is called. Put this file among the examples and run go test ./examples.\n"+
		"replay record.jsonl config.json\ncmp stdout result.json\n\n", console.Clip(s.Pattern, console.MaxName), console.Clip(s.Status, console.MaxName), console.Clip(s.StopReason, console.MaxName))
	fmt.Fprintf(&b, "-- record.jsonl --\n%s-- config.json --\n%s\n-- result.json --\n%s", export, snapshot, recorded)
	return b.Bytes(), nil
}

// recordedResult returns the result that the end event holds.
func recordedResult(events []patterns.Event) ([]byte, error) {
	for _, e := range events {
		if e.Kind != patterns.EndEvent {
			continue
		}
		body, err := patterns.DecodeBody(e)
		if err != nil {
			return nil, err
		}
		end, _ := body.(*patterns.EndBody)
		if len(end.Envelope) == 0 {
			break
		}
		return recordtext.Result(end.Envelope)
	}
	return nil, errors.New("the record does not have the result")
}
