package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/importer"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// Doctor says that a server is in the file but off. Its fix for a server that is not in the file works: it does not write a
// configuration that exists.
func TestDirectServers(t *testing.T) {
	in := importer.ClientFile{Client: clientfile.Client{Name: "cursor"}, File: clientfile.File{Path: "mcp.json"}}
	catalog := tools.Catalog{Servers: []tools.Server{{Name: "notes"}, {Name: "crm", Enabled: true}}}
	others := []importer.ClientServer{{Name: "notes", Command: "n"}, {Name: "crm", Command: "c"}, {Name: "other", Command: "o"}}
	found := &findings{client: "cursor"}
	for _, b := range aroundIn(in, others, catalog) {
		b.tell(nil, "pg.yaml", "", found)
	}
	want := []finding{
		{"cursor", "gate", stateWarn, "the client starts the server notes directly, without your policy (mcp.json); notes is in pg.yaml but off (enabled: false)", `patterngate catalog accept notes --config pg.yaml, which lists its tools, or remove the server "notes" from mcp.json`},
		{"cursor", "gate", stateFail, "the client starts the server crm directly, without your policy (mcp.json); it is crm in the catalog", `patterngate init --import cursor --replace -o pg.yaml, or remove the server "crm" from mcp.json`},
		{"cursor", "gate", stateWarn, "the client starts the server other directly, without your policy (mcp.json)", `add the server to catalog.servers in pg.yaml, or remove the server "other" from mcp.json`},
	}
	for i := range want {
		if i >= len(found.rows) || found.rows[i] != want[i] {
			t.Errorf("row %d of %+v\nwant %+v", i, found.rows, want[i])
		}
	}
	several := &findings{client: "cursor"}
	tellBypasses(aroundIn(in, append(others, importer.ClientServer{Name: "more", Command: "m"}), catalog), "pg.yaml", "", several)
	both := finding{"cursor", "gate", stateWarn, "the client starts 2 servers directly, without your policy (mcp.json): other, more", "add the servers to catalog.servers in pg.yaml, or remove them from mcp.json"}
	if len(several.rows) != 3 || several.rows[0] != want[0] || several.rows[1] != want[1] || several.rows[2] != both {
		t.Errorf("of several servers: %+v", several.rows)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the directory of other systems")
	}
	environ := []string{"HOME=" + t.TempDir()}
	if got := usualConfig(environ); got != "" {
		t.Errorf("without a file it is %s", got)
	}
	path, _, err := settings.Path(settings.Sources{Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := Bypass{Client: "cursor", File: "mcp.json", Server: "other"}
	for usual, fix := range map[string]string{
		usualConfig(environ): "add the server to catalog.servers in " + path + " and run patterngate init --import cursor --replace, or ",
		"":                   "patterngate init --import cursor, or ",
	} {
		found := &findings{client: "cursor"}
		b.tell(nil, "", usual, found)
		if len(found.rows) != 1 || !strings.HasPrefix(found.rows[0].Fix, fix) {
			t.Errorf("with the file %q: %+v, want %s", usual, found.rows, fix)
		}
	}
}

// The fix of a server that is off is a command line, also with an odd path.
func TestFixOfServerOffIsQuoted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the quotes of other systems")
	}
	found := &findings{}
	Bypass{Client: "cursor", File: "mcp.json", Server: "notes", Off: "notes"}.tell(nil, "/my files/pg.yaml", "", found)
	if want := "patterngate catalog accept notes --config '/my files/pg.yaml', "; len(found.rows) != 1 || !strings.HasPrefix(found.rows[0].Fix, want) {
		t.Errorf("found %+v, want the fix %s", found.rows, want)
	}
}
