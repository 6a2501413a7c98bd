package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// message is one message of the DevTools protocol, in either direction: a call (ID, Method), its answer (ID) or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *refusal        `json:"error,omitempty"`
}

// refusal is a call that the browser did not do.
type refusal struct {
	Message string `json:"message"`
	Data    string `json:"data,omitempty"`
}

func (r *refusal) Error() string { return r.Message + " " + r.Data }

var errGone = errors.New("the browser is gone")

// wire carries messages to the browser and back, each ended by a NUL. It is safe for concurrent use.
type wire struct {
	mu      sync.Mutex
	out     io.Writer
	last    int
	waiting map[int]chan message
	heard   map[string]func(message) // what hears the events of a session
	err     error                    // why nothing comes any more
}

func newWire(out io.Writer) *wire {
	return &wire{out: out, waiting: map[int]chan message{}, heard: map[string]func(message){}}
}

// hear sets the listener to a session's events, in order; it must not call.
func (w *wire) hear(session string, f func(message)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard[session] = f
}

// call has the browser do something and fills in what it answers; result may be nil.
func (w *wire) call(ctx context.Context, session, method string, params, result any) error {
	given, err := json.Marshal(params)
	if err != nil {
		return err
	}
	id, answer, err := w.send(message{Session: session, Method: method, Params: given})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %w", method, m.Error)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting, id)
		return fmt.Errorf("%s: no answer: %w", method, context.Cause(ctx))
	}
}

func (w *wire) send(m message) (id int, answer chan message, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, nil, w.err
	}
	w.last++
	m.ID = w.last
	doc, err := json.Marshal(m)
	if err != nil {
		return 0, nil, err
	}
	if _, err := w.out.Write(append(doc, 0)); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errGone, err)
	}
	answer = make(chan message, 1)
	w.waiting[m.ID] = answer
	return m.ID, answer, nil
}

// read reads the messages of the browser until the pipe closes. Then it ends all waits.
func (w *wire) read(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		doc, err := r.ReadBytes(0)
		if err != nil {
			w.end(fmt.Errorf("%w: %w", errGone, err))
			return
		}
		var m message
		if err := json.Unmarshal(doc[:len(doc)-1], &m); err != nil {
			w.end(fmt.Errorf("the browser said %.100q: %w", doc, err))
			return
		}
		w.take(m)
	}
}

func (w *wire) take(m message) {
	w.mu.Lock()
	answer, hear := w.waiting[m.ID], w.heard[m.Session]
	delete(w.waiting, m.ID)
	w.mu.Unlock()
	switch {
	case answer != nil:
		answer <- m
	case m.ID == 0 && hear != nil:
		hear(m)
	}
}

func (w *wire) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	for id, answer := range w.waiting {
		answer <- message{ID: id, Error: &refusal{Message: err.Error()}}
	}
	clear(w.waiting)
}
