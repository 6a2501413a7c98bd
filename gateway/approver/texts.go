package approver

// This file has the texts of the package that people and models read: what is wrong with key files, names and passphrases.

// Key files.

const (
	keyMisnamed   = "%s: it contains the key %s; rename it to %s"
	noDirectory   = "approver: no directory for the key %.40q: %w"
	notKeyID      = "approver: %.40q is not the id of a key; an id has %d lower-case hex digits"
	fileChanged   = "%s was changed while it was read"
	symbolicLink  = "%s is a symbolic link; put the file itself there"
	notRegular    = "%s is not a regular file"
	modeTooWide   = "others can read or change %[2]s (mode %04[1]o); run chmod 600 %[2]s"
	otherOwner    = "%s belongs to another user"
	isDirectory   = "%s is a directory"
	keyFileLength = "approver: a key file has at most %d bytes"
	noKeyFile     = "approver: not a key file: %w"
	wrongType     = "approver: the type is %.40q; want %q"
	wrongID       = "approver: the id does not belong to the public key"
	wrongCreated  = "approver: created_at is %.40q; want a time such as 2026-11-21T09:30:00Z"
	wrongSalt     = "approver: salt and seal are not %d and %d bytes in base64"
	wrongKDF      = "approver: kdf %.40q; want %q"
	weakKDF       = "approver: the kdf is weaker than time %d, memory_kib %d, threads %d"
	costlyKDF     = "approver: the kdf costs more than time %d, memory_kib %d, threads %d"
	wrongPublic   = "approver: the public key is not %d bytes in base64"
	keyDamaged    = "approver: the key file is damaged"
)

// Names and passphrases.

const (
	wrongPassphrase  = "approver: the passphrase does not open this key"
	passphraseLength = "approver: a passphrase has %d to %d characters"
	nameLength       = "approver: a key's name has 1 to %d printable characters"
)
