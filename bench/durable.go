package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// NewDurable returns a side that asks the model at baseURL. It keeps its runs in a new state file in dir.
func NewDurable(baseURL, dir string) (*Ours, error) {
	o, err := NewOurs(baseURL, 0)
	if err != nil {
		return nil, err
	}
	if o.engine, err = local.Open(local.Options{Path: filepath.Join(dir, "state.db")}); err != nil {
		return nil, err
	}
	o.engine.Go()
	return o, nil
}

// Durably returns three sides in this process: Patterngate in memory, the same again as the control, and Patterngate
// with a state file. takes is how long the model waits before each answer. The returned function closes the sides.
func Durably(m *Model, dir string, takes time.Duration) ([]Side, func(), error) {
	var sides []Side
	var engines []*Ours
	done := func() {
		for _, o := range engines {
			o.Close()
		}
	}
	memory := func() (*Ours, error) { return NewOurs(m.URL, 0) }
	file := func() (*Ours, error) { return NewDurable(m.URL, dir) }
	for _, side := range []struct {
		name string
		make func() (*Ours, error)
	}{{"memory", memory}, {"control", memory}, {"file", file}} {
		o, err := side.make()
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("%s: %w", side.name, err)
		}
		if takes > 0 {
			o.model = slow{o.model, takes}
		}
		engines = append(engines, o)
		sides = append(sides, Side{side.name, func(w Workload) error { _, err := o.Run(context.Background(), w); return err }})
	}
	return sides, done, nil
}

// DurablyServed returns the sides of [Durably] as servers over stdio, without a delay of the model.
func DurablyServed(p Programs, m *Model) ([]Side, func(), error) {
	file := func(m *Model) (*Session, error) { return p.StartDurable(m, "served") }
	return served(m, []start{{"memory", p.StartOurs}, {"control", p.StartOurs}, {"file", file}})
}

// slow is a model that waits before each answer.
type slow struct {
	patterns.Model
	takes time.Duration
}

func (s slow) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return patterns.Answer{}, ctx.Err()
	}
	return s.Model.Ask(ctx, q)
}
