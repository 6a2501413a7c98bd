// Package bench measures Patterngate beside the least that could do the same work.
//
//	                     ┌─ bareloop: openai-go in a loop ──┐
//	in process   compare ┤                                  ├──▶ stubmodel (its own process, no latency)
//	                     └─ patterns/local + patterns/llm ──┘
//	                     ┌─ bareserver: mcp-go + bareloop ──┐
//	over stdio   compare ┤   one lean client for both       ├──▶ stubmodel
//	                     └─ patterngate serve ──────────────┘
//
// Both sides get the same prompts, payloads, replies and tools; the tests hold that, so that a ratio means something.
// Four workloads, W1 to W4, are the reference runs of the four patterns without their delays.
//
//	go run ./bench/compare                      the table: median ratios over interleaved rounds, beside a control
//	go test -run '^$' -bench . ./bench          single figures, for profiles and benchstat
package bench
