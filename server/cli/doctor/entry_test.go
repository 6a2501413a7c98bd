package doctor

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/importer"
)

// startOf returns how a client starts this program with a configuration.
func startOf(t *testing.T, config string) clientStart {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "pg.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return clientStart{command: "patterngate", args: []string{"serve", "--config", path, "--state=" + filepath.Join(dir, "runs.db")}, environ: []string{"HOME=" + dir}, dir: dir}
}

// has reports whether a check has a state and a detail with this text.
func (f *findings) has(check, state, text string) bool {
	return slices.ContainsFunc(f.rows, func(r finding) bool {
		return r.Check == check && r.State == state && strings.Contains(r.Detail, text)
	})
}

// Doctor reads the flags and the environment of the entry. It warns about an address that is not dialled.
func TestExamineConfig(t *testing.T) {
	const closed = "version: 1\ncatalog:\n  http:\n    ask: {description: Asks., effect: read, input: {}, request: {method: GET, url: 'http://127.0.0.1:9/x'}}\n  expose: [ask]\n"
	start := startOf(t, closed)
	found := &findings{client: "cursor"}
	loaded := servedBy(start).examineConfig("", found)
	if loaded == nil || loaded.State != filepath.Join(start.dir, "runs.db") {
		t.Fatalf("the configuration is %+v", loaded)
	}
	if !found.has("config", stateOK, "pg.yaml") || !found.has("config", stateWarn, `allow_networks: ["127.0.0.1/32"]`) {
		t.Errorf("found %+v", found.rows)
	}
}

// Doctor prints three faults of a configuration, and counts the others.
func TestExamineFaultyConfig(t *testing.T) {
	found := &findings{client: "cursor"}
	if loaded := servedBy(startOf(t, "version: 1\na1: 1\na2: 1\na3: 1\na4: 1\na5: 1\n")).examineConfig("", found); loaded != nil {
		t.Error("the configuration loads")
	}
	if len(found.rows) != 4 || !found.has("config", stateFail, "a3: unknown key") || !found.has("config", stateFail, "and 2 more") {
		t.Errorf("found %+v", found.rows)
	}
}

// namesAre has every name lead to an IPv4 address, as a DNS server on a stream. The test must not be parallel.
func namesAre(t *testing.T, address string) {
	t.Helper()
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		server, client := net.Pipe()
		go func() {
			defer server.Close()
			for {
				message := make([]byte, 2) // its length, then the message
				if _, err := io.ReadFull(server, message); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(message))
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				const head, class = 12, 4
				end := head + bytes.IndexByte(query[head:], 0) + 1 // of the name
				reply := slices.Concat(query[:2], []byte{0x85, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[head:end+class])
				if kind := query[end+1]; kind == 1 {
					reply[7] = 1
					reply = append(reply, 0xc0, head, 0, kind, 0, 1, 0, 0, 0, 0, 0, 4)
					reply = append(reply, netip.MustParseAddr(address).AsSlice()...)
				}
				if _, err := server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
}

// Doctor looks up the names of hosts.
func TestExamineNames(t *testing.T) {
	namesAre(t, "127.0.0.9")
	found := &findings{client: "cursor"}
	loaded := servedBy(startOf(t, "version: 1\ncatalog:\n  servers:\n    mail: {http: {url: 'http://mail.corp.example:9/mcp'}, tools: {mail: {effect: read}}}\n")).examineConfig("", found)
	if loaded == nil {
		t.Fatalf("the configuration does not load: %+v", found.rows)
	}
	examineNames(t.Context(), &loaded.Catalog, found)
	if !found.has("networks", stateWarn, "catalog.servers.mail.http.url: mail.corp.example leads to 127.0.0.9") {
		t.Errorf("found %+v", found.rows)
	}
}

// Doctor checks the state file. It warns about one that is not kept.
func TestExamineState(t *testing.T) {
	start := startOf(t, "version: 1\n")
	found := &findings{client: "cursor"}
	as := servedBy(start)
	as.examineState(filepath.Join(start.dir, "runs.db"), found)
	if !found.has("state", stateOK, "can be written") || !found.has("approvers", stateOK, "no key") || !found.has("kill switch", stateOK, "off") {
		t.Errorf("found %+v", found.rows)
	}
	as.examineState(":memory:", found)
	as.examineState(filepath.Join(start.dir, "none", "runs.db"), found)
	if !found.has("state", stateWarn, "runs are lost") || !found.has("state", stateFail, "no directory") {
		t.Errorf("found %+v", found.rows)
	}
}

// A client on a desktop does not pass on the PATH of a shell.
func TestCommandIn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("PATH of other systems")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "patterngate")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		start clientStart
		want  string
	}{
		"in PATH":      {clientStart{command: "patterngate", environ: []string{"PATH=" + dir}}, path},
		"elsewhere":    {clientStart{command: "patterngate", environ: []string{"PATH=" + importer.DesktopPath}}, ""},
		"a whole path": {clientStart{command: path}, path},
		"a gone path":  {clientStart{command: path + "s"}, ""},
	} {
		if got := commandIn(tt.start, "linux"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
