//go:build !unix

package console

import "os"

// NotifyHangup does nothing: this system has no such signal. Use "patterngate reload".
func NotifyHangup(chan<- os.Signal) {}
