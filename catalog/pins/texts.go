package pins

import "fmt"

// This file has the texts of the package that people read: what a lock file must hold.

// What the lock must hold.

func otherVersion(got string) string {
	return fmt.Sprintf("got %s; this program reads 1", got)
}

const (
	wantTools = "want an object of tools by server/tool"
)

func tooManyTools(n, most int) string {
	return fmt.Sprintf("%d tools; at most %d", n, most)
}

const (
	wantServerTool = "want server/tool, the server's name of a-z, 0-9 and _"
)

func wantSameName(tool string) string {
	return fmt.Sprintf("want the name after the server's: %s", tool)
}

const (
	wantHash = "want 64 hex digits"
)

func wrongHash(name string) string {
	return fmt.Sprintf("does not fit the tool beside it: one of them was changed by hand; run patterngate catalog accept %s", name)
}

const (
	wantText      = "want a text that is not empty"
	wantTime      = "want a time such as 2026-11-21T09:30:00Z"
	wantAssurance = "want user or signed"
	wantSignature = "want key, nonce and signature together, and only if assurance is signed"
)

func wantShorter(most int) string {
	return fmt.Sprintf("want at most %d bytes", most)
}

const (
	wantSchema = "want a schema: an object"
)

func wantMembers(names string) string {
	return fmt.Sprintf("want an object of %s", names)
}

func unknownMember(names string) string {
	return fmt.Sprintf("unknown member; want %s", names)
}

func noMember(name string) string {
	return fmt.Sprintf("no member %s", name)
}

// Writing it.

const (
	cannotKeep     = "%s cannot be kept: %w"
	cannotKeepJSON = "%s cannot be kept: it is not strict JSON"
	tooManyBytes   = "%s: %d bytes; at most %d"
	notFile        = "%s is not a file"
)
