package console

import (
	"os"
	"os/signal"
	"syscall"
)

// KeepOnBrokenPipe makes a write to a closed standard output or standard error an error. By default Go would end the
// process with SIGPIPE. Running calls keep their grace time, and a client that does not read the log is still served.
func KeepOnBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
