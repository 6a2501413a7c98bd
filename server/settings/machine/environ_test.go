package machine

import (
	"os"
	"runtime"
	"testing"
)

// The directories are those of os.UserConfigDir.
func TestConfigDir(t *testing.T) {
	tests := map[string]struct {
		goos    string
		environ []string
		want    string
	}{
		"linux":                 {"linux", []string{"HOME=/home/ann"}, "/home/ann/.config"},
		"freebsd with XDG":      {"freebsd", []string{"HOME=/home/ann", "XDG_CONFIG_HOME=/conf"}, "/conf"},
		"linux without a home":  {"linux", nil, ""},
		"mac":                   {"darwin", []string{"HOME=/Users/ann", "XDG_CONFIG_HOME=/conf"}, "/Users/ann/Library/Application Support"},
		"mac without a home":    {"darwin", nil, ""},
		"windows":               {"windows", []string{`APPDATA=C:\Users\ann\AppData\Roaming`, "HOME=/home/ann"}, `C:\Users\ann\AppData\Roaming`},
		"windows without a dir": {"windows", []string{"HOME=/home/ann"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, relative := ConfigDir(tt.goos, tt.environ)
			if got != tt.want || relative != "" {
				t.Errorf("ConfigDir(%s, %q) = %q, %q; want %q", tt.goos, tt.environ, got, relative, tt.want)
			}
		})
	}
	if dir, relative := ConfigDir("linux", []string{"HOME=/home/ann", "XDG_CONFIG_HOME=conf"}); dir != "" || relative != "conf" {
		t.Errorf("of a relative XDG_CONFIG_HOME: %q, %q", dir, relative)
	}
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		t.Setenv("HOME", "/home/ann")
		t.Setenv("XDG_CONFIG_HOME", "")
		want, err := os.UserConfigDir()
		if got, _ := ConfigDir(runtime.GOOS, []string{"HOME=/home/ann"}); err != nil || got != want {
			t.Errorf("ConfigDir(%s) = %q, os.UserConfigDir gives %q, %v", runtime.GOOS, got, want, err)
		}
	}
}
