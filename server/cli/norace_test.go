//go:build !race

package cli

// raced says that this program does not look for races.
const raced = false
