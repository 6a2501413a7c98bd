package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"patterngate/server/cli/console"
)

// release is set by a release build (-ldflags "-X patterngate/server/cli.release=v1.2.3").
var release string

// versionInfo describes this program.
type versionInfo struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"`
	Go      string   `json:"go"`
	Eras    []string `json:"eras"` // supported MCP revisions
}

// version returns the version, from the build information.
func version() versionInfo {
	v := versionInfo{Version: "devel", Go: runtime.Version(), Eras: []string{"2025-11-25", "2026-07-28"}}
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

// versionCommands is the command that prints the version.
type versionCommands struct {
	*invocation
}

func (a *versionCommands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and the MCP revisions that are spoken",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return console.WriteJSON(a.Out, version())
			}
			_, err := fmt.Fprintln(a.Out, version().line())
			return err
		},
	}
}

// line returns the version for people, as "patterngate version" and --version print it.
func (v versionInfo) line() string {
	return fmt.Sprintf("patterngate %s (%s, %s), MCP %s and %s", v.Version, cmp.Or(v.Commit, "no commit recorded"), v.Go, v.Eras[0], v.Eras[1])
}
