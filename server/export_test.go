package server

// Updating reports whether tests write their golden files anew.
func Updating() bool { return *update }
