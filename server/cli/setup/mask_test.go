package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
)

// Whatever a client's file looks like, nothing that setup prints of it holds what others wrote there.
func TestSetupShowsNobodysSecrets(t *testing.T) {
	self := filepath.Join(t.TempDir(), "bin", "patterngate")
	for _, client := range clientfile.Clients() {
		t.Run(client.Name, func(t *testing.T) {
			shown := 0
			for seed := range uint64(150) {
				g := &madeFile{Rand: rand.New(rand.NewPCG(seed, 22)), name: "gate"}
				path := filepath.Join(t.TempDir(), "file")
				text := g.toml()
				if of, ok := client.Format.(clientfile.JSONServers); ok {
					text = g.json(of.Member)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, undo := range []bool{false, true} {
					for _, asJSON := range []bool{false, true} {
						var out, errs bytes.Buffer
						a := &Commands{Console: &console.Console{Out: &out, Err: &errs, JSON: asJSON}, Direct: direct, Fault: func(err error) error { return err }}
						flags := setupFlags{dryRun: true, file: path, name: g.name, write: !undo, undo: undo}
						report := SetupReport{Client: client.Name, Title: client.Title, File: path, Name: g.name}
						var err error
						if undo {
							err = a.setupUndo(client, flags, report)
						} else {
							err = a.setupWrite(client, clientfile.ThisHost(nil), flags, clientfile.Entry{Name: g.name, Command: self, Args: []string{"serve", "--config", "/etc/pg.yaml"}}, report)
						}
						said := out.String() + errs.String()
						if err != nil {
							said += err.Error()
						}
						if strings.Contains(said, "S3CRET") {
							t.Fatalf("seed %d, undo %t: a secret of\n%s\nis printed:\n%s", seed, undo, text, said)
						}
						if strings.Contains(said, "@@") || strings.Contains(said, `"diff"`) {
							shown++
						}
						if !undo && err == nil && strings.Contains(said, "would add") && !strings.Contains(said, "/etc/pg.yaml") {
							t.Fatalf("seed %d: our own lines are not shown:\n%s", seed, said)
						}
					}
				}
			}
			if shown < 150 {
				t.Errorf("%d differences were shown, want 150 and more", shown)
			}
		})
	}
}

// madeFile makes files as clients and people write them, in which whatever is another's is marked S3CRET.
type madeFile struct {
	*rand.Rand
	name string // of our entry, which may be there already
	n    int
}

func (g *madeFile) secret() string {
	g.n++
	return g.one("S3CRET%d", "sk-S3CRET%d", "a S3CRET%d, b", "S3CRET%d: {x}", "don't S3CRET%d", "//S3CRET%d", "#S3CRET%d", "Bearer S3CRET%d=")
}

// one is one of some forms, with a number.
func (g *madeFile) one(forms ...string) string {
	form := forms[g.IntN(len(forms))]
	if strings.Contains(form, "%d") {
		return fmt.Sprintf(form, g.n)
	}
	return form
}

// json is a file of servers under a member, on one line or on many, with comments and trailing commas or without.
func (g *madeFile) json(member string) string {
	end, in := "\n", "  "
	if g.IntN(2) == 0 {
		end, in = "", ""
	}
	loose := g.IntN(3) == 0
	note := func() string {
		switch {
		case !loose || g.IntN(2) == 0:
			return ""
		case end == "" || g.IntN(2) == 0:
			return " /* " + strings.ReplaceAll(g.secret(), "*/", "") + " */ "
		}
		return " // " + g.secret()
	}
	object := func(indent string, members ...string) string {
		tail := ""
		if loose && len(members) > 0 && g.IntN(2) == 0 {
			tail = ","
		}
		for i := range members {
			members[i] = indent + in + members[i]
			if i < len(members)-1 {
				members[i] += "," + note()
			}
		}
		return "{" + end + strings.Join(members, end) + tail + end + indent + "}"
	}
	text := func(s string) string { return string(plainJSON(s)) }
	entry := func() string {
		switch g.IntN(3) {
		case 0:
			return object(in+in, `"url": `+text("https://"+g.secret()), `"headers": {"Authorization": `+text(g.secret())+`}`)
		case 1:
			return object(in+in, `"command": "npx"`, `"env": {`+text(g.secret())+`: `+text(g.secret())+`}`, `"args": ["-y", `+text(g.secret())+`]`)
		}
		return object(in+in, `"args": ["serve"], "timeout": 5`, `"env": {"TOKEN": `+text(g.secret())+`}`, `"command": "/old/gate"`)
	}
	var servers []string
	for i := range g.IntN(3) {
		servers = append(servers, fmt.Sprintf(`"s%d": %s`, i, entry()))
	}
	if g.IntN(2) == 0 {
		at := g.IntN(len(servers) + 1)
		servers = append(servers[:at:at], append([]string{text(g.name) + ": " + entry()}, servers[at:]...)...)
	}
	members := []string{`"key": ` + text(g.secret())}
	if g.IntN(5) > 0 {
		members = append(members, text(member)+": "+object(in, servers...))
	}
	members = append(members, `"last": [`+text(g.secret())+`, 1, null]`)
	return object("", members...) + g.one("", "\n")
}

// toml is a file of Codex.
func (g *madeFile) toml() string {
	quoted := func() string {
		s := g.secret()
		return g.one(string(plainJSON(s)), "'''"+s+"'''", "\"\"\"\n"+s+"\n\"\"\"")
	}
	var parts []string
	entry := func(name string) {
		table := "[mcp_servers." + name + "]"
		switch g.IntN(4) {
		case 0:
			parts = append(parts, table+" # "+g.secret(), "url = "+quoted(), `http_headers = {"Authorization" = `+string(plainJSON(g.secret()))+"}")
		case 1:
			parts = append(parts, table, `args = ["serve"]`, "env = {TOKEN = "+string(plainJSON(g.secret()))+"} # "+g.secret(), `command = "/old/gate"`)
		case 2:
			parts = append(parts, table, `command = "npx" # `+g.secret(), "args = ["+string(plainJSON(g.secret()))+",\n  "+string(plainJSON(g.secret()))+"]")
		default:
			parts = append(parts, table, "command = "+quoted(), table[:len(table)-1]+".env]", "TOKEN = "+quoted())
		}
		if g.IntN(2) == 0 {
			parts = append(parts, "")
		}
	}
	parts = append(parts, "model = "+quoted())
	for i := range g.IntN(3) {
		entry(fmt.Sprintf("s%d", i))
	}
	if g.IntN(2) == 0 {
		entry(g.name)
	}
	for i := range g.IntN(2) {
		entry(fmt.Sprintf("t%d", i))
	}
	return strings.Join(parts, "\n") + g.one("", "\n", " # S3CRET\n")
}

// plainJSON is a value as one line of JSON, in which <, > and & stand for themselves.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and lists of them
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// direct names every entry.
func direct(entries map[string]any) []string { return slices.Sorted(maps.Keys(entries)) }
