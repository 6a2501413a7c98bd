// Package approver keeps the private half of an approver's key: sealed by a passphrase, in a file that only its owner may
// read, and opened for one signature.
//
//	passphrase ──argon2id──▶ key ──XChaCha20-Poly1305──▶ sealed seed, in approver-<id>.key
//
// What is signed and how it is checked is package gateway's part (spec/surface.md section 8).
package approver

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"patterngate/gateway"
	"patterngate/ijson"
)

const (
	fileType      = "patterngate/approver-key/v1"
	minPassphrase = 12 // characters
	maxPassphrase = 1024
	maxName       = 64
	saltBytes     = 16
	maxFile       = 8 << 10
)

// The cost of a guess: of new keys, and the least that is accepted; more is accepted up to what opens in a moment.
var (
	leastCost = cost{Name: "argon2id", Time: 3, MemoryKiB: 64 << 10, Threads: 4}
	mostCost  = cost{Name: "argon2id", Time: 32, MemoryKiB: 1 << 20, Threads: 64}
)

// Errors of keys.
var (
	// ErrPassphrase is returned for a passphrase that does not open a key.
	ErrPassphrase = errors.New("approver: the passphrase does not open this key")
	// ErrShort is returned for a passphrase that is too short or too long to seal with.
	ErrShort = fmt.Errorf("approver: a passphrase has %d to %d characters", minPassphrase, maxPassphrase)
	// ErrName is returned for a name that a key cannot have.
	ErrName = fmt.Errorf("approver: a key's name has 1 to %d characters", maxName)
)

// cost are the parameters of argon2id.
type cost struct {
	Name      string `json:"name"`
	Time      uint32 `json:"time"`
	MemoryKiB uint32 `json:"memory_kib"`
	Threads   uint8  `json:"threads"`
	Salt      string `json:"salt"`
}

// File is a sealed key as its file holds it. It is not changed after it was made or read.
type File struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`
	Public    string `json:"public"`
	KDF       cost   `json:"kdf"`
	Sealed    string `json:"sealed"`
}

// New makes a key and seals it.
func New(name, passphrase string, now time.Time) (File, error) {
	if n := utf8.RuneCountInString(passphrase); n < minPassphrase || n > maxPassphrase || !utf8.ValidString(passphrase) {
		return File{}, ErrShort
	}
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName || !utf8.ValidString(name) {
		return File{}, ErrName
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return File{}, fmt.Errorf("approver: %w", err)
	}
	defer clear(private)
	f := File{
		Type: fileType, ID: gateway.KeyID(public), Name: name, CreatedAt: now.UTC().Format(time.RFC3339),
		Public: base64.StdEncoding.EncodeToString(public), KDF: leastCost,
	}
	salt := random(saltBytes)
	f.KDF.Salt = base64.StdEncoding.EncodeToString(salt)
	seal, err := chacha20poly1305.NewX(f.KDF.derive(passphrase, salt))
	if err != nil {
		return File{}, fmt.Errorf("approver: %w", err)
	}
	nonce := random(chacha20poly1305.NonceSizeX)
	f.Sealed = base64.StdEncoding.EncodeToString(seal.Seal(nonce, nonce, private.Seed(), f.bound()))
	return f, nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func (c cost) derive(passphrase string, salt []byte) []byte {
	return argon2.IDKey([]byte(passphrase), salt, c.Time, c.MemoryKiB, c.Threads, chacha20poly1305.KeySize)
}

// bound is what the seal vouches for besides the seed: all of the file but the seal.
func (f File) bound() []byte {
	return ijson.Canonical(map[string]any{
		"type": f.Type, "id": f.ID, "name": f.Name, "created_at": f.CreatedAt, "public": f.Public,
		"kdf": map[string]any{
			"name": f.KDF.Name, "time": float64(f.KDF.Time), "memory_kib": float64(f.KDF.MemoryKiB),
			"threads": float64(f.KDF.Threads), "salt": f.KDF.Salt,
		},
	})
}

// Text is the file's text.
func (f File) Text() []byte {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(err) // strings and numbers
	}
	return append(text, '\n')
}

// Read reads a file's text. Its error says what is wrong with it.
func Read(text []byte) (File, error) {
	var f File
	if len(text) > maxFile {
		return f, fmt.Errorf("approver: a key file has at most %d bytes", maxFile)
	}
	if err := ijson.DecodeInto(text, &f); err != nil {
		return File{}, fmt.Errorf("approver: no key file: %w", err)
	}
	public, err := f.PublicKey()
	switch {
	case f.Type != fileType:
		return File{}, fmt.Errorf("approver: the type is %.40q; want %q", f.Type, fileType)
	case err != nil:
		return File{}, err
	case f.ID != gateway.KeyID(public):
		return File{}, errors.New("approver: the id is not the public key's")
	}
	return f, f.KDF.check()
}

func (c cost) check() error {
	switch {
	case c.Name != leastCost.Name:
		return fmt.Errorf("approver: kdf %.40q; want %q", c.Name, leastCost.Name)
	case c.Time < leastCost.Time, c.MemoryKiB < leastCost.MemoryKiB, c.Threads < leastCost.Threads:
		return fmt.Errorf("approver: the kdf is weaker than time %d, memory_kib %d, threads %d", leastCost.Time, leastCost.MemoryKiB, leastCost.Threads)
	case c.Time > mostCost.Time, c.MemoryKiB > mostCost.MemoryKiB, c.Threads > mostCost.Threads:
		return fmt.Errorf("approver: the kdf costs more than time %d, memory_kib %d, threads %d", mostCost.Time, mostCost.MemoryKiB, mostCost.Threads)
	}
	return nil
}

// PublicKey is the public half.
func (f File) PublicKey() (ed25519.PublicKey, error) {
	public, err := base64.StdEncoding.Strict().DecodeString(f.Public)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("approver: the public key is not %d bytes in base64", ed25519.PublicKeySize)
	}
	return public, nil
}

// Key is an opened key. It is a [gateway.Signer] until it is closed.
type Key struct {
	id      string
	private ed25519.PrivateKey
}

var _ gateway.Signer = (*Key)(nil)

// Open opens the key. It takes about a tenth of a second and the memory that the file says: callers bound how many do it at
// once. Its error is [ErrPassphrase], or says that the file is damaged.
func (f File) Open(passphrase string) (*Key, error) {
	if err := f.KDF.check(); err != nil {
		return nil, err
	}
	public, err := f.PublicKey()
	if err != nil {
		return nil, err
	}
	salt, err := base64.StdEncoding.Strict().DecodeString(f.KDF.Salt)
	sealed, sealedErr := base64.StdEncoding.Strict().DecodeString(f.Sealed)
	if err != nil || sealedErr != nil || len(salt) != saltBytes || len(sealed) != chacha20poly1305.NonceSizeX+ed25519.SeedSize+chacha20poly1305.Overhead {
		return nil, errors.New("approver: the key file is damaged")
	}
	open, err := chacha20poly1305.NewX(f.KDF.derive(passphrase, salt))
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	seed, err := open.Open(nil, sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:], f.bound())
	if err != nil {
		return nil, ErrPassphrase
	}
	defer clear(seed)
	private := ed25519.NewKeyFromSeed(seed)
	if !public.Equal(private.Public()) {
		clear(private)
		return nil, errors.New("approver: the key file is damaged")
	}
	return &Key{f.ID, private}, nil
}

// KeyID is the id of the public half.
func (k *Key) KeyID() string { return k.id }

// Sign signs a message.
func (k *Key) Sign(message []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, message))
}

// Close forgets the private half; the key signs nothing after it.
func (k *Key) Close() {
	clear(k.private)
	k.private = nil
}
