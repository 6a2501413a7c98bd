package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// ClientServer is one MCP server in a client's file, with its texts unchanged.
type ClientServer struct {
	Name    string
	Command string
	Args    []string
	Env     []Variable // by name
	Passes  []string   // variables that the client passes on from its own environment
	Dir     string
	URL     string
	headers []Variable // by name
	Off     bool       // the client does not start it
	Problem string     // why the entry cannot be taken over; "" where it can
	notes   []string   // what init does not take from it
}

// Variable is a variable or a header.
type Variable struct{ Name, Text string }

// ClientFile is a client's file with its format, as init and doctor read it.
type ClientFile struct {
	Client clientfile.Client // the name is empty if the named file is not a client's own
	File   clientfile.File
}

// title returns the title of the file's client, or the path of the file.
func (f ClientFile) title() string {
	if f.Client.Title != "" {
		return f.Client.Title
	}
	return f.File.Path
}

// importFile finds what --import names: a client by its name, else a file.
func (a *Commands) importFile(what, word string) (ClientFile, error) {
	host := clientfile.ThisHost(a.Environ)
	client, known := clientfile.Find(word)
	path := settings.Sources{Environ: a.Environ}.Home(word)
	if known {
		var err error
		if path, err = client.Path(host); err != nil {
			return ClientFile{}, err
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ClientFile{}, console.Fault(what, err)
	}
	file, err := clientfile.Read(path)
	if err != nil {
		return ClientFile{}, a.Fault(err)
	}
	switch {
	case file.Info == nil && known:
		return ClientFile{}, console.Usage(what, errors.New(noClientFile(client.Title, path)), "patterngate init --import FILE")
	case file.Info == nil:
		meant := clientfile.Meant(word)
		return ClientFile{}, console.Usage(what, errors.New(noClient(word, meant, clientfile.Names())), "patterngate init --import "+cmp.Or(meant, "claude-desktop"))
	case !known:
		client = clientOf(host, file)
	}
	return ClientFile{client, file}, nil
}

// clientOf returns the client that uses the file, else a client with the format of the file.
func clientOf(host clientfile.Host, file clientfile.File) clientfile.Client {
	for _, c := range clientfile.Clients() {
		if path, err := c.Path(host); err == nil && path == file.Path {
			return c
		}
	}
	if strings.EqualFold(filepath.Ext(file.Path), ".toml") {
		return clientfile.Client{Format: clientfile.TOMLServers{}}
	}
	f := clientfile.JSONServers{Member: "mcpServers", Typed: true}
	if d, err := clientfile.ReadJSONC(file.Text); err == nil {
		values, _ := d.Values() // Decode reports what cannot be read
		_, ours := values["mcpServers"]
		if _, theirs := values["servers"]; theirs && !ours {
			f.Member = "servers"
		}
	}
	return clientfile.Client{Format: f}
}

// servers reads the file's entries, by name, without those that start this program.
func (f ClientFile) servers(self string) ([]ClientServer, error) {
	entries, _, err := f.Client.Format.Decode(f.File.Text)
	if err != nil {
		return nil, f.File.Faulty(err)
	}
	var list []ClientServer
	for name, entry := range entries {
		if !StartsPatterngate(entry, self) {
			list = append(list, ReadEntry(name, entry))
		}
	}
	SortServers(list)
	return list, nil
}

// DirectServers returns the names of the entries that do not start Patterngate, sorted. It leaves out disabled entries.
func DirectServers(entries map[string]any) []string {
	self, _ := os.Executable() // without it only the name identifies the entry
	var names []string
	for name, entry := range entries {
		if !StartsPatterngate(entry, self) && !ReadEntry(name, entry).Off {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// SortServers sorts servers by name.
func SortServers(list []ClientServer) {
	slices.SortFunc(list, func(a, b ClientServer) int { return strings.Compare(a.Name, b.Name) })
}

// StartsPatterngate reports whether an entry starts Patterngate: its command has that name, or is the file at self.
func StartsPatterngate(entry any, self string) bool {
	members, _ := entry.(map[string]any)
	command, _ := members["command"].(string)
	if command == "" {
		return false
	}
	base := strings.TrimSuffix(strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:]), ".exe")
	if base == "patterngate" {
		return true
	}
	ours, err := os.Stat(self)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(command)
	return err == nil && os.SameFile(ours, theirs)
}

// ReadEntry reads the members that the entries of all clients have in common. A member of another type is a problem of the
// entry.
func ReadEntry(name string, entry any) ClientServer {
	s := ClientServer{Name: name}
	members, ok := entry.(map[string]any)
	if !ok {
		s.Problem = notAnObject
		return s
	}
	r := entryReader{members: members}
	s.Command, s.Dir = r.text("command"), r.text("cwd")
	s.Args, s.Passes = r.list("args"), r.list("env_vars")
	s.Env, s.headers = r.variables("env"), slices.Concat(r.variables("headers"), r.variables("http_headers"))
	for _, key := range []string{"url", "serverUrl", "httpUrl"} {
		if s.URL == "" {
			s.URL = r.text(key)
		}
	}
	for _, v := range r.variables("env_http_headers") { // of Codex: a variable holds the header's text
		s.headers = append(s.headers, Variable{v.Name, "${" + v.Text + "}"})
	}
	if token := r.text("bearer_token_env_var"); token != "" {
		s.headers = append(s.headers, Variable{"Authorization", "Bearer ${" + token + "}"})
	}
	slices.SortFunc(s.headers, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	if enabled, ok := members["enabled"].(bool); members["disabled"] == true || ok && !enabled {
		s.Off = true
	}
	if _, ok := members["envFile"]; ok {
		s.notes = append(s.notes, noEnvFile)
	}
	s.Problem = r.problem
	switch {
	case s.Problem != "":
	case s.Command == "" && s.URL == "":
		s.Problem = neitherCommandNorURL
		for _, has := range slices.Sorted(maps.Keys(members)) {
			if known := catalog.Near(has, []string{"command", "url"}); known != "" && has != known {
				s.Problem = memberMeant(neitherCommandNorURL, has, known)
				break
			}
		}
	case s.Command != "" && s.URL != "":
		s.Problem = bothCommandAndURL
	case members["type"] == "sse":
		s.notes = append(s.notes, oldTransport)
	}
	return s
}

// entryReader reads members of an entry and keeps the first problem.
type entryReader struct {
	members map[string]any
	problem string
}

func (r *entryReader) fail(key, want string) {
	if r.problem == "" {
		r.problem = memberIsNot(key, want)
	}
}

func (r *entryReader) text(key string) string {
	v, there := r.members[key]
	s, ok := v.(string)
	if there && v != nil && !ok {
		r.fail(key, aText)
	}
	return s
}

func (r *entryReader) list(key string) []string {
	v, there := r.members[key]
	items, ok := v.([]any)
	if there && v != nil && !ok {
		r.fail(key, aList)
	}
	var list []string
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			r.fail(key, aListOfTexts)
			return nil
		}
		list = append(list, s)
	}
	return list
}

// variables reads an object of texts. It takes a number or a bool as its printed text, as clients do.
func (r *entryReader) variables(key string) []Variable {
	v, there := r.members[key]
	members, ok := v.(map[string]any)
	if there && v != nil && !ok {
		r.fail(key, anObject)
	}
	var list []Variable
	for name, v := range members {
		switch v := v.(type) {
		case string:
			list = append(list, Variable{name, v})
		case json.Number, float64, bool, int64:
			list = append(list, Variable{name, fmt.Sprint(v)})
		case nil:
		default:
			r.fail(key, anObjectOfTexts)
		}
	}
	slices.SortFunc(list, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// errNoServers is the error of a client's file without servers to import.
var errNoServers = errors.New(noOtherServer)
