package cli

import (
	"context"
	"errors"
	"io"
	"os"
)

// errInputEnded says why the live demo ended: whoever started it is gone.
var errInputEnded = errors.New("standard input ended: the program that started the demo is gone or closed it. The demo stopped its servers")

// whileInput returns a context that ends when standard input does, where that is a pipe or a socket: the program at its other
// end has ended or closed it, and nobody ends the demo any more. At a terminal, of a file and of /dev/null nothing is read.
func whileInput(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	stop := func() { end(context.Canceled) }
	file, ok := in.(*os.File)
	if !ok {
		return ctx, stop
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return ctx, stop
	}
	go func() { // it goes on until the input ends, or the process does
		_, _ = io.Copy(io.Discard, file)
		end(errInputEnded)
	}()
	return ctx, stop
}

// whyEnded is the failure of what a context ended, by the context's own reason.
func whyEnded(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errInputEnded) {
		return cause
	}
	return err
}
