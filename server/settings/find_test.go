package settings_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

func TestConfigPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths of this table are those of Linux; TestConfigDir has the others")
	}
	tests := map[string]struct {
		in    settings.Sources
		path  string
		named bool
	}{
		"flag":                 {settings.Sources{Path: "a.yaml", Environ: []string{"PATTERNGATE_CONFIG=b.yaml", "HOME=/home/ann"}}, "a.yaml", true},
		"variable":             {settings.Sources{Environ: []string{"PATTERNGATE_CONFIG=/b.yaml", "HOME=/home/ann"}}, "/b.yaml", true},
		"home in the variable": {settings.Sources{Environ: []string{"PATTERNGATE_CONFIG=~/b.yaml", "HOME=/home/ann"}}, "/home/ann/b.yaml", true},
		"empty variable":       {settings.Sources{Environ: []string{"PATTERNGATE_CONFIG=", "HOME=/home/ann"}}, "/home/ann/.config/patterngate/config.yaml", false},
		"XDG":                  {settings.Sources{Environ: []string{"XDG_CONFIG_HOME=/conf", "HOME=/home/ann"}}, "/conf/patterngate/config.yaml", false},
		"home":                 {settings.Sources{Environ: []string{"HOME=/home/ann"}}, "/home/ann/.config/patterngate/config.yaml", false},
		"nowhere":              {settings.Sources{}, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path, named, err := settings.Path(tt.in)
			if path != tt.path || named != tt.named || err != nil {
				t.Errorf("ConfigPath(%+v) = %q, %t, %v; want %q, %t, nil", tt.in, path, named, err, tt.path, tt.named)
			}
		})
	}
}

// No file at all is the embedded default; the working directory is not searched.
func TestLoadConfigWithoutFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"config.yaml", "patterngate/config.yaml"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("version: 2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "config.yaml")
	for name, environ := range map[string][]string{
		"nowhere":                       nil,
		"an empty home":                 {"HOME=" + filepath.Join(dir, "none")},
		"a file in the place of a home": {"HOME=" + file, "XDG_CONFIG_HOME=" + file},
	} {
		loaded, _, err := read(settings.Sources{Environ: environ})
		if err != nil || loaded.Path != "" {
			t.Errorf("%s: Load = path %q, error %v; want the embedded default", name, loaded.Path, err)
		}
	}
}

func TestLoadConfigFindsFile(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "patterngate", "config.yaml")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("version: 1\nllm: {model: found}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := read(settings.Sources{Environ: []string{"XDG_CONFIG_HOME=" + home, "AppData=" + home}})
	if runtime.GOOS == "darwin" {
		t.Skip("macOS has no variable for the directory")
	}
	if err != nil || loaded.Path != path || loaded.LLM.Model != "found" {
		t.Errorf("Load = path %q, model %q, error %v; want %q, found", loaded.Path, loaded.LLM.Model, err, path)
	}
}

// A file that is named must be there, and be readable.
func TestLoadConfigRefusesNamedFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "pg.yaml")
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, []byte("version: 1\n#"+strings.Repeat("x", yamldoc.MaxBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		in   settings.Sources
		want string
	}{
		"missing, by flag":     {settings.Sources{Path: missing}, missing + ": no such file; write the path of a file, or remove --config"},
		"missing, by argument": {settings.Sources{Path: missing, Argument: true}, missing + ": no such file; write the path of a file"},
		"missing, by variable": {settings.Sources{Environ: []string{"PATTERNGATE_CONFIG=" + missing}}, missing + ": no such file; write the path of a file, or remove PATTERNGATE_CONFIG"},
		"a directory":          {settings.Sources{Path: dir}, dir + ": a directory; write the path of a file"},
		"too large":            {settings.Sources{Path: large}, large + ":1:1: larger than 4 MiB; write a smaller file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, err := read(tt.in); err == nil || err.Error() != tt.want {
				t.Errorf("Load(%+v)\n got %v\nwant %s", tt.in, err, tt.want)
			}
		})
	}
}

// What everyone may write is refused (spec/config.md section 1).
func TestLoadConfigRefusesModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	tests := map[string]struct {
		file, dir os.FileMode
		link      bool // the file is reached by a link from a directory of our own
		want      string
	}{
		"ours":                          {file: 0o600, dir: 0o700},
		"group":                         {file: 0o660, dir: 0o770},
		"readable by all":               {file: 0o644, dir: 0o755},
		"writable by all":               {file: 0o646, dir: 0o700, want: "FILE: everyone can write to this file; run chmod o-w on it"},
		"directory writable by all":     {file: 0o600, dir: 0o707, want: "FILE: everyone can write to its directory DIR; run chmod o-w on the directory"},
		"sticky directory":              {file: 0o600, dir: 0o777 | os.ModeSticky},
		"link to a writable directory":  {file: 0o600, dir: 0o707, link: true, want: "LINK: everyone can write to its directory DIR; run chmod o-w on the directory"},
		"link to one of ours":           {file: 0o600, dir: 0o700, link: true},
		"link to a file of all":         {file: 0o666, dir: 0o700, link: true, want: "LINK: everyone can write to this file; run chmod o-w on it"},
		"sticky, but the file is not":   {file: 0o602, dir: 0o777 | os.ModeSticky, want: "FILE: everyone can write to this file; run chmod o-w on it"},
		"write-only for all still open": {file: 0o602, dir: 0o700, want: "FILE: everyone can write to this file; run chmod o-w on it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir = filepath.Join(dir, "d")
			file, link := filepath.Join(dir, "pg.yaml"), filepath.Join(t.TempDir(), "link.yaml")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("version: 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for path, mode := range map[string]os.FileMode{file: tt.file, dir: tt.dir} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			path := file
			if tt.link {
				path = link
				if err := os.Symlink(file, link); err != nil {
					t.Fatal(err)
				}
			}
			got := ""
			if _, _, err := read(settings.Sources{Path: path}); err != nil {
				got = strings.NewReplacer(file, "FILE", link, "LINK", dir, "DIR").Replace(err.Error())
			}
			if got != tt.want {
				t.Errorf("Load of a file %v in %v\n got %q\nwant %q", tt.file, tt.dir, got, tt.want)
			}
		})
	}
}
