package buildinfo

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is set by a release build (-ldflags "-X patterngate/server/buildinfo.release=v1.2.3").
var release string

// Info describes this program.
type Info struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"`
	Go      string   `json:"go"`
	Eras    []string `json:"eras"` // supported MCP revisions
}

// Read returns the version, from the build information.
func Read() Info {
	v := Info{Version: "devel", Go: runtime.Version(), Eras: []string{"2025-11-25", "2026-07-28"}}
	if release != "" {
		v.Version = release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; release == "" && m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}

// Line returns the version for people, as "patterngate version" and --version print it.
func (v Info) Line() string {
	return fmt.Sprintf("patterngate %s (%s, %s), MCP %s and %s", v.Version, cmp.Or(v.Commit, "no commit recorded"), v.Go, v.Eras[0], v.Eras[1])
}
