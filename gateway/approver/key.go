// Package approver keeps the private half of an approver's key. The key is in a file that only its owner may read,
// encrypted with a passphrase. It is opened for one signature.
//
//	passphrase ──argon2id──▶ key ──XChaCha20-Poly1305──▶ encrypted private key, in approver-<id>.key
//
// Package gateway defines what is signed and checks the signatures (spec/surface.md section 8). All of package approver
// is safe for concurrent use, except an opened [Key].
package approver

import (
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
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

// The cost of one guess. leastCost is the cost of new keys and the minimum that is accepted. mostCost is the maximum
// that is accepted.
var (
	leastCost = cost{Name: "argon2id", Time: 3, MemoryKiB: 64 << 10, Threads: 4}
	mostCost  = cost{Name: "argon2id", Time: 32, MemoryKiB: 1 << 20, Threads: 64}
)

// Errors of keys.
var (
	// ErrPassphrase is returned for a passphrase that does not open a key.
	ErrPassphrase = errors.New(wrongPassphrase)
	// ErrShort is returned for a passphrase that is too short or too long to encrypt with.
	ErrShort = fmt.Errorf(passphraseLength, minPassphrase, maxPassphrase)
	// ErrName is returned for a name that is not allowed for a key.
	ErrName = fmt.Errorf(nameLength, maxName)
)

// cost holds the parameters of argon2id.
type cost struct {
	Name      string `json:"name"`
	Time      uint32 `json:"time"`
	MemoryKiB uint32 `json:"memory_kib"`
	Threads   uint8  `json:"threads"`
	Salt      string `json:"salt"`
}

// File is an encrypted key as its file holds it. It does not change after it is made or read. The zero File holds no
// key.
type File struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt string `json:"created_at"`
	Public    string `json:"public"`
	KDF       cost   `json:"kdf"`
	Sealed    string `json:"sealed"`
}

// CheckPassphrase checks whether a passphrase can encrypt a key. A program can call it before it asks for the
// passphrase again. The error is [ErrShort].
func CheckPassphrase(passphrase string) error {
	if n := utf8.RuneCountInString(passphrase); n < minPassphrase || n > maxPassphrase || !utf8.ValidString(passphrase) {
		return ErrShort
	}
	return nil
}

// CheckName checks whether a key can have a name. The error is [ErrName].
func CheckName(name string) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) == "" ||
		strings.ContainsFunc(name, hidden) {
		return ErrName
	}
	return nil
}

// New makes a key, encrypts it, and returns it open. It takes as long as [File.Open]. The error is [ErrShort] or
// [ErrName].
func New(name, passphrase string, now time.Time) (File, *Key, error) {
	if err := CheckPassphrase(passphrase); err != nil {
		return File{}, nil, err
	}
	if err := CheckName(name); err != nil {
		return File{}, nil, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return File{}, nil, fmt.Errorf("approver: %w", err)
	}
	f := File{
		Type: fileType, ID: gateway.KeyID(public), Name: name, CreatedAt: second(now).Format(time.RFC3339),
		Public: base64.StdEncoding.EncodeToString(public), KDF: leastCost,
	}
	salt := random(saltBytes)
	f.KDF.Salt = base64.StdEncoding.EncodeToString(salt)
	seal, err := f.KDF.cipher(passphrase, salt)
	if err != nil {
		clear(private)
		return File{}, nil, err
	}
	nonce := random(chacha20poly1305.NonceSizeX)
	f.Sealed = base64.StdEncoding.EncodeToString(seal.Seal(nonce, nonce, private.Seed(), f.bound()))
	return f, hold(private), nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// deriving allows one key derivation at a time in this process, because each needs 64 MiB of memory or more.
var deriving sync.Mutex

// cipher returns the cipher that encrypts and decrypts with a passphrase.
func (c cost) cipher(passphrase string, salt []byte) (cipher.AEAD, error) {
	deriving.Lock()
	defer deriving.Unlock()
	key := argon2.IDKey([]byte(passphrase), salt, c.Time, c.MemoryKiB, c.Threads, chacha20poly1305.KeySize)
	defer clear(key)
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("approver: %w", err)
	}
	return aead, nil
}

// bound returns the data that the encryption authenticates besides the private key: the whole file without Sealed.
func (f File) bound() []byte {
	return ijson.Canonical(map[string]any{
		"type": f.Type, "id": f.ID, "name": f.Name, "created_at": f.CreatedAt, "public": f.Public,
		"kdf": map[string]any{
			"name": f.KDF.Name, "time": float64(f.KDF.Time), "memory_kib": float64(f.KDF.MemoryKiB),
			"threads": float64(f.KDF.Threads), "salt": f.KDF.Salt,
		},
	})
}

// Text returns the file's text.
func (f File) Text() []byte {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(err) // cannot happen with strings and numbers
	}
	return append(text, '\n')
}

// Read reads a file's text. The error says what is wrong with it.
func Read(text []byte) (File, error) {
	if len(text) > maxFile {
		return File{}, fmt.Errorf(keyFileLength, maxFile)
	}
	var f File
	if err := ijson.DecodeInto(text, &f); err != nil {
		return File{}, fmt.Errorf(noKeyFile, err)
	}
	if err := f.check(); err != nil {
		return File{}, err
	}
	return f, nil
}

func (f File) check() error {
	if f.Type != fileType {
		return fmt.Errorf(wrongType, f.Type, fileType)
	}
	public, err := f.PublicKey()
	if err != nil {
		return err
	}
	if f.ID != gateway.KeyID(public) {
		return errors.New(wrongID)
	}
	if at, err := time.Parse(time.RFC3339, f.CreatedAt); err != nil || second(at).Format(time.RFC3339) != f.CreatedAt {
		return fmt.Errorf(wrongCreated, f.CreatedAt)
	}
	if err := CheckName(f.Name); err != nil {
		return err
	}
	if err := f.KDF.check(); err != nil {
		return err
	}
	_, _, err = f.secret()
	return err
}

// secret returns the salt, and the nonce with the encrypted key after it.
func (f File) secret() (salt, sealed []byte, err error) {
	const sealedBytes = chacha20poly1305.NonceSizeX + ed25519.SeedSize + chacha20poly1305.Overhead
	salt, saltOK := unbase(f.KDF.Salt, saltBytes)
	sealed, sealedOK := unbase(f.Sealed, sealedBytes)
	if !saltOK || !sealedOK {
		return nil, nil, fmt.Errorf(wrongSalt, saltBytes, sealedBytes)
	}
	return salt, sealed, nil
}

// unbase decodes padded base64 of exactly this many bytes. It accepts only one spelling.
func unbase(text string, bytes int) ([]byte, bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	return raw, err == nil && len(raw) == bytes && base64.StdEncoding.EncodeToString(raw) == text
}

func (c cost) check() error {
	switch {
	case c.Name != leastCost.Name:
		return fmt.Errorf(wrongKDF, c.Name, leastCost.Name)
	case c.Time < leastCost.Time, c.MemoryKiB < leastCost.MemoryKiB, c.Threads < leastCost.Threads:
		return fmt.Errorf(weakKDF, leastCost.Time, leastCost.MemoryKiB, leastCost.Threads)
	case c.Time > mostCost.Time, c.MemoryKiB > mostCost.MemoryKiB, c.Threads > mostCost.Threads:
		return fmt.Errorf(costlyKDF, mostCost.Time, mostCost.MemoryKiB, mostCost.Threads)
	}
	return nil
}

// PublicKey returns the public half.
func (f File) PublicKey() (ed25519.PublicKey, error) {
	public, ok := unbase(f.Public, ed25519.PublicKeySize)
	if !ok {
		return nil, fmt.Errorf(wrongPublic, ed25519.PublicKeySize)
	}
	return public, nil
}

// Key is an opened key. It is a [gateway.Signer] until it is closed. Only one goroutine at a time may use it.
type Key struct {
	id      string
	private func() ed25519.PrivateKey // a function, so that no verb prints it; nil when closed
}

var _ gateway.Signer = (*Key)(nil)

// ErrDamaged is returned for a file that decrypts to another key than the file names.
var ErrDamaged = errors.New(keyDamaged)

// Open decrypts the key. For a new key it takes about a tenth of a second, and the memory that the file gives. It opens
// one key at a time; other calls wait. The error is [ErrPassphrase], [ErrDamaged], or that of [Read].
func (f File) Open(passphrase string) (*Key, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if CheckPassphrase(passphrase) != nil {
		return nil, ErrPassphrase // no key has such a passphrase, so do not try it
	}
	salt, sealed, err := f.secret()
	if err != nil {
		return nil, err
	}
	open, err := f.KDF.cipher(passphrase, salt)
	if err != nil {
		return nil, err
	}
	seed, err := open.Open(nil, sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:], f.bound())
	if err != nil {
		return nil, ErrPassphrase
	}
	defer clear(seed)
	private := ed25519.NewKeyFromSeed(seed)
	if publicID(private) != f.ID {
		clear(private)
		return nil, ErrDamaged
	}
	return hold(private), nil
}

func hold(private ed25519.PrivateKey) *Key {
	return &Key{publicID(private), func() ed25519.PrivateKey { return private }}
}

// publicID returns the id of a key's public half.
func publicID(private ed25519.PrivateKey) string {
	return gateway.KeyID(ed25519.PublicKey(private[ed25519.SeedSize:]))
}

// KeyID returns the id of the public half.
func (k *Key) KeyID() string { return k.id }

// Sign signs a message. A closed key returns an empty signature, which is never valid.
func (k *Key) Sign(message []byte) string {
	if k.private == nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(ed25519.Sign(k.private(), message))
}

// Close erases the private half. The key signs nothing after it. Close may be called again.
func (k *Key) Close() {
	if k.private != nil {
		clear(k.private())
	}
	k.private = nil
}
