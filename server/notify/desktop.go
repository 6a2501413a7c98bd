package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// title is what every notification of a desktop begins with.
const title = "Patterngate"

// words are all that a desktop shows: fixed but for a number, so that nothing that a model or a tool wrote is read as
// the system's own voice.
func (b batch) words() string {
	calls := oneCall
	if b.waiting > 1 {
		calls = severalCalls(b.waiting)
	}
	if b.base == "" {
		return runList(calls)
	}
	return runInbox(calls)
}

// desk is the desktop of the user who runs this process.
type desk struct {
	goos       string
	environ    []string
	runtimeDir string // where systemd keeps the user's bus, for a process that was started with an environment cut short
}

// show shows a notification, or returns a [*failure]: of kind noDesktop where there is nothing to show it on.
func (d desk) show(ctx context.Context, b batch) error {
	argv, bus := d.argv(b.words()), ""
	env := environment(d.goos, d.environ)
	if d.goos != "darwin" && d.goos != "windows" {
		seen := d.has("DISPLAY") || d.has("WAYLAND_DISPLAY")
		if bus = d.bus(); bus == "" && !seen {
			return &failure{kind: noDesktop, program: argv[0], err: errors.New(noSession)}
		}
		if bus != "" {
			env = append(env, "DBUS_SESSION_BUS_ADDRESS="+bus)
		}
		return d.tolerant(run(ctx, argv, env, nil), seen)
	}
	return d.tolerant(run(ctx, argv, env, nil), true)
}

// tolerant returns the error for no desktop if the program does not exist, or if it fails and no variable names a screen.
// A server has a message bus too, but no program on it shows notifications.
func (d desk) tolerant(err error, seen bool) error {
	var f *failure
	if errors.As(err, &f) && (f.kind == missing || !seen && f.kind == exited) {
		f.kind = noDesktop
	}
	return err
}

// argv is the command that shows the text, which has no character that any of them takes for more than text.
func (d desk) argv(text string) []string {
	switch d.goos {
	case "darwin":
		return []string{"osascript", "-e", fmt.Sprintf(`display notification "%s" with title "%s"`, text, title)}
	case "windows": // PowerShell 5.1 of the system: later ones have no WinRT
		return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-Command", fmt.Sprintf(toast, title, text)}
	}
	return []string{"notify-send", "--app-name=" + title, title, text}
}

// toast shows two lines of text in the name of PowerShell, since a notification needs an installed program's name.
const toast = `$ErrorActionPreference = 'Stop'
$manager = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$doc = $manager::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$lines = $doc.GetElementsByTagName('text')
[void]$lines.Item(0).AppendChild($doc.CreateTextNode('%s'))
[void]$lines.Item(1).AppendChild($doc.CreateTextNode('%s'))
$manager::CreateToastNotifier('{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe').Show([Windows.UI.Notifications.ToastNotification]::new($doc))`

func (d desk) has(name string) bool { return lookup(d.goos, d.environ, name) != "" }

// bus is the address of the session's bus: what the environment says or, where it says nothing, the user's own bus at its
// well-known place. Many MCP clients hand a server PATH, HOME and little more.
func (d desk) bus() string {
	if address := lookup(d.goos, d.environ, "DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address
	}
	dir := lookup(d.goos, d.environ, "XDG_RUNTIME_DIR")
	if dir == "" {
		dir = d.runtimeDir
	}
	socket := filepath.Join(dir, "bus")
	if info, err := os.Stat(socket); err != nil || info.Mode()&os.ModeSocket == 0 {
		return ""
	}
	return "unix:path=" + socket
}
