package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// What is in force where the configuration is silent (spec/config.md section 2, wait), and how long a key may be.
const (
	defaultWait    = 45 * time.Second
	defaultWaitMax = 240 * time.Second
	maxKey         = 255 // bytes
)

const (
	waitArgument = "max_wait_seconds"
	keyArgument  = "idempotency_key"
)

// waitRow is the argument by which a caller says how long it waits for a run.
func (s *Server) waitRow() argument {
	return argument{name: waitArgument, shape: shapeSeconds, most: int(s.config.WaitMax / time.Second)}
}

// handling are the arguments of every pattern tool that are about the call and not about what it is to do.
func (s *Server) handling() []argument {
	return []argument{s.waitRow(), {name: keyArgument, shape: shapeKey, most: maxKey}}
}

// handlesOf are those of one pattern's tool: of planning none begins a dry run of its own.
func handlesOf(spec patterns.Spec, table []argument) []argument {
	if spec.Kind != gateway.Planning {
		table = append(table[:len(table):len(table)], argument{name: dryArgument, shape: shapeFlag})
	}
	return ofCall(spec, table)
}

// readSeconds takes a time to wait; 0 is a time too.
func (r *request) readSeconds(a argument, v any) {
	n, isNumber := v.(float64)
	switch {
	case !isNumber:
		r.wrong(a, v, "number")
	case n < 0 || n > float64(a.most):
		r.add(classLimit, a.name, v, fmt.Sprintf("0 to %d; 0 returns at once", a.most))
	default:
		wait := time.Duration(n * float64(time.Second))
		r.Wait = &wait
	}
}

// readKey takes an idempotency key. An empty one is a mistake: it would make calls the same that are not.
func (r *request) readKey(a argument, v any) {
	key, isText := v.(string)
	if !isText {
		r.wrong(a, v, "string")
		return
	}
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			r.add(classLimit, a.name, v, a.shape.want())
			return
		}
	}
	if key == "" || len(key) > a.most {
		r.add(classLimit, a.name, v, a.shape.want())
		return
	}
	r.Key = key
}

// wait is how long a call waits for its run, as the engine takes it: below 0 not at all.
func (s *Server) wait(c call) time.Duration {
	switch {
	case c.Wait == nil:
		return s.config.WaitDefault
	case *c.Wait == 0:
		return -1
	}
	return *c.Wait
}

// equalTo is what makes calls of one principal equal: the tool and the arguments, without how long is waited, without
// that it is no dry run, and without what is absent.
func equalTo(spec patterns.Spec, arguments map[string]any) string {
	asked := maps.Clone(arguments)
	single := spec.Kind == gateway.Call
	waits := !single || slices.Contains(freeHandles(spec), waitArgument)
	dry := !single || slices.Contains(freeHandles(spec), dryArgument)
	maps.DeleteFunc(asked, func(name string, v any) bool {
		return name == waitArgument && waits || v == nil && !single || name == dryArgument && v == false && dry
	})
	sum := sha256.Sum256(ijson.Canonical(map[string]any{"tool": spec.Name, "arguments": asked}))
	return hex.EncodeToString(sum[:])
}
