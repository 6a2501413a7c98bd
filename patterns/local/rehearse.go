package local

import (
	"context"
	"errors"

	"patterngate/patterns"
)

// Rehearse implements [patterns.Engine].
func (e *Engine) Rehearse(ctx context.Context, job patterns.Job) (patterns.Rehearsal, error) {
	return patterns.Rehearsal{}, &patterns.Fault{Cause: errors.New("not built yet")}
}
