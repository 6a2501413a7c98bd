package importer

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// initIn carries out init with that home directory.
func initIn(t *testing.T, home string, args ...string) (out, errs string, err error) {
	t.Helper()
	var o, e strings.Builder
	named := ""
	same := func(err error) error { return err }
	a := &Commands{Console: &console.Console{In: strings.NewReader(""), Out: &o, Err: &e, Environ: []string{"HOME=" + home}, Color: "never"},
		Config: &named, Fault: same, ConfigFault: same, Logger: func(settings.Log, io.Writer) *slog.Logger { return slog.New(slog.DiscardHandler) }}
	cmd := a.Command()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.Execute()
	return o.String(), e.String(), err
}

// With a configuration that exists, --replace takes only the servers that it has out of the client's file, and --undo brings the
// file back.
func TestReplaceOnly(t *testing.T) {
	dir := t.TempDir()
	config, client, prog := filepath.Join(dir, "pg.yaml"), filepath.Join(dir, ".mcp.json"), filepath.Join(dir, "prog")
	text := `{"mcpServers": {"everything": {"command": "` + prog + `"}, "notes": {"command": "other"}, "off": {"command": "another"}, "gate": {"command": "/x/patterngate", "args": ["serve"]}}}`
	catalog := "version: 1\ncatalog: {servers: {everything: {stdio: {command: " + prog + "}, tools: {echo: {effect: read}}}, off: {enabled: false, stdio: {command: another}}}}\n"
	for path, text := range map[string]string{config: catalog, client: text, prog: "#!/bin/sh\n"} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	said := func(args ...string) (out, errs string, err error) { return initIn(t, dir, args...) }
	if _, _, err := said("--import", client, "-o", config); err == nil || !strings.Contains(err.Error(), "already exists") || !strings.Contains(err.Error(), "name another file with -o, or remove this one first") {
		t.Errorf("without --replace: %v", err)
	}
	out, errs, err := said("--import", client, "-o", config, "--replace")
	if err != nil || strings.Contains(out, "wrote") || !strings.Contains(out, "--undo") {
		t.Fatalf("--replace: %v: %s", err, out)
	}
	if off := `the client still starts the server "off" directly: it is in ` + config + " but off (enabled: false)\n"; !strings.Contains(errs, off) {
		t.Errorf("--replace says %s, want %s", errs, off)
	}
	if !strings.Contains(errs, "-everything: …\n") || !strings.Contains(errs, `the client still starts the server "notes" directly: it is not in `+config) {
		t.Errorf("--replace says %s", errs)
	}
	after, err := os.ReadFile(client)
	if err != nil || strings.Contains(string(after), "everything") || !strings.Contains(string(after), `"notes"`) || !strings.Contains(string(after), `"gate"`) {
		t.Errorf("the client's file is %s, %v", after, err)
	}
	if kept, err := os.ReadFile(config); err != nil || string(kept) != catalog {
		t.Errorf("the configuration is %s, %v", kept, err)
	}
	if _, _, err := said("--import", client, "-o", config, "--replace"); err == nil || !strings.Contains(err.Error(), "has no server that") || !strings.Contains(err.Error(), "but off (enabled: false): off") {
		t.Errorf("--replace again: %v", err)
	}
	if _, _, err := said("--import", client, "--undo"); err != nil {
		t.Errorf("--undo: %v", err)
	}
	if back, err := os.ReadFile(client); err != nil || string(back) != text {
		t.Errorf("--undo gives %s, %v", back, err)
	}
}
