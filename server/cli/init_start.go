package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
	"patterngate/ijson"
	"patterngate/server"
)

// importedTool is a tool as its server declared it, and what a person said of it.
type importedTool struct {
	upstream.Tool
	as     string         // its name in our catalog; "" is its own
	effect catalog.Effect // write until a person says another
	allow  bool           // a person named it; nothing else is in force
}

// listed is the tool's name in our catalog.
func (t importedTool) listed() string {
	if t.as != "" {
		return t.as
	}
	return t.Name
}

// The bounds of starting servers.
const (
	startWithin     = 60 * time.Second // as servers.NAME.start_timeout_seconds
	startsAtOnce    = 4
	maxImported     = 200 // servers of one file, and as many tools as one may have
	maxStarterWords = 300 // characters of a reason that are shown
)

// startServers starts each server once and lists its tools, some at a time. What cannot be started says so in problem, the
// others go on. said is told of each, from one goroutine at a time.
func (a *app) startServers(ctx context.Context, servers []importedServer, said func(s importedServer)) {
	var wait sync.WaitGroup
	var telling sync.Mutex
	room := make(chan struct{}, startsAtOnce)
	for i := range servers {
		s := &servers[i]
		if s.problem != "" {
			said(*s)
			continue
		}
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := s.list(ctx, startWithin); err != nil {
				s.problem = s.unstarted(err)
			}
			telling.Lock()
			defer telling.Unlock()
			said(*s)
		})
	}
	wait.Wait()
}

// list starts the server, lists its tools and ends it.
func (s *importedServer) list(ctx context.Context, within time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	client, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what it listed is there
	tools, err := client.Tools(ctx)
	if err != nil {
		return err
	}
	if len(tools) > maxImported {
		return fmt.Errorf("it declares %d tools, at most %d are taken over", len(tools), maxImported)
	}
	seen := map[string]bool{}
	for _, t := range tools {
		if seen[t.Name] {
			return fmt.Errorf("it declares two tools %s", t.Name)
		}
		if fault := unfitTool(t); fault != "" {
			s.note("its tool %s is left out: %s", ijson.Cut(t.Name, 80), fault)
			continue
		}
		seen[t.Name] = true
		s.tools = append(s.tools, importedTool{Tool: t, effect: catalog.Write})
	}
	return nil
}

// unfitTool says why a tool cannot stand in a catalog; "" where it can. Its schemas are part of the lock, so they must be
// JSON that can be hashed.
func unfitTool(t upstream.Tool) string {
	switch {
	case len(t.Name) > 256:
		return "its name is longer than 256 bytes"
	case len(t.Title)+len(t.Description) > 64<<10:
		return "its description is longer than 64 KiB"
	}
	for _, part := range []json.RawMessage{t.Input, t.Output} {
		if part == nil {
			continue
		}
		if v, err := ijson.Decode(part); err != nil {
			return "its schema cannot be read: " + err.Error()
		} else if _, ok := v.(map[string]any); !ok {
			return "its schema is no object"
		}
	}
	if t.Input == nil {
		return "it has no input schema"
	}
	return ""
}

// open starts the program, or dials the server.
func (s *importedServer) open(ctx context.Context) (*upstream.Client, error) {
	who := upstream.Identity{Name: "patterngate", Version: version().Version}
	if s.path == "" {
		token, err := s.bearer()
		if err != nil {
			return nil, err
		}
		e, err := upstream.ParseEndpoint(s.url, token)
		if err != nil {
			return nil, err
		}
		return upstream.Dial(ctx, e, who)
	}
	p := upstream.Program{Command: s.path, Env: s.environment(), Dir: s.dir}
	if p.Dir == "" {
		p.Dir, _ = os.Getwd()
	}
	for _, arg := range s.args {
		p.Args = append(p.Args, arg.now)
	}
	return upstream.Start(ctx, p, who)
}

// errHeaders says what cannot be sent here.
var errHeaders = errors.New("it needs other headers than a bearer token, which are not sent here; its tools are not known")

// bearer is the only header that is sent to a server at a URL while its tools are listed.
func (s *importedServer) bearer() (string, error) {
	token := ""
	for _, h := range s.headers {
		value, ok := strings.CutPrefix(h.now, "Bearer ")
		if !strings.EqualFold(h.name, "Authorization") || !ok {
			return "", errHeaders
		}
		token = value
	}
	return token, nil
}

// unstarted is why a server could not be started, without what is secret and in one line.
func (s *importedServer) unstarted(err error) string {
	text := err.Error()
	for _, v := range s.secrets() {
		text = strings.ReplaceAll(text, v, "***")
	}
	return ijson.Cut(server.Visible(strings.Join(strings.Fields(text), " ")), maxStarterWords)
}

// secrets are the values that must never be shown.
func (s *importedServer) secrets() []string {
	var list []string
	add := func(v importedValue) {
		if v.hidden() && v.now != "" {
			list = append(list, v.now, strings.TrimPrefix(v.now, v.prefix))
		}
	}
	for _, v := range s.args {
		add(v)
	}
	for _, v := range slices.Concat(s.env, s.headers) {
		add(v.importedValue)
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) }) // the whole before its part
	return list
}

// nameTools gives each tool a name that is unlike each other, the demo's tools, the patterns' and what the program itself
// takes.
func nameTools(servers []importedServer, reserved []string) {
	taken := map[string]bool{"final": true, "model": true, "caller": true}
	for _, name := range reserved {
		taken[name] = true
	}
	for i := range servers {
		s := &servers[i]
		for j := range s.tools {
			t := &s.tools[j]
			name := notInTools.ReplaceAllString(t.Name, "_")
			name = name[:min(len(name), 60)]
			if taken[name] || name == "" {
				name = s.name + "_" + name
				name = name[:min(len(name), 60)]
			}
			if name = unused(taken, name); name != t.Name {
				t.as = name
			}
		}
	}
}

var notInTools = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)
