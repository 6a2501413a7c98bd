// Package bench compares Patterngate with the smallest programs that can do the same work.
//
//	                     ┌─ bareloop: openai-go in a loop ──┐
//	in process   compare ┤                                  ├──▶ stubmodel (its own process, no latency)
//	                     └─ patterns/local + patterns/llm ──┘
//	                     ┌─ bareserver: mcp-go + bareloop ──┐
//	over stdio   compare ┤   one lean client for both       ├──▶ stubmodel
//	                     └─ patterngate serve ──────────────┘
//	                     ┌─ bareserver: mcp-go, an echo ────┐
//	a hop        compare ┤   stdio and HTTP, both eras      ├──  the same bytes in both channels
//	                     └─ patterngate: describe_catalog ──┘
//	many runs    compare ──▶ manyruns, patterngate serve --http: 1,000 at once, with the reference's delays
//
// Both sides get the same prompts, payloads, replies and tools. The tests check this, so that the ratios are
// meaningful. The four workloads W1 to W4 are the reference runs of the four patterns without their delays. README.md
// explains the printed figures.
//
//	go run ./bench/compare                      the table: median ratios over interleaved rounds, beside a control
//	go test -run '^$' -bench . ./bench          single figures, for profiles and benchstat
package bench
