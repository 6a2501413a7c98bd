package catalog

import "context"

// Secret is a text that is read when it is first needed, and never shown. It is safe for concurrent use.
type Secret interface {
	// Text returns the secret, reading it at the first call. Its error quotes nothing of it; the tool is then [NotSent].
	Text(ctx context.Context) (string, error)
	// Forget has the next Text read it again: after a 401, or a reload.
	Forget()
	// String is *** for every secret.
	String() string
}
