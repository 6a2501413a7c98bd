package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// browserTime is how long it is waited for a fault of what opens the browser; some become the browser and stay.
const browserTime = 3 * time.Second

// browserCommand is what opens a link on a system, and what it is told on its standard input. No shell is in it.
//
// The link holds a token. On Linux it stands among the arguments, which other users can read: the token counts once and for
// a minute, and the page takes no connection of another user. A file would hide it, but browsers in a sandbox (snap, flatpak)
// cannot read one in a hidden directory. macOS does not tell whose a connection is, so there the link goes by standard input.
// On Windows other users cannot read arguments.
func browserCommand(goos, link string) (argv []string, stdin string) {
	switch goos {
	case "darwin":
		return []string{"osascript", "-"}, "open location \"" + link + "\"\n" // a link of ours has no quotes
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", link}, ""
	}
	return []string{"xdg-open", link}, ""
}

// openBrowser opens a link. Its error never holds it.
func openBrowser(ctx context.Context, environ []string, link string) error {
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" && !hasDesktop(environ) {
		return errors.New("there is no desktop here")
	}
	argv, stdin := browserCommand(runtime.GOOS, link)
	cmd := exec.Command(argv[0], argv[1:]...) // what it starts outlives us
	cmd.Env, cmd.Stdin = withoutSecrets(environ), strings.NewReader(stdin)
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return err // it names the program, not what it is told
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	soon := time.NewTimer(browserTime)
	defer soon.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", argv[0], err)
		}
	case <-soon.C: // it became the browser
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// hasDesktop reports whether there is something to open a browser on; without, xdg-open would run one in the terminal.
func hasDesktop(environ []string) bool {
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"} {
		if machine.Lookup(environ, name) != "" {
			return true
		}
	}
	return false
}

// withoutSecrets is an environment for a program that has no use for ours.
func withoutSecrets(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); name != settings.KeyVariable && name != settings.TokenVariable {
			kept = append(kept, pair)
		}
	}
	return kept
}
