// Command stubmodel is the model of the benchmarks in a process of its own: it prints its base URL and answers the
// requests of the reference runs without a delay until its input ends.
package main

import (
	"fmt"
	"io"
	"os"

	"patterngate/bench"
	"patterngate/patterns/llm/llmtest"
)

func main() {
	server := llmtest.NewFunc(bench.NewScript().Reply)
	defer server.Close()
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is the end
}
