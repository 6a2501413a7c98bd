package approver

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
)

// The key file in testdata was made by another program, by the words of spec/surface.md section 8 (Argon2id and
// ChaCha20-Poly1305 of OpenSSL, HChaCha20 by hand), of the seed 0, 1, ... 31.
const (
	goldenID         = "56475aa75463474c"
	goldenPassphrase = "correct horse battery"
	goldenMessage    = "patterngate decision v1\n{}"
	goldenSignature  = "2cvRKivYDFGouCUNe/+lkRHBSvyLkQm3cJ5ehycT/BErSjKd9OpEIYETEWrA5QXydmjLuHmKuF3QtBD+conaDQ=="
)

func golden(t testing.TB) File {
	t.Helper()
	text, err := os.ReadFile("testdata/approver-" + goldenID + ".key")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(text)
	if err != nil {
		t.Fatalf("Read(the golden file): %v", err)
	}
	return f
}

func TestGoldenFileOpens(t *testing.T) {
	key, err := golden(t).Open(goldenPassphrase)
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	if got := key.Sign([]byte(goldenMessage)); key.KeyID() != goldenID || got != goldenSignature {
		t.Errorf("key %s signs %s, want %s and %s", key.KeyID(), got, goldenID, goldenSignature)
	}
	key.Close()
	if got := key.Sign([]byte(goldenMessage)); got != "" {
		t.Errorf("a closed key signs %s", got)
	}
}

var start = time.Date(2026, 11, 21, 9, 30, 0, 999, time.UTC)

func TestNewKeyOpensAgain(t *testing.T) {
	made, first, err := New("Ada", "twelve chars", start)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(made.Text())
	if err != nil || read != made {
		t.Fatalf("Read(Text()) = %+v, %v; want %+v", read, err, made)
	}
	key, err := read.Open("twelve chars")
	if err != nil {
		t.Fatal(err)
	}
	public, err := read.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	message := []byte("what is signed")
	holder := gateway.PublicKey{ID: read.ID, Public: public}
	for name, key := range map[string]*Key{"new": first, "opened": key} {
		if err := holder.Verify(message, key.Sign(message)); err != nil || key.KeyID() != read.ID {
			t.Errorf("Verify(what the %s key %s signed) = %v", name, key.KeyID(), err)
		}
	}
	if read.CreatedAt != "2026-11-21T09:30:00Z" || read.KDF.Time != 3 || read.KDF.MemoryKiB != 65536 || read.KDF.Threads != 4 {
		t.Errorf("a new key: %+v", read)
	}
}

func TestPassphraseAndNameOfNewKeys(t *testing.T) {
	tests := map[string]struct {
		name, passphrase string
		want             error
	}{
		"no passphrase":        {"Ada", "", ErrShort},
		"11 characters":        {"Ada", "elevenchars", ErrShort},
		"11 wide characters":   {"Ada", strings.Repeat("ö", 11), ErrShort},
		"1025 characters":      {"Ada", strings.Repeat("a", 1025), ErrShort},
		"no UTF-8":             {"Ada", "twelve chars\xff", ErrShort},
		"no name":              {"", goldenPassphrase, ErrName},
		"a blank name":         {"  ", goldenPassphrase, ErrName},
		"65 characters":        {strings.Repeat("ö", 65), goldenPassphrase, ErrName},
		"name of no UTF-8":     {"Ada\xff", goldenPassphrase, ErrName},
		"a name of two lines":  {"Ada\nBob", goldenPassphrase, ErrName},
		"a name that turns":    {"Ada\u202e", goldenPassphrase, ErrName},
		"a name with escape":   {"\x1b[31mAda", goldenPassphrase, ErrName},
		"both, passphrase 1st": {"", "", ErrShort},
	}
	for name, tt := range tests {
		if f, key, err := New(tt.name, tt.passphrase, start); !errors.Is(err, tt.want) || f != (File{}) || key != nil {
			t.Errorf("%s: New(%q, %q) = %+v, %v, %v; want no file and %v", name, tt.name, tt.passphrase, f, key, err, tt.want)
		}
	}
	if err := errors.Join(CheckPassphrase(strings.Repeat("ö", 12)), CheckPassphrase(strings.Repeat("a", 1024)), CheckName(strings.Repeat("ö", 64))); err != nil {
		t.Errorf("what is just long enough: %v", err)
	}
}

// The seal vouches for every member but itself: it is over all that the text has.
func TestSealIsOverAllMembers(t *testing.T) {
	f := golden(t)
	v, err := ijson.Decode(f.Text())
	if err != nil {
		t.Fatal(err)
	}
	all := v.(map[string]any)
	delete(all, "sealed")
	if got, want := string(f.bound()), string(ijson.Canonical(all)); got != want {
		t.Errorf("bound() = %s, want %s", got, want)
	}
	const text = `{"created_at":"2026-11-21T09:30:00Z","id":"56475aa75463474c","kdf":{"memory_kib":65536,"name":"argon2id","salt":"ZGVmZ2hpamtsbW5vcHFycw==","threads":4,"time":3},"name":"Ada Löw","public":"A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=","type":"patterngate/approver-key/v1"}`
	if got := string(f.bound()); got != text {
		t.Errorf("bound() = %s, want %s", got, text)
	}
}

// changed is a file with one thing other than sealed.
func changed(f File, change func(*File)) File {
	change(&f)
	return f
}

// cheap makes a key whose passphrase is guessed at little cost, and lets such keys be opened, for this test.
func cheap(t *testing.T) File {
	t.Helper()
	was := leastCost
	t.Cleanup(func() { leastCost = was })
	leastCost.Time, leastCost.MemoryKiB, leastCost.Threads = 1, 8, 1
	f, _, err := New("Ada", goldenPassphrase, start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(goldenPassphrase); err != nil {
		t.Fatalf("Open = %v", err)
	}
	return f
}

func TestChangedFileDoesNotOpen(t *testing.T) {
	f := cheap(t)
	other, _, err := New("Ada", goldenPassphrase, start)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file File
		want error
	}{
		"name":       {changed(f, func(f *File) { f.Name = "Eve" }), ErrPassphrase},
		"created_at": {changed(f, func(f *File) { f.CreatedAt = "2026-11-21T09:30:01Z" }), ErrPassphrase},
		"seal":       {changed(f, func(f *File) { f.Sealed = other.Sealed }), ErrPassphrase},
		"cost":       {changed(f, func(f *File) { f.KDF.Time++ }), ErrPassphrase},
	}
	for name, tt := range tests {
		if key, err := tt.file.Open(goldenPassphrase); !errors.Is(err, tt.want) || key != nil {
			t.Errorf("%s changed: Open = %v, %v; want %v", name, key, err, tt.want)
		}
	}
	if key, err := f.Open(goldenPassphrase[1:]); !errors.Is(err, ErrPassphrase) || key != nil {
		t.Errorf("Open(a wrong passphrase) = %v, %v; want ErrPassphrase", key, err)
	}
}

// A seal that opens but holds another key than the file names: its writer lies about the owner.
func TestSealOfAnotherKey(t *testing.T) {
	f := cheap(t)
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	f.Public, f.ID = base64.StdEncoding.EncodeToString(public), gateway.KeyID(public)
	salt, sealed, err := f.secret()
	if err != nil {
		t.Fatal(err)
	}
	aead, err := f.KDF.cipher(goldenPassphrase, salt)
	if err != nil {
		t.Fatal(err)
	}
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = 1
	f.Sealed = base64.StdEncoding.EncodeToString(aead.Seal(sealed[:24:24], sealed[:24], seed, f.bound()))
	if key, err := f.Open(goldenPassphrase); !errors.Is(err, ErrDamaged) || key != nil {
		t.Errorf("Open = %v, %v; want ErrDamaged", key, err)
	}
}

func TestReadRefuses(t *testing.T) {
	f := golden(t)
	valid := string(f.Text())
	replaced := func(old, by string) string {
		if strings.Count(valid, old) != 1 {
			t.Fatalf("%q is not once in %s", old, valid)
		}
		return strings.Replace(valid, old, by, 1)
	}
	tests := map[string]struct{ text, want string }{
		"nothing":             {"", "not a key file"},
		"no object":           {"[]", "not a key file"},
		"the empty object":    {"{}", "the type is"},
		"two documents":       {valid + valid, "not a key file"},
		"too long":            {valid + strings.Repeat(" ", maxFile), "at most 8192 bytes"},
		"an unknown member":   {replaced(`"id":`, `"hint": "x", "id":`), "hint"},
		"one of the kdf":      {replaced(`"time":`, `"version": 19, "time":`), "version"},
		"a member twice":      {replaced(`"id":`, `"name": "Ada", "id":`), "not a key file"},
		"another case":        {replaced(`"sealed"`, `"Sealed"`), "Sealed"},
		"another type":        {replaced("approver-key/v1", "approver-key/v2"), `want "patterngate/approver-key/v1"`},
		"no id":               {replaced(goldenID, ""), "the id does not belong to the public key"},
		"another id":          {replaced(goldenID, "0"+goldenID[1:]), "the id does not belong to the public key"},
		"id in upper case":    {replaced(goldenID, strings.ToUpper(goldenID)), "the id does not belong to the public key"},
		"no name":             {replaced("Ada Löw", ""), "name"},
		"a name that turns":   {replaced("Ada Löw", `\u202e`), "name"},
		"no time":             {replaced("2026-11-21T09:30:00Z", "yesterday"), "created_at"},
		"a time elsewhere":    {replaced("2026-11-21T09:30:00Z", "2026-11-21T10:30:00+01:00"), "created_at"},
		"parts of seconds":    {replaced("2026-11-21T09:30:00Z", "2026-11-21T09:30:00.5Z"), "created_at"},
		"public unpadded":     {replaced("Mbg=", "Mbg"), "the public key is not 32 bytes"},
		"public with a break": {replaced("Mbg=", `Mbg=\n`), "the public key is not 32 bytes"},
		"public too short":    {replaced(f.Public, "AAAA"), "the public key is not 32 bytes"},
		"kdf name":            {replaced("argon2id", "argon2i"), `want "argon2id"`},
		"less time":           {replaced(`"time": 3`, `"time": 2`), "weaker"},
		"less memory":         {replaced("65536", "65535"), "weaker"},
		"fewer threads":       {replaced(`"threads": 4`, `"threads": 3`), "weaker"},
		"time without end":    {replaced(`"time": 3`, `"time": 33`), "costs more"},
		"memory without end":  {replaced("65536", "1048577"), "costs more"},
		"threads without end": {replaced(`"threads": 4`, `"threads": 65`), "costs more"},
		"threads of 260":      {replaced(`"threads": 4`, `"threads": 260`), "not a key file"},
		"negative time":       {replaced(`"time": 3`, `"time": -3`), "not a key file"},
		"time as text":        {replaced(`"time": 3`, `"time": "3"`), "not a key file"},
		"a short salt":        {replaced(f.KDF.Salt, "AAAA"), "salt and seal"},
		"a short seal":        {replaced(f.Sealed, f.KDF.Salt), "salt and seal"},
		"a seal with a break": {replaced("61uFc", `61uF\nc`), "salt and seal"},
	}
	for name, tt := range tests {
		got, err := Read([]byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) || got != (File{}) {
			t.Errorf("%s: Read = %+v, %v; want no file and %q", name, got, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has two lines: %v", name, err)
		}
	}
	// What costs a guess more is welcome.
	if _, err := Read([]byte(replaced(`"time": 3`, `"time": 4`))); err != nil {
		t.Errorf("Read(time 4) = %v", err)
	}
}

// A file that nobody read is checked when it is opened, before anything is derived.
func TestOpenChecksFirst(t *testing.T) {
	f := golden(t)
	deriving.Lock() // a derivation waits forever
	defer deriving.Unlock()
	tests := map[string]struct {
		file       File
		passphrase string
	}{
		"the zero file":        {File{}, goldenPassphrase},
		"weaker":               {changed(f, func(f *File) { f.KDF.Time = 1 }), goldenPassphrase},
		"costs more":           {changed(f, func(f *File) { f.KDF.MemoryKiB = 1 << 31 }), goldenPassphrase},
		"no seal":              {changed(f, func(f *File) { f.Sealed = "" }), goldenPassphrase},
		"another's id":         {changed(f, func(f *File) { f.ID = "0123456789abcdef" }), goldenPassphrase},
		"a short passphrase":   {f, "short"},
		"a megabyte":           {f, strings.Repeat("a", 1<<20)},
		"passphrase not UTF-8": {f, goldenPassphrase + "\xff"},
	}
	for name, tt := range tests {
		if key, err := tt.file.Open(tt.passphrase); err == nil || key != nil {
			t.Errorf("%s: Open = %v, %v; want an error", name, key, err)
		}
	}
}

// Each derivation takes 64 MiB: a second one waits for the first.
func TestOneOpensAtATime(t *testing.T) {
	f := golden(t)
	deriving.Lock()
	var opened sync.WaitGroup
	done := make(chan error, 1)
	opened.Go(func() {
		_, err := f.Open(goldenPassphrase)
		done <- err
	})
	stacks := make([]byte, 1<<20)
	for waits := false; !waits; runtime.Gosched() {
		select {
		case err := <-done:
			t.Fatalf("Open = %v while another key was opened; want it to wait", err)
		default:
		}
		for _, g := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			waits = waits || strings.Contains(g, "cost.cipher") && strings.Contains(g, "[sync.Mutex.Lock")
		}
	}
	deriving.Unlock()
	opened.Wait()
	if err := <-done; err != nil {
		t.Errorf("Open, when it was its turn: %v", err)
	}
}

// An opened key has no text to print, by any verb.
func TestKeyPrintsNoSecret(t *testing.T) {
	key, _ := keyOf(7, "Ada")
	private := key.private()
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%s", "%q"} {
		got := fmt.Sprintf(verb, key) + fmt.Sprintf(verb, *key)
		for _, secret := range []string{fmt.Sprintf("%x", private[:4]), strings.Trim(fmt.Sprintf("%d", private[:4]), "[]"), "0x7, 0x0"} {
			if strings.Contains(got, secret) {
				t.Errorf("Sprintf(%s, key) = %s, which has %q of the seed", verb, got, secret)
			}
		}
	}
	key.Close()
	key.Close()
	if got := key.Sign(nil); got != "" || !bytes.Equal(private, make([]byte, len(private))) {
		t.Errorf("a closed key signs %q and holds %v; want nothing and zeros", got, private)
	}
}

func FuzzRead(f *testing.F) {
	valid := golden(f)
	f.Add(valid.Text())
	f.Add([]byte("{}"))
	f.Add([]byte(strings.Replace(string(valid.Text()), `"time": 3`, `"time": 3e0`, 1)))
	f.Add([]byte(strings.Replace(string(valid.Text()), "Ada", `\u0041da`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Read(text)
		if err != nil {
			if got != (File{}) {
				t.Fatalf("Read = %+v with %v", got, err)
			}
			return
		}
		again, err := Read(got.Text())
		if err != nil || again != got {
			t.Fatalf("Read(Text()) = %+v, %v; want %+v", again, err, got)
		}
		if !isID(got.ID) || got.KDF.check() != nil {
			t.Fatalf("Read took %+v", got)
		}
	})
}
