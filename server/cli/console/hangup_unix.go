//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
)

// NotifyHangup sends SIGHUP to the channel.
func NotifyHangup(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP) }
