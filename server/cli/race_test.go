//go:build race

package cli

// raced says that this program looks for races: it takes a second to start.
const raced = true
