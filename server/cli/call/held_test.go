package call

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"patterngate/catalog/upstream"
	"patterngate/server/cli/console"
)

// The pin of a held tool is one word of the printed command. A shell does not run what a server's name of a tool contains.
func TestHeldToolIsOneWord(t *testing.T) {
	requests, toServer := io.Pipe()
	answers, fromServer := io.Pipe()
	serving, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		(&slowServer{}).serve(serving, requests, fromServer, nil)
	}()
	client, err := upstream.Over(t.Context(), answers, toServer, upstream.Identity{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	const hostile = "shop/x;touch${IFS}/tmp/owned;"
	to := &callee{client: client, wait: func() {}, held: map[string]Held{
		"odd":  {"no line in the lock", hostile, " --config pg.yaml"},
		"find": {"no line in the lock", "shop/find", " --config pg.yaml"},
	}}
	defer func() {
		end()
		to.close()
		<-over
	}()
	for name, want := range map[string]string{
		"odd":  "patterngate catalog accept '" + hostile + "' --config pg.yaml",
		"find": "patterngate catalog accept shop/find --config pg.yaml",
	} {
		_, err := to.tool(t.Context(), name)
		e, ok := errors.AsType[*console.Error](err)
		if !ok || !strings.Contains(e.Try, want) {
			t.Errorf("%s: %+v, want %s", name, err, want)
		}
	}
}
