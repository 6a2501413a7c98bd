package server

import (
	"strings"
	"testing"
)

// A client that hands its model structured content only gets the first lines of the text, and all of an error's.
func TestResultsByClient(t *testing.T) {
	s := serving(t, func(c *Config) { c.Results = map[string]Channel{"reader": StructuredOnly, "other": TextOnly} })
	for client, short := range map[string]bool{"reader": true, "other": false, "unknown": false} {
		c := connect(t, s)
		c.send(strings.ReplaceAll(initialize, `"name":"legacy"`, `"name":"`+client+`"`), initialized)
		c.next()
		good := c.call(td, goodCall).result(t).Content[0]["text"].(string)
		if lines := strings.Count(good, "\n") + 1; (lines == 3) != short || !strings.Contains(good, "\nNEXT ") {
			t.Errorf("%s got %d lines:\n%s", client, lines, good)
		}
		refused := c.call(td, `{"gaol":"x"}`).result(t)
		if text := refused.Content[0]["text"].(string); !refused.IsError || !strings.Contains(text, "\nPROBLEMS\n") {
			t.Errorf("%s got of a refused call:\n%s", client, text)
		}
		c.rest()
	}
}
