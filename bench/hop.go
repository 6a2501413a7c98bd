package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Era is one of the two ways to make calls in MCP.
type Era string

const (
	// Handshake is the protocol version 2025-11-25: initialize, then calls in a session.
	Handshake Era = "2025-11-25"
	// Stateless is the protocol version 2026-07-28: each call names its client.
	Stateless Era = "2026-07-28"
)

// Eras returns both eras.
func Eras() []Era { return []Era{Handshake, Stateless} }

const (
	catalogTool = "describe_catalog"
	statelessMe = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}`
	initializeParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`
)

// toolCall returns the parameters of a tool call in an era.
func (e Era) toolCall(tool, arguments string) []byte {
	meta := ""
	if e == Stateless {
		meta = statelessMe + ","
	}
	return []byte(`{` + meta + `"name":"` + tool + `","arguments":` + arguments + `}`)
}

// hopArguments are arguments for which describe_catalog returns about 5 KB of structured content.
const hopArguments = `{"limit":7}`

// crowded is how many calls are in progress at the same time.
const crowded = 64

// Caller repeats one call. Every answer must have the bytes of the first one, except the id.
type Caller interface {
	// Once makes one call.
	Once() error
	// AtOnce makes n calls. At most at calls are in progress at the same time.
	AtOnce(n, at int) error
	// Answer returns the first answer.
	Answer() []byte
	// Vary changes the white space in the arguments of each later call, so that the server has no stored answer for it.
	Vary()
	Close() error
}

// varied returns parameters with white space that depends on the number of the call.
func varied(params []byte, call int) []byte {
	const spaces = 512 // more than the number of answers that Patterngate stores
	end := len(params) - len("}}")
	return append(append(bytes.Clone(params[:end]), bytes.Repeat([]byte{' '}, 1+call%spaces)...), "}}"...)
}

// channels holds the structured content and the text of a result.
type channels struct {
	Structured json.RawMessage               `json:"structuredContent"`
	Content    []struct{ Type, Text string } `json:"content"`
}

// resultOf returns the result in an answer, as received and decoded.
func resultOf(answer []byte) (json.RawMessage, channels, error) {
	var a struct{ Result json.RawMessage }
	var c channels
	err := json.Unmarshal(answer, &a)
	if err == nil {
		err = json.Unmarshal(a.Result, &c)
	}
	if err == nil && (len(c.Content) != 1 || c.Content[0].Type != "text" || len(c.Structured) == 0) {
		err = errors.New("want structured content and one text")
	}
	if err != nil {
		return nil, c, fmt.Errorf("answer %.300s: %w", answer, err)
	}
	return a.Result, c, nil
}

// answerHead is the beginning of an answer, before its id.
const answerHead = `{"jsonrpc":"2.0","id":`

// unlike returns an error if an answer differs from the wanted one.
func unlike(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	const shown = 300
	return fmt.Errorf("answer of %d bytes, want one of %d: %.*s", len(got), len(want), shown, got)
}

// Hop returns the sides of a call of describe_catalog in an era, over stdio or HTTP. They are the bare server, a second
// bare server as the control, and Patterngate. The bare servers echo Patterngate's answer.
func (p Programs) Hop(m *Model, era Era, http bool) (sides []Caller, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(sides))
		}
	}()
	ours, err := p.hopOurs(m, era, http)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	sides = append(sides, ours)
	echo, _, err := resultOf(ours.Answer())
	if err != nil {
		return sides, err
	}
	p.Echo = filepath.Join(filepath.Dir(p.Config), "echo.json")
	if err := os.WriteFile(p.Echo, echo, 0o600); err != nil {
		return sides, err
	}
	for range 2 {
		bare, err := p.hopBare(m, era, http)
		if err != nil {
			return sides, fmt.Errorf("bare: %w", err)
		}
		sides = append(sides, bare)
	}
	return []Caller{sides[1], sides[2], sides[0]}, nil
}

func (p Programs) hopOurs(m *Model, era Era, http bool) (Caller, error) {
	if !http {
		return hopOver(era)(p.StartOurs(m))
	}
	return webCall(era)(p.ServeOurs(m, p.Config))
}

func (p Programs) hopBare(m *Model, era Era, http bool) (Caller, error) {
	if !http {
		return hopOver(era)(p.StartBare(m))
	}
	return webCall(era)(p.ServeBare(m))
}

func closeAll(sides []Caller) error {
	var faults []error
	for _, s := range sides {
		faults = append(faults, s.Close())
	}
	return errors.Join(faults...)
}

// Hops holds the figures of a hop, in the order of the sides of [Programs.Hop].
type Hops struct {
	Each  []Figures // the p50 of a call, one call at a time
	Crowd []Figures // the time for each call, with many calls in progress
	New   []Figures // the p50 of a call, with new arguments each time
}

// MeasureHop measures a hop in rounds. It makes n calls one by one, then four times as many with 64 in progress, then n
// calls with new arguments.
func MeasureHop(sides []Caller, rounds, n int) (h Hops, err error) {
	each := func(side int) (time.Duration, error) { return block(n, sides[side].Once) }
	if h.Each, err = InTurn(len(sides), rounds, each); err != nil {
		return h, err
	}
	h.Crowd, err = InTurn(len(sides), rounds, func(side int) (time.Duration, error) { return crowd(sides[side], 4*n, crowded) })
	if err != nil {
		return h, err
	}
	for _, side := range sides {
		side.Vary()
	}
	h.New, err = InTurn(len(sides), rounds, each)
	return h, err
}

// crowd returns the time of n calls divided by n, with at calls in progress.
func crowd(c Caller, n, at int) (time.Duration, error) {
	runtime.GC()
	if err := c.AtOnce(n/10, at); err != nil {
		return 0, err
	}
	began := time.Now()
	err := c.AtOnce(n, at)
	return time.Since(began) / time.Duration(n), err
}
