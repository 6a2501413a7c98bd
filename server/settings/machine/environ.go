package machine

import "strings"

// Lookup returns the value of a variable in an environment of NAME=value pairs. The last pair counts. It returns "" for a variable that is
// not set.
func Lookup(environ []string, name string) string {
	v := ""
	for _, pair := range environ {
		if n, value, ok := strings.Cut(pair, "="); ok && n == name {
			v = value
		}
	}
	return v
}

// HomeDir returns the user's home directory as the environment names it, or "".
func HomeDir(goos string, environ []string) string {
	if goos == "windows" {
		return WindowsVariable(environ, "USERPROFILE")
	}
	return Lookup(environ, "HOME")
}

// WindowsVariable is [Lookup] without regard to case, as on Windows.
func WindowsVariable(environ []string, name string) string {
	v := ""
	for _, pair := range environ {
		if n, value, ok := strings.Cut(pair, "="); ok && strings.EqualFold(n, name) {
			v = value
		}
	}
	return v
}

// ConfigDir returns what os.UserConfigDir returns for an environment, and "" where that returns an error. If XDG_CONFIG_HOME is a relative
// path, ConfigDir returns it as the second result and no directory: with another directory a program could miss the user's limits.
func ConfigDir(goos string, environ []string) (dir, relative string) {
	home := HomeDir(goos, environ)
	switch {
	case goos == "windows":
		return WindowsVariable(environ, "AppData"), ""
	case home != "" && (goos == "darwin" || goos == "ios"):
		return home + "/Library/Application Support", ""
	case goos == "darwin" || goos == "ios":
		return "", ""
	}
	if dir := Lookup(environ, "XDG_CONFIG_HOME"); dir != "" {
		if !strings.HasPrefix(dir, "/") {
			return "", dir
		}
		return dir, ""
	}
	if home == "" {
		return "", ""
	}
	return home + "/.config", ""
}
