package console

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
