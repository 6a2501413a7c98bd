//go:build !unix

package cli

import "os"

// notifyHangup does nothing: there is no such signal here, and "patterngate reload" does the same.
func notifyHangup(chan<- os.Signal) {}
