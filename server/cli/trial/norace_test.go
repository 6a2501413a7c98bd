//go:build !race

package trial

// raced says that this program does not look for races.
const raced = false
