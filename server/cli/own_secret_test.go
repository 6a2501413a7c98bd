package cli

import (
	"strings"
	"testing"
)

// An argument that is a secret: the server gets it, though its schema takes no others than it names; everybody else
// sees it as ***.
func TestSecretArgumentOfAClosedTool(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "        send: {effect: read, fix: {token: {secret: 'env:CRM_TOKEN'}}}\n  expose: [send]\n", "")
	s.declare(t, strings.TrimSuffix(sceneList, "]")+
		`,{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"q":{"type":"string"},"token":{"type":"string","minLength":8}},"required":["q","token"],"additionalProperties":false}}]`)
	s.must(t, "catalog", "accept", "--yes")
	c := s.serve(t, "CRM_TOKEN=swordfish-1")
	id := c.send("tools/call", `{"name":"send","arguments":{"q":"a"}}`)
	if got, told := c.shown(id), string(c.answer(id)); got.Status != "ok" || !strings.Contains(told, "***") || strings.Contains(told, "swordfish") {
		t.Errorf("a call that fits: %s\n%s", told, c.log)
	}
	if got := c.call("send", `{"q":"a","token":"other-one"}`); got.Status == "ok" {
		t.Errorf("a call that names the secret: %+v", got)
	}
	if called := s.called(t); len(called) != 1 {
		t.Errorf("the server was called: %q", called)
	}
}
