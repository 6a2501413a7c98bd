package local

import (
	"errors"
	"time"

	"patterngate/patterns"
)

type file struct {
	keeper
	journal *clockStub
}
type clockStub struct{}

func (f *file) close()        {}
func (f *file) later(l *life) {}

type tail struct{}

func (t *tail) add(Event)                                       {}
func (t *tail) flush(durable bool, c any, told func(error))     {}
func (e *Engine) held(run, key string) (patterns.Outcome, bool) { return patterns.Outcome{}, false }
func (e *Engine) hook(point string)                             {}
func (c *clockStub) now() time.Time                             { return time.Now() }

var errFenced = errors.New("local: the run is in other hands")
