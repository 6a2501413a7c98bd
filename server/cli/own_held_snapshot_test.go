package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// loads reads the scene's configuration, over a pool of servers.
func (s *ownScene) loads(t *testing.T, pool *serverPool) Loaded {
	t.Helper()
	loaded, _, err := Load(settings.Sources{Path: s.config, State: s.state}, LoadOptions{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// opens serves the scene's configuration in this process.
func (s *ownScene) opens(t *testing.T) (*service, Loaded) {
	t.Helper()
	loaded := s.loads(t, newServerPool())
	a := &app{invocation: &invocation{Console: console.Console{Out: io.Discard, Err: io.Discard, Environ: []string{"HOME=" + s.dir}}}}
	served, err := a.opener().service("call", loaded, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.close)
	return served, loaded
}

// whatever permits every configuration.
func whatever(Loaded) error { return nil }

// rewriteLock changes the lock as somebody does who can write files.
func (s *ownScene) rewriteLock(t *testing.T, change func(tools map[string]any)) {
	t.Helper()
	var lock map[string]any
	err := json.Unmarshal([]byte(readFile(t, s.lock)), &lock)
	change(lock["tools"].(map[string]any))
	text, err2 := json.Marshal(lock)
	if err := errors.Join(err, err2, os.WriteFile(s.lock, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// stateOfLook is how tool look stands under a configuration, and whether pattern see is offered: a run of it goes on either way.
func stateOfLook(t *testing.T, d *declared) (state catalog.State, offered bool) {
	t.Helper()
	look, ok := d.tools.Tool("look")
	if !ok {
		t.Fatal("there is no tool look")
	}
	for _, p := range d.offered() {
		offered = offered || p.Spec.Name == "see"
	}
	if job, err := d.job(patterns.Begun{Pattern: "see", Config: d.hash}); err != nil || job.Spec.Tool != "look" {
		t.Errorf("a run of see cannot be carried on: %v", err)
	}
	return look.Ready().State, offered
}

// A run that is carried on by a snapshot calls what this process's own lock accepts, signed where a key counts: what its
// snapshot was pinned to lies in a file that says nothing about who accepted it.
func TestSnapshotHoldsWhatTheLockDoesNotAccept(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", longer)
	s.must(t, "catalog", "accept", "--yes")
	before := s.loads(t, nil)
	snapshots := &shelf{snapshots: map[string][]byte{before.Hash(): before.Snapshot()}, asked: map[string]int{}}
	s.write(t, "", less)
	accepted := readFile(t, s.lock)
	look := func(tools map[string]any) map[string]any { return tools["crm/look"].(map[string]any) }
	stands := func(name string, want catalog.State) {
		t.Helper()
		served, _ := s.opens(t)
		served.from.shelf = snapshots
		d, err := served.from.declared(before.Hash())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		state, offered := stateOfLook(t, d)
		if state != want || offered != (want == catalog.Ready) {
			t.Errorf("%s: look is %q, want %q; see is offered: %t", name, state, want, offered)
		}
		if want == catalog.Ready {
			return
		}
		tool, _ := d.tools.Tool("look")
		if _, err := tool.Do(t.Context(), catalog.Call{}); !errors.Is(err, errHeld) {
			t.Errorf("%s: a call ends with %v", name, err)
		}
	}
	stands("as it was accepted", catalog.Ready)
	s.rewriteLock(t, func(tools map[string]any) { delete(tools, "crm/look") })
	stands("no line any more", catalog.Held)
	s.declare(t, strings.Replace(sceneList, "Looks.", "Looks elsewhere.", 1))
	s.must(t, "catalog", "accept", "--yes")
	stands("accepted otherwise", catalog.Held)
	s.declare(t, sceneList)
	if err := os.WriteFile(s.lock, []byte(accepted), 0o600); err != nil {
		t.Fatal(err)
	}
	s.enrol(t)
	stands("nobody signed it", catalog.Held)
	if code, _, errs := s.command(t, []string{goodPassphrase}, "catalog", "accept", "--yes"); code != console.ExitDone {
		t.Fatalf("catalog accept ends with %d: %s", code, errs)
	}
	stands("signed", catalog.Ready)
	s.rewriteLock(t, func(tools map[string]any) { look(tools)["accepted"].(map[string]any)["nonce"] = "another" })
	stands("signed otherwise", catalog.Held)
	if called := s.called(t); len(called) != 0 {
		t.Errorf("calls of %q", called)
	}
}

// What is put in force is listed by what is held then, and what was made of snapshots is made anew.
func TestReplaceHoldsBeforeItLists(t *testing.T) {
	t.Parallel()
	const noting = "        note: {effect: write, bound: {q: {type: string, enum: [a, b], default: a}}, phrase: 'noting {q}', once: args.q}\n"
	s := newOwnScene(t, noting, longer)
	s.must(t, "catalog", "accept", "--yes")
	before := s.loads(t, nil)
	s.write(t, noting, seeing)
	served, first := s.opens(t)
	served.from.shelf = &shelf{snapshots: map[string][]byte{before.Hash(): before.Snapshot(), first.Hash(): first.Snapshot()}, asked: map[string]int{}}
	stands := func(name string, want catalog.State) {
		t.Helper()
		older, err := served.from.declared(before.Hash())
		if err != nil {
			t.Fatal(err)
		}
		begun, err := served.from.declared(first.Hash())
		if err != nil {
			t.Fatal(err)
		}
		for of, d := range map[string]*declared{"own": served.from.own, "a snapshot": older, "the first": begun} {
			if state, offered := stateOfLook(t, d); state != want || offered != (want == catalog.Ready) {
				t.Errorf("%s, %s: look is %q, want %q; see is offered: %t", name, of, state, want, offered)
			}
			tool, _ := d.tools.Tool("look")
			words := tool.Title + tool.Description + string(tool.Input.JSON()) + fmt.Sprint(tool.ReturnWords())
			shown := strings.Contains(words, "Looks.") && strings.Contains(words, `"q"`)
			if shown != (want == catalog.Ready || of != "own") { // there it is what the run was shown
				t.Errorf("%s, %s: a model reads %s", name, of, words)
			}
		}
	}
	stands("before there was a key", catalog.Ready)
	s.enrol(t)
	s.write(t, noting, less)
	if err := served.replace(s.loads(t, served.pool), nil, whatever); err != nil {
		t.Fatal(err)
	}
	stands("with a key", catalog.Held)
	if code, _, errs := s.command(t, []string{goodPassphrase}, "catalog", "accept", "--yes"); code != console.ExitDone {
		t.Fatalf("catalog accept ends with %d: %s", code, errs)
	}
	if err := served.replace(s.loads(t, served.pool), nil, whatever); err != nil {
		t.Fatal(err)
	}
	stands("signed", catalog.Ready)
}
