package importer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/server/buildinfo"
	"patterngate/server/settings/grammar"
)

// importedTool is a tool as its server declared it, with the decisions of a person.
type importedTool struct {
	foreignTool
	as     string         // its name in the catalog; "": its own
	effect catalog.Effect // write until a person sets another
	allow  bool           // a person confirmed it; only such tools are enabled
}

// listed returns the tool's name in the catalog.
func (t importedTool) listed() string {
	if t.as != "" {
		return t.as
	}
	return t.Name
}

// These are the limits of starting servers.
const (
	startWithin     = 60 * time.Second // the default of servers.NAME.start_timeout_seconds
	startsAtOnce    = 4
	maxImported     = 200 // servers of one file, and as many tools as one may have
	maxStarterWords = 300 // characters of a reason that are shown
)

// startServers starts each server once and lists its tools, several at a time. If a server cannot be started, its problem
// gives the reason, and the others continue. It calls said for each server, one call at a time.
func (a *Commands) startServers(ctx context.Context, servers []Server, said func(s Server)) {
	var wait sync.WaitGroup
	var telling sync.Mutex
	room := make(chan struct{}, startsAtOnce)
	tell := func(s *Server) {
		telling.Lock()
		defer telling.Unlock()
		said(*s)
	}
	for i := range servers {
		s := &servers[i]
		if s.problem != "" {
			tell(s)
			continue
		}
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := s.list(ctx, startWithin); err != nil {
				s.problem = s.unstarted(err)
			}
			tell(s)
		})
	}
	wait.Wait()
}

// list starts the server, lists its tools and stops it.
func (s *Server) list(ctx context.Context, within time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var at reached
	var said lastLine
	failed := func(err error) error {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = errors.New(noAnswer(within))
		}
		return said.after(err)
	}
	client, err := s.open(at.watch(ctx), &said)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = client.Close() }() // the list is already complete
	tools, err := client.Declarations(ctx)
	if err != nil {
		return failed(err)
	}
	if len(tools) > maxImported {
		return errors.New(tooManyTools(len(tools), maxImported))
	}
	s.allowReached(&at)
	seen := map[string]bool{}
	mask := s.mask()
	for i, raw := range tools {
		if v, err := ijson.Decode(raw); err == nil && !ijson.Equal(v, mask.Value(v)) {
			s.note(toolOut(fmt.Sprint(i+1), repeatsSecret))
			continue
		}
		t, fault := readDeclared(raw)
		if fault != "" {
			s.note(toolOut(cmp.Or(ijson.Cut(t.Name, 80), fmt.Sprint(i+1)), fault))
			continue
		}
		if seen[t.Name] {
			return errors.New(twoTools(t.Name))
		}
		seen[t.Name] = true
		s.tools = append(s.tools, importedTool{foreignTool: t, effect: catalog.Write})
	}
	return nil
}

// foreignTool is a tool as its server declared it: the shown texts, the members of its definition exactly as sent, and the
// server's hint whether it only reads. A member that was not sent is nil.
type foreignTool struct {
	Name, Title, Description string
	members                  map[string]json.RawMessage
	reads                    *bool
}

// readDeclared reads one declaration. fault says why a catalog cannot contain it; "" if it can. Its members become part of
// the lock, so they must be JSON that can be hashed.
func readDeclared(raw json.RawMessage) (t foreignTool, fault string) {
	v, err := ijson.Decode(raw)
	if err != nil {
		return t, unreadable(err)
	}
	all, ok := v.(map[string]any)
	if !ok {
		return t, toolNoObject
	}
	t.Name, _ = all["name"].(string)
	t.Title, _ = all["title"].(string)
	t.Description, _ = all["description"].(string)
	if hints, ok := all["annotations"].(map[string]any); ok {
		if reads, ok := hints["readOnlyHint"].(bool); ok {
			t.reads = &reads
		}
	}
	if err := json.Unmarshal(raw, &t.members); err != nil {
		return t, unreadable(err)
	}
	return t, unfitTool(t.Name, all)
}

// unfitTool returns which member is invalid, or "" if none is.
func unfitTool(name string, all map[string]any) string {
	if name == "" || len(name) > 256 {
		return toolNameSize
	}
	if !grammar.UpstreamNames.Fits.MatchString(name) {
		return toolNameLetters
	}
	for _, key := range []string{"title", "description"} {
		text, ok := all[key].(string)
		if all[key] != nil && !ok || len(text) > 64<<10 {
			return toolTextSize(key)
		}
	}
	if _, ok := all["inputSchema"].(map[string]any); !ok {
		return inputNoObject
	}
	if _, ok := all["outputSchema"].(map[string]any); all["outputSchema"] != nil && !ok {
		return outputNoObject
	}
	return ""
}

// open starts the program, or connects to the server. said gets the program's standard error.
func (s *Server) open(ctx context.Context, said io.Writer) (*upstream.Client, error) {
	who := upstream.Identity{Name: "patterngate", Version: buildinfo.Read().Version}
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
	p := upstream.Program{Command: s.path, Env: s.environment(), Dir: s.dir, Stderr: said}
	if p.Dir == "" {
		p.Dir, _ = os.Getwd()
	}
	for _, arg := range s.args {
		p.Args = append(p.Args, arg.now)
	}
	return upstream.Start(ctx, p, who)
}

// errHeaders is the error of a server that needs headers that init does not send.
var errHeaders = errors.New(needsHeaders)

// lastLine keeps the last line with text that a program writes to standard error. It is safe for concurrent use. The zero
// value has none.
type lastLine struct {
	mu   sync.Mutex
	line []byte // the line that is being written, up to maxLine bytes
	last string
}

// maxLine is the number of bytes that it keeps of a line.
const maxLine = 4 << 10

// Write implements [io.Writer].
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for part := range bytes.Lines(p) {
		l.line = append(l.line, part[:min(len(part), maxLine-len(l.line))]...)
		if text := strings.TrimSpace(string(l.line)); text != "" {
			l.last = text
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			l.line = l.line[:0]
		}
	}
	return len(p), nil
}

// after returns err with the last line, if there is one.
func (l *lastLine) after(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return err
	}
	return errors.New(lastWords(err, l.last))
}

// bearer returns the bearer token, the only header that init sends to a server at a URL.
func (s *Server) bearer() (string, error) {
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

// unstarted returns the reason why a server could not be started, on one line and without secrets. It hides a secret also in
// the forms that [catalog.Mask] finds, such as base64, and each of its lines.
func (s *Server) unstarted(err error) string {
	mask := s.mask()
	for _, v := range s.secrets() {
		for line := range strings.Lines(v) { // a server's words may be one of them
			mask.Secret()(strings.TrimSpace(line))
		}
	}
	text := mask.Text(err.Error())
	for _, v := range s.secrets() { // a mask leaves short ones
		text = strings.ReplaceAll(text, v, catalog.Masked)
	}
	return ijson.Cut(printable.Text(strings.Join(strings.Fields(text), " ")), maxStarterWords)
}

// mask returns a mask of the server's secrets.
func (s *Server) mask() *catalog.Mask {
	mask := &catalog.Mask{}
	for _, v := range s.secrets() {
		mask.Secret()(v) // each value is a secret of its own, so none replaces another
	}
	return mask
}

// secrets returns the values that must never be shown.
func (s *Server) secrets() []string {
	var list []string
	add := func(v importedValue) {
		for _, text := range []string{v.now, strings.TrimPrefix(v.now, v.prefix)} {
			if v.hidden() && text != "" {
				list = append(list, text)
			}
		}
	}
	for _, v := range s.args {
		add(v)
	}
	for _, v := range slices.Concat(s.env, s.headers) {
		add(v.importedValue)
	}
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) }) // longer values first, before their parts
	return list
}

// nameTools gives each tool a unique name: first to the tools that a person confirmed, then to the others. It differs from
// those of the demo's tools, the patterns and Patterngate's own tools.
func nameTools(servers []Server, reserved []string) {
	taken := map[string]bool{"final": true, "model": true, "caller": true}
	for _, name := range reserved {
		taken[name] = true
	}
	for _, confirmed := range []bool{true, false} {
		nameSome(servers, taken, func(t *importedTool) bool { return t.allow == confirmed })
	}
}

// nameSome names the tools for which is holds.
func nameSome(servers []Server, taken map[string]bool, is func(t *importedTool) bool) {
	for i := range servers {
		s := &servers[i]
		for j := range s.tools {
			t := &s.tools[j]
			if !is(t) {
				continue
			}
			name := notInTools.ReplaceAllString(t.Name, "_")
			name = name[:min(len(name), 60)]
			if taken[name] || name == "" {
				name = s.Name + "_" + name
				name = name[:min(len(name), 60)]
			}
			if name = unused(taken, name); name != t.Name {
				t.as = name
			}
		}
	}
}

var notInTools = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)
