package clientfile

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"patterngate/server/cli/console"
	"patterngate/server/settings/machine"
)

// temporaryBuild is where go run and go test put a program: in a work directory that is deleted, or in the build cache,
// which is trimmed.
var temporaryBuild = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]|[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)

// Temporary reports whether this program is a build of "go run" or "go test", which does not last.
func Temporary() bool {
	path, err := os.Executable()
	return err == nil && temporaryBuild.MatchString(path)
}

// ProgramPath returns the path with which a client should start this program. If the path that was called leads to this file,
// it is that path: an installer's link stays valid when the versioned path behind it changes. Otherwise it is the system's path.
func ProgramPath(environ []string) (string, error) {
	real, err := os.Executable()
	if err != nil {
		return "", console.Fault(programsPath, err)
	}
	path := real
	if called := calledAs(os.Args[0], machine.Lookup(environ, "PATH")); sameFile(called, real) {
		path = called
	}
	return path, lasting(path, real)
}

// lasting refuses what no client could start tomorrow, or spell.
func lasting(path, real string) error {
	for _, p := range []string{path, real} {
		if temporaryBuild.MatchString(p) {
			return console.Usage("setup", errors.New(temporaryProgram(p)),
				"go build -o patterngate .")
		}
	}
	if !utf8.ValidString(path) {
		return console.Usage("setup", errors.New(notUTF8(path)), moveProgram)
	}
	return nil
}

// calledAs is the absolute path of what was typed; empty where it cannot be told.
func calledAs(name, path string) string {
	if name == "" {
		return ""
	}
	if strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/') {
		abs, err := filepath.Abs(name)
		if err != nil {
			return ""
		}
		return abs
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, suffix := range []string{"", ".exe"} {
			if info, err := os.Stat(filepath.Join(dir, name+suffix)); err == nil && info.Mode().IsRegular() {
				return filepath.Join(dir, name+suffix)
			}
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return errors.Join(err, otherErr) == nil && os.SameFile(one, other)
}
