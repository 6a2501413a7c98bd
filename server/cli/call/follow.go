package call

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"patterngate/catalog/upstream"
	"patterngate/ijson"
	"patterngate/server/cli/console"
	"patterngate/server/cli/toolargs"
)

// These constants are about following a run (spec/surface.md section 2).
const (
	waitTool     = "run_wait"
	waitArgument = "max_wait_seconds"
	usualWait    = 45 * time.Second // if neither the call nor the schema sets it
	betweenWaits = time.Second      // minimum time between requests, for a server that does not let a call wait
)

// follows reports whether the command waits for a run with more than one call.
func (c *toolCall) follows() bool { return c.wait > 0 }

// checkWait refuses a --wait that is not a positive duration.
func (c *toolCall) checkWait(given bool) error {
	if given && c.wait <= 0 {
		return console.Usage("--wait", errors.New("got "+c.wait.String()), "a duration such as --wait 90s or --wait 10m")
	}
	return nil
}

// patience returns the arguments with a shorter wait for the run. It changes them only if the call sets no wait and its
// default is longer than left.
func (c *toolCall) patience(tool upstream.Tool, arguments json.RawMessage, left time.Duration) json.RawMessage {
	usual, takes := waitOf(tool.Input)
	members, err := toolargs.Members(arguments)
	if !c.follows() || !takes || left >= usual || err != nil || len(toolargs.Without(members, waitArgument)) < len(members) {
		return arguments
	}
	seconds := math.Ceil(max(left, 0).Seconds()*1000) / 1000
	return toolargs.JoinMembers(append(members, toolargs.Member{Name: ijson.Canonical(waitArgument), Value: ijson.Canonical(seconds)}))
}

// waitOf returns how long a tool waits for its run by default. takes is false if its schema has no such argument.
func waitOf(schema json.RawMessage) (usual time.Duration, takes bool) {
	property, takes := toolargs.ReadTypes(schema).Properties[waitArgument].(map[string]any)
	usual = usualWait
	if seconds, ok := property["default"].(float64); ok && seconds >= 0 && seconds <= usual.Seconds()*100 {
		usual = time.Duration(seconds * float64(time.Second))
	}
	return usual, takes
}

// follow waits until the run of a result ends or pauses, or the time is over. It returns the newest result, also with an
// error.
func (c *toolCall) follow(ctx context.Context, to *callee, result upstream.Result, until time.Time) (upstream.Result, error) {
	wait, there := to.named(waitTool)
	var asked time.Time
	for c.follows() && there {
		e, ours := readEnvelope(result.Structured)
		if !ours || e.Status != "running" || e.RunID == "" {
			break
		}
		if err := pause(ctx, min(time.Until(asked.Add(betweenWaits)), time.Until(until))); err != nil {
			return result, err
		}
		left := time.Until(until)
		if left <= 0 {
			break
		}
		c.followed, asked = e.RunID, time.Now()
		newer, err := c.call(ctx, to, waitTool, c.patience(wait, ijson.Canonical(map[string]any{"run_id": e.RunID}), left))
		if err != nil {
			return result, err
		}
		result = newer
	}
	return result, nil
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
