//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyHangup has the channel hear of SIGHUP.
func notifyHangup(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP) }
