package inbox

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

// browserTime is how long OpenBrowser waits for an error of the program that it starts. Some of these programs become the
// browser and keep running.
const browserTime = 3 * time.Second

// browserCommand returns the command that opens a link on a system, and its standard input. It uses no shell.
//
// The link contains a token. On Linux the link is an argument, which other users can read. But the token is valid once and for a
// minute, and the page accepts no connection of another user. A file would hide the link, but browsers in a sandbox (snap, flatpak)
// cannot read one in a hidden directory. macOS does not report the user of a connection, so there the link goes to standard input.
// On Windows other users cannot read arguments.
func browserCommand(goos, link string) (argv []string, stdin string) {
	switch goos {
	case "darwin":
		return []string{"osascript", "-"}, "open location \"" + link + "\"\n" // the link contains no quotes
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", link}, ""
	}
	return []string{"xdg-open", link}, ""
}

// OpenBrowser opens a link. Its error never contains the link.
func OpenBrowser(ctx context.Context, environ []string, link string) error {
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" && !hasDesktop(environ) {
		return errors.New(noDesktop)
	}
	argv, stdin := browserCommand(runtime.GOOS, link)
	cmd := exec.Command(argv[0], argv[1:]...) // the browser runs longer than this process
	cmd.Env, cmd.Stdin = withoutSecrets(environ), strings.NewReader(stdin)
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return err // the error names the program, not the link
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
	case <-soon.C: // the program became the browser
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// hasDesktop reports whether there is a desktop for a browser. Without one, xdg-open would run a browser in the terminal.
func hasDesktop(environ []string) bool {
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"} {
		if machine.Lookup(environ, name) != "" {
			return true
		}
	}
	return false
}

// withoutSecrets returns the environment without Patterngate's API key and token.
func withoutSecrets(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); name != settings.KeyVariable && name != settings.TokenVariable {
			kept = append(kept, pair)
		}
	}
	return kept
}
