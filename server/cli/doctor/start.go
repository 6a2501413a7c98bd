package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"patterngate/catalog/upstream"
	"patterngate/server/buildinfo"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings/machine"
)

// serveWithin is the time limit for the program to start and to list its tools.
const serveWithin = 30 * time.Second

// startedProgram is a program that was started as a client does, and the session with it.
type startedProgram struct {
	cmd    *exec.Cmd
	tap    *wireTap
	said   *tailWriter // the end of its standard error
	client *upstream.Client
	first  time.Duration // time until the answer to the handshake
}

// startProgram starts the program and makes the handshake, as every client does. The caller ends it.
func startProgram(ctx context.Context, start clientStart) (*startedProgram, error) {
	cmd := exec.CommandContext(ctx, start.command, start.args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = append([]string{}, start.environ...), start.dir, 2*time.Second
	machine.OwnGroup(cmd)
	p := &startedProgram{cmd: cmd, said: &tailWriter{}}
	cmd.Stderr = p.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.tap = &wireTap{ReadCloser: out}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.client, err = upstream.Over(ctx, p.tap, in, upstream.Identity{Name: "patterngate-doctor", Version: buildinfo.Read().Version})
	if err != nil {
		_ = cmd.Cancel()
		if ended := cmd.Wait(); ended != nil {
			err = fmt.Errorf("%w (%w)", err, ended)
		}
		if said := p.lastWords(); said != "" {
			err = fmt.Errorf("%w; it says: %s", err, said)
		}
		return nil, err
	}
	p.first = time.Since(began)
	return p, nil
}

// lastWords returns the last lines that the program wrote to standard error.
func (p *startedProgram) lastWords() string {
	lines := strings.Split(strings.TrimSpace(p.said.String()), "\n")
	return console.OtherText(strings.Join(lines[max(0, len(lines)-4):], " | "), 500)
}

// end closes the program's input, and kills the program if it does not end then.
func (p *startedProgram) end() {
	_ = p.client.Close()
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // its exit after the end of its input does not matter
		close(ended)
	}()
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		_ = p.cmd.Cancel()
		<-ended
	}
}

// examineServer starts the program, lists its tools and checks them. fits reports whether the configuration loads. If it does
// not, that is why the program does not start, and its faults are not printed again.
func (a *Commands) examineServer(ctx context.Context, start clientStart, name string, fits bool, f *findings) {
	ctx, cancel := context.WithTimeout(ctx, serveWithin)
	defer cancel()
	p, err := startProgram(ctx, start)
	if err != nil && !fits {
		f.fail("start", fixConfig, notWithConfig)
		return
	}
	if err != nil {
		f.fail("start", fixStart(clientfile.CommandLine(runtime.GOOS, clientfile.Entry{Command: start.command, Args: start.args})), notStarted(start.dir, err))
		return
	}
	defer p.end()
	f.ok("start", startedIn(start.dir))
	f.first = p.first
	if p.first >= slowStart {
		f.warn("first answer", fixSlow, firstAnswer(p.first))
	} else {
		f.ok("first answer", firstAnswer(p.first))
	}
	if _, err := p.client.Tools(ctx); err != nil {
		f.fail("tools", fixListTools+f.with, err.Error())
		return
	}
	junk, first, tools := p.tap.seen()
	if junk > 0 {
		f.fail("stdout", fixStdout, otherOutput(junk, console.OtherText(first, 120)))
	} else {
		f.ok("stdout", onlyMessages)
	}
	f.tools = len(tools)
	examineTools(name, tools, f)
	tellHeld(heldTools(ctx, p.client), f)
}

// heldTools asks the program which tools cannot be called now, and why. It returns none for a program without
// describe_catalog.
func heldTools(ctx context.Context, client *upstream.Client) []heldRow {
	var rows []heldRow
	cursor := ""
	for range 20 { // pages
		args := map[string]any{"limit": 100}
		if cursor != "" {
			args["cursor"] = cursor
		}
		raw, err := json.Marshal(args)
		if err != nil {
			return rows
		}
		reply, err := client.CallRaw(ctx, "describe_catalog", raw, nil)
		if err != nil || reply.IsError {
			return rows
		}
		var page struct {
			Tools []struct {
				Name  string `json:"name"`
				State string `json:"state"`
				Why   string `json:"why"`
			} `json:"tools"`
			Next string `json:"next_cursor"`
		}
		if json.Unmarshal(reply.Structured, &page) != nil {
			return rows
		}
		for _, t := range page.Tools {
			if t.State != "" && t.State != "ready" {
				rows = append(rows, heldRow{t.Name, t.State, t.Why})
			}
		}
		if cursor = page.Next; cursor == "" {
			return rows
		}
	}
	return rows
}
