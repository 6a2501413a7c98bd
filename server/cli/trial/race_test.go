//go:build race

package trial

// raced says that this program looks for races: it takes a second to start.
const raced = true
