package invocation

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/settings"
)

// ReadyState makes the state directory for this user alone. It refuses a place that others can change or read, and says what to do.
func TestReadyState(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not checked on Windows")
	}
	home := t.TempDir()
	environ := []string{"HOME=" + home, "XDG_STATE_HOME=" + home + "/state"}
	usual, _ := settings.DefaultState(runtime.GOOS, environ, settings.StateFile)
	if err := ReadyState(usual, environ); err != nil {
		t.Fatalf("ReadyState(%s): %v", usual, err)
	}
	if info, err := os.Stat(filepath.Dir(usual)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the state directory: %v, %v; want mode 0700", info, err)
	}
	dir := func(mode os.FileMode) string {
		t.Helper()
		d := t.TempDir()
		if err := os.Chmod(d, mode); err != nil {
			t.Fatal(err)
		}
		return d
	}
	file := func(mode os.FileMode, name string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	owned := filepath.Join(t.TempDir(), "a.db")
	if err := os.Rename(dir(0o777), owned+".owners"); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "state.db")
	open := dir(0o777)
	if err := os.WriteFile(filepath.Join(open, "s"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(open, "s"), linked); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ path, want string }{ // "": it is taken
		"memory":                       {":memory:", ""},
		"a new file":                   {filepath.Join(t.TempDir(), "a.db"), ""},
		"a file of this user":          {file(0o600, "a.db"), ""},
		"read only":                    {file(0o400, "a.db"), ""},
		"a directory others read":      {dir(0o755) + "/a.db", ""},
		"a directory like /tmp":        {dir(0o777|os.ModeSticky) + "/a.db", ""},
		"a directory everyone changes": {dir(0o777) + "/a.db", "(mode 0777); chmod go-w "},
		"a directory a group changes":  {dir(0o770) + "/a.db", "(mode 0770); chmod go-w "},
		"a link to such a directory":   {linked, "other users can write to the directory " + open},
		"a file others read":           {file(0o644, "a.db"), "lets other users open it; chmod 600 "},
		"a log others write":           {strings.TrimSuffix(file(0o602, "a.db-wal"), "-wal"), "a.db-wal lets other users open it; chmod 600 "},
		"a directory":                  {dir(0o700), "a directory; write the path of a file: "},
		"no directory":                 {filepath.Join(t.TempDir(), "none", "a.db"), "; make it: mkdir -m 700 "},
		"a file for a directory":       {file(0o600, "a.db") + "/b.db", "is not a directory"},
		"a device":                     {"/dev/null", "/dev/null is not a regular file"},
		"owners others change":         {owned, "a.db.owners (mode 0777); chmod go-w "},
		"no home for ~":                {"~/a.db", "there is no home directory for ~; write the whole path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := ReadyState(tt.path, environ)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("ReadyState(%s) = %v, want no fault", tt.path, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), tt.path+": state: ")):
				t.Errorf("ReadyState(%s) = %v; want the path, the key and %q", tt.path, err, tt.want)
			}
		})
	}
	if err := ReadyState("", nil); err == nil || !strings.Contains(err.Error(), "HOME is not set; give --state FILE") {
		t.Errorf("ReadyState without a home = %v", err)
	}
}
