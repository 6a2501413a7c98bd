package notify

import "fmt"

// This file has the texts of the package that people read: notices.

// The notice on the desktop.

const (
	oneCall = "A call needs your decision."
)

func severalCalls(n int) string {
	return fmt.Sprintf("%d calls need your decision.", n)
}

func runList(calls string) string {
	return fmt.Sprintf("%s Run: patterngate approvals list", calls)
}

func runInbox(calls string) string {
	return fmt.Sprintf("%s Run: patterngate inbox", calls)
}

func runShow(id string) string {
	return fmt.Sprintf("patterngate approvals show %s", id)
}

// Why there is no notice.

const (
	noSession          = "no DISPLAY, WAYLAND_DISPLAY or session bus"
	tookTooLong        = "it took more than 10 s and was stopped"
	noDesktopHere      = "no notice: there is no desktop"
	notificationFailed = "a notification failed; further failures of this kind are not logged"
)
