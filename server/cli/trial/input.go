package trial

import (
	"context"
	"errors"
	"io"
	"os"
)

// whileInput returns a context that ends when standard input does, if that is a pipe or a socket. The program at its other
// end has then ended or closed it, and cannot stop the demo. It does not read from a terminal, a file or /dev/null.
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
	go func() { // runs until the input or the process ends
		_, _ = io.Copy(io.Discard, file)
		end(errInputEnded)
	}()
	return ctx, stop
}

// whyEnded returns the reason for which ctx ended if that is the end of the input, and err otherwise.
func whyEnded(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errInputEnded) {
		return cause
	}
	return err
}
