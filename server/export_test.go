package server

// Updating reports whether tests write their golden files again.
func Updating() bool { return *update }
