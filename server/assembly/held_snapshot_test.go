package assembly

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/settings"
)

// heldStarted names the file that the test binary writes if it is started as the server of a [heldScene].
const heldStarted = "HELD_SCENE_STARTED"

func init() {
	if file := os.Getenv(heldStarted); file != "" {
		_ = os.WriteFile(file, nil, 0o600)
		os.Exit(1)
	}
}

// Patterns over the scene's server, by which a configuration is changed.
const (
	seen15 = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 15}}}\n"
	seen20 = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 20}}}\n"
	seen10 = "patterns: {see: {kind: call, tool: look, budget: {max_seconds: 10}}}\n"
)

// heldScene is a configuration with a server whose tools a person accepts. The server is never started.
type heldScene struct {
	config, state, lock, started string
	key                          *approver.Key // signs what is accepted; nil: nobody
}

// newHeldScene writes a configuration: the scene's server, and what else it says at the places of catalog and of the top.
func newHeldScene(t *testing.T, catalog, top string) *heldScene {
	t.Helper()
	dir := t.TempDir()
	s := &heldScene{
		config: filepath.Join(dir, "pg.yaml"), state: filepath.Join(dir, "state.db"), lock: filepath.Join(dir, "patterngate.lock"), started: filepath.Join(dir, "started"),
	}
	s.write(t, catalog, top)
	return s
}

// write writes the configuration again.
func (s *heldScene) write(t *testing.T, catalog, top string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("version: 1\ncatalog:\n  servers:\n    crm:\n      start_timeout_seconds: 4\n      stdio: {command: %q, env: {%s: %q}}\n"+
		"      tools:\n        look: {effect: read}\n        drift: {effect: read}\n%s%s", self, heldStarted, s.started, catalog, top)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// accepts writes into the lock what the server declares of look, drift and note, as "catalog accept" does: signed if a key is
// enrolled.
func (s *heldScene) accepts(t *testing.T, look string) {
	t.Helper()
	lock, err := pins.Read(s.lock)
	if err != nil {
		t.Fatal(err)
	}
	queried := []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`)
	for _, d := range []pins.Definition{
		{Name: "look", Description: look, Input: queried}, {Name: "drift", Description: "Drifts.", Input: []byte(`{"type":"object","additionalProperties":true}`)},
		{Name: "note", Description: "Notes.", Input: queried},
	} {
		by := pins.Acceptance{At: now(), By: "local:1", Assurance: string(gateway.UserAssurance)}
		if s.key != nil {
			act := approver.Sign(gateway.ActAccept, AcceptSubject("crm/"+d.Name, d), s.key, now())
			by = pins.Acceptance{
				At: act.At, By: "key:" + act.Key, Assurance: string(gateway.SignedAssurance), Key: act.Key, Nonce: act.Nonce, Signature: act.Signature,
			}
		}
		if err := lock.Accept("crm", d, by); err != nil {
			t.Fatal(err)
		}
	}
	if err := lock.Write(s.lock); err != nil {
		t.Fatal(err)
	}
}

// enrol puts an approver key into the state file.
func (s *heldScene) enrol(t *testing.T) (key *approver.Key) {
	t.Helper()
	engine, err := local.Open(local.Options{Path: s.state, Source: &source{}})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	file, key, err := approver.New("Anna", "correct horse battery", now())
	if err != nil {
		t.Fatal(err)
	}
	public, err := approver.Enrolment(file, key, now())
	if err == nil {
		err = engine.Approvals().Enroll(public)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// loads reads the scene's configuration, over a pool of servers.
func (s *heldScene) loads(t *testing.T, pool *serverPool) Loaded {
	t.Helper()
	loaded, _, err := Load(settings.Sources{Path: s.config, State: s.state}, LoadOptions{pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// opens serves the scene's configuration.
func (s *heldScene) opens(t *testing.T) (*Service, Loaded) {
	t.Helper()
	loaded := s.loads(t, newServerPool())
	served, err := Open(loaded, ServiceOptions{Log: slog.New(slog.DiscardHandler), PageOf: func(*local.Engine) server.Page { return server.Page{} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	return served, loaded
}

// anyConfig permits every configuration.
func anyConfig(Loaded) error { return nil }

// rewriteLock changes the lock as somebody does who can write files.
func (s *heldScene) rewriteLock(t *testing.T, change func(tools map[string]any)) {
	t.Helper()
	var lock map[string]any
	before, err0 := os.ReadFile(s.lock)
	err := json.Unmarshal(before, &lock)
	change(lock["tools"].(map[string]any))
	text, err2 := json.Marshal(lock)
	if err := errors.Join(err0, err, err2, os.WriteFile(s.lock, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// stateOfLook is how tool look stands under a configuration, and whether pattern see is offered: a run of it goes on either way.
func stateOfLook(t *testing.T, d *Declaration) (state catalog.State, offered bool) {
	t.Helper()
	look, ok := d.Tools.Tool("look")
	if !ok {
		t.Fatal("there is no tool look")
	}
	for _, p := range d.Offered() {
		offered = offered || p.Spec.Name == "see"
	}
	if job, err := d.Job(patterns.Begun{Pattern: "see", Config: d.hash}); err != nil || job.Spec.Tool != "look" {
		t.Errorf("a run of see cannot be carried on: %v", err)
	}
	return look.Ready().State, offered
}

// A run that is carried on by a snapshot calls what this process's own lock accepts, signed where a key counts: what its
// snapshot was pinned to is in a file that says nothing about who accepted it.
func TestSnapshotHoldsWhatTheLockDoesNotAccept(t *testing.T) {
	t.Parallel()
	s := newHeldScene(t, "", seen20)
	s.accepts(t, "Looks.")
	before := s.loads(t, nil)
	snapshots := &shelf{snapshots: map[string][]byte{before.Hash(): before.Snapshot()}, asked: map[string]int{}}
	s.write(t, "", seen10)
	accepted, err := os.ReadFile(s.lock)
	if err != nil {
		t.Fatal(err)
	}
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
		tool, _ := d.Tools.Tool("look")
		if _, err := tool.Do(t.Context(), catalog.Call{}); !errors.Is(err, errHeld) {
			t.Errorf("%s: a call ends with %v", name, err)
		}
	}
	stands("as it was accepted", catalog.Ready)
	s.rewriteLock(t, func(tools map[string]any) { delete(tools, "crm/look") })
	stands("no line any more", catalog.Held)
	s.accepts(t, "Looks elsewhere.")
	stands("accepted otherwise", catalog.Held)
	if err := os.WriteFile(s.lock, accepted, 0o600); err != nil {
		t.Fatal(err)
	}
	key := s.enrol(t)
	stands("nobody signed it", catalog.Held)
	s.key = key
	s.accepts(t, "Looks.")
	stands("signed", catalog.Ready)
	s.rewriteLock(t, func(tools map[string]any) { look(tools)["accepted"].(map[string]any)["nonce"] = "another" })
	stands("signed otherwise", catalog.Held)
	if _, err := os.Stat(s.started); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the server was started: %v", err)
	}
}

// What is put in force is listed by what is held then, and what was made of snapshots is made again.
func TestReplaceHoldsBeforeItLists(t *testing.T) {
	t.Parallel()
	const noting = "        note: {effect: write, bound: {q: {type: string, enum: [a, b], default: a}}, phrase: 'noting {q}', once: args.q}\n"
	s := newHeldScene(t, noting, seen20)
	s.accepts(t, "Looks.")
	before := s.loads(t, nil)
	s.write(t, noting, seen15)
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
		for of, d := range map[string]*Declaration{"own": served.from.own, "a snapshot": older, "the first": begun} {
			if state, offered := stateOfLook(t, d); state != want || offered != (want == catalog.Ready) {
				t.Errorf("%s, %s: look is %q, want %q; see is offered: %t", name, of, state, want, offered)
			}
			tool, _ := d.Tools.Tool("look")
			words := tool.Title + tool.Description + string(tool.Input.JSON()) + fmt.Sprint(tool.ReturnWords())
			shown := strings.Contains(words, "Looks.") && strings.Contains(words, `"q"`)
			if shown != (want == catalog.Ready || of != "own") { // there it is what the run was shown
				t.Errorf("%s, %s: a model reads %s", name, of, words)
			}
		}
	}
	stands("before there was a key", catalog.Ready)
	key := s.enrol(t)
	s.write(t, noting, seen10)
	if err := served.Put(s.loads(t, served.pool), nil, anyConfig); err != nil {
		t.Fatal(err)
	}
	stands("with a key", catalog.Held)
	s.key = key
	s.accepts(t, "Looks.")
	if err := served.Put(s.loads(t, served.pool), nil, anyConfig); err != nil {
		t.Fatal(err)
	}
	stands("signed", catalog.Ready)
}
