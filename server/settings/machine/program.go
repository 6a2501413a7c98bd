package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"patterngate/server/settings/yamldoc"
)

// isProgram reports whether a path is a regular file that somebody may run. On Windows the ending of the name decides, and the path may
// omit it.
func isProgram(path string) bool {
	endings := []string{""}
	if runtime.GOOS == "windows" {
		endings = append(endings, ".exe", ".bat", ".cmd", ".com")
	}
	for _, ending := range endings {
		info, err := os.Stat(path + ending)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0) {
			return true
		}
	}
	return false
}

// FindProgram finds a program by its absolute path, or by its name in the directories of path, which has the form of a PATH variable. The
// zero Fault means that it was found.
func FindProgram(program, path string) (found string, f yamldoc.Fault) {
	switch {
	case filepath.IsAbs(program):
		if !isProgram(program) {
			return "", yamldoc.Fault{Reason: noProgram(yamldoc.Quoted(program)), Want: wantProgram}
		}
		return program, yamldoc.Fault{}
	case program == "" || strings.ContainsAny(program, `/\`):
		return "", yamldoc.Fault{Reason: relativePath, Got: yamldoc.Quoted(program), Want: wantWholePath}
	}
	for _, dir := range filepath.SplitList(path) {
		if at := filepath.Join(dir, program); filepath.IsAbs(dir) && isProgram(at) {
			return at, yamldoc.Fault{}
		}
	}
	return "", yamldoc.Fault{Reason: notOnPath(program), Want: wantFoundPath(program)}
}
