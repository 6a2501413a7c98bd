package web

// policy is the Content-Security-Policy of every answer.
func policy() string {
	return "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}
