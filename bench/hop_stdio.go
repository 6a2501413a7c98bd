package bench

import (
	"bytes"
	"fmt"
)

// stdioCaller repeats one call over stdio. One goroutine at a time can use it.
type stdioCaller struct {
	*Session
	params []byte
	want   []byte // the wanted answer, after its id
	vary   bool
}

// hopOver returns a function that makes the first call to a started server.
func hopOver(era Era) func(*Session, error) (Caller, error) {
	return func(s *Session, err error) (Caller, error) {
		if err != nil {
			return nil, err
		}
		c := &stdioCaller{Session: s, params: era.toolCall(catalogTool, hopArguments)}
		if err := c.begin(era); err != nil {
			_ = s.Close() // the first error says more
			return nil, err
		}
		return c, nil
	}
}

func (c *stdioCaller) begin(era Era) error {
	if era == Handshake {
		if err := c.Initialize(); err != nil {
			return err
		}
	}
	line, err := c.Request("tools/call", c.params)
	if err == nil {
		_, rest, _ := behindID(line)
		c.want = bytes.Clone(rest)
	}
	return err
}

// Answer implements [Caller].
func (c *stdioCaller) Answer() []byte { return append([]byte(answerHead+"0"), c.want...) }

// Vary implements [Caller].
func (c *stdioCaller) Vary() { c.vary = true }

// next returns the parameters of the next call.
func (c *stdioCaller) next() []byte {
	if !c.vary {
		return c.params
	}
	return varied(c.params, c.id)
}

// Once implements [Caller].
func (c *stdioCaller) Once() error {
	line, err := c.Request("tools/call", c.next())
	if err != nil {
		return err
	}
	_, rest, _ := behindID(line)
	return unlike(rest, c.want)
}

// AtOnce implements [Caller]. It writes the next call after each answer.
func (c *stdioCaller) AtOnce(n, at int) error {
	first, answered := c.id+1, make([]bool, n)
	for range min(n, at) {
		if err := c.write("tools/call", c.next()); err != nil {
			return err
		}
	}
	for range n {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return err
		}
		id, rest, ok := behindID(line)
		if !ok || id < first || id > c.id || answered[id-first] {
			return fmt.Errorf("no answer to a call under way: %.300s", line)
		}
		answered[id-first] = true
		if err := unlike(rest, c.want); err != nil {
			return err
		}
		if c.id < first+n-1 {
			if err := c.write("tools/call", c.next()); err != nil {
				return err
			}
		}
	}
	return nil
}

// behindID splits an answer after its id. ok is false if the id is not where it must be.
func behindID(line []byte) (id int, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(line, []byte(answerHead))
	n := 0
	for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
		id = id*10 + int(rest[n]-'0')
		n++
	}
	return id, rest[n:], ok && n > 0
}
