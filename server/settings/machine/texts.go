package machine

import "fmt"

// This file has the texts of the package that people read: what is wrong with files and programs, and what would be right.

// Programs.

func noProgram(quoted string) string {
	return fmt.Sprintf("no program %s", quoted)
}

const (
	wantProgram   = "write the path of a program that this user can run"
	relativePath  = "a relative path"
	wantWholePath = "write the whole path, or the name of a program on PATH"
)

func notOnPath(program string) string {
	return fmt.Sprintf("%s is not installed or not in PATH", program)
}

func wantFoundPath(program string) string {
	return fmt.Sprintf("write the path that \"which %s\" prints", program)
}

// Files.

const (
	everyoneCanWrite = "everyone can write to "
	noFile           = "no such file"
	isDirectory      = "a directory"
	wantFile         = "write the path of a file"
)

func unreadable(why string) string {
	return fmt.Sprintf("cannot be read: %s", why)
}

const (
	wantReadable = "let this user read it"
)

func thisFile(fault string) string {
	return fmt.Sprintf("%sthis file", fault)
}

const (
	wantFileMode = "run chmod o-w on it"
)

func itsDirectory(fault, dir string) string {
	return fmt.Sprintf("%sits directory %s", fault, dir)
}

const (
	wantDirectoryMode = "run chmod o-w on the directory"
)
