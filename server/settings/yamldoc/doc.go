// Package yamldoc reads a document of YAML or JSON that a person wrote. Each value keeps its line and column, and each fault names
// the place, the key, what is wrong and what would be right:
//
//	pg.yaml:2:24: llm.timeout_seconds: got 010; write 10, or "010" for text
//
// The package knows no configuration key. It accepts a strict part of YAML 1.2: one document, no tags, numbers spelled as in JSON.
// It bounds size, depth and the expansion of aliases, because a file may be hostile.
//
//	text ──Read──▶ Node (Kind, At, Items, Members) ──Find, Member──▶ a value and its Place
//	        └────▶ Faults ──Err──▶ Error: up to 50 lines, sorted by place
//
// Read node.go first: it holds the tree and [Read]. Then fault.go: faults, places and paths.
package yamldoc
