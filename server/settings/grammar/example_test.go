package grammar_test

import (
	"fmt"
	"time"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// A file is read by its keys, and each fault says what to write.
func Example() {
	timeout := time.Minute
	keys := []grammar.Key{grammar.Group("llm", grammar.Seconds("timeout_seconds", &timeout, 3600).Means("How long one request may take."))}
	faults := &yamldoc.Faults{}
	root := yamldoc.Read("pg.yaml", []byte("llm: {timeout_seconds: 5m, retries: 2}\n"), faults)
	grammar.NewReader(faults, nil).Group(root, nil, keys, grammar.UnknownKey)
	for _, f := range faults.Found {
		fmt.Println(f)
	}
	// Output:
	// pg.yaml:1:24: llm.timeout_seconds: got "5m"; write a number of seconds: 300
	// pg.yaml:1:28: llm.retries: unknown key; write timeout_seconds
}
