package gateway_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
)

// person is somebody with an approver key.
type person struct {
	private ed25519.PrivateKey
	public  gateway.PublicKey // named, not enrolled
}

var _ gateway.Signer = person{}

func (p person) KeyID() string { return p.public.ID }
func (p person) Sign(message []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(p.private, message))
}

// keyPair is the key of the seed first, first+1, ...
func keyPair(t testing.TB, first byte) person {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = first + byte(i)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public := private.Public().(ed25519.PublicKey)
	return person{private, gateway.PublicKey{ID: gateway.KeyID(public), Name: fmt.Sprintf("key %d", first), Public: public}}
}

// act is something this person does and signs; each has a nonce of its own by its subject and time.
func (p person) act(name string, subject map[string]any, at time.Time) gateway.SignedAct {
	a := gateway.Act{Act: name, Subject: subject, At: at, Nonce: fmt.Sprintf("%032x", at.Unix()), Key: p.KeyID()}
	return gateway.SignedAct{Act: a, Signature: p.Sign(a.Message())}
}

// enrolled is a person's key as another, or they themselves, vouched for it.
func enrolled(p, by person, at time.Time) gateway.PublicKey {
	k := p.public
	k.Enrolled, k.Vouched = at, by.act(gateway.ActEnroll, k.EnrolSubject(), at)
	return k
}

func removed(k gateway.PublicKey, by person, at time.Time) gateway.PublicKey {
	k.Removed, k.Dropped = at, by.act(gateway.ActRemove, gateway.RemoveSubject(k.ID), at)
	return k
}

// with is a key's row changed by hand.
func with(k gateway.PublicKey, change func(*gateway.PublicKey)) gateway.PublicKey {
	change(&k)
	return k
}

func TestRing(t *testing.T) {
	ada, bob, eve := keyPair(t, 0), keyPair(t, 50), keyPair(t, 100)
	at := func(hour int) time.Time { return noon.Add(time.Duration(hour) * time.Hour) }
	first, further := enrolled(ada, ada, at(0)), enrolled(bob, ada, at(1))
	change := func(k gateway.PublicKey, f func(*gateway.PublicKey)) []gateway.PublicKey {
		return []gateway.PublicKey{with(k, f)}
	}
	tests := map[string]struct {
		stored []gateway.PublicKey
		want   string // who counts at each of the hours 0 to 5; stray
	}{
		"none":                            {nil, "- - - - - -"},
		"the first":                       {[]gateway.PublicKey{first}, "a a a a a a"},
		"a further one":                   {[]gateway.PublicKey{first, further}, "a ab ab ab ab ab"},
		"in another order":                {[]gateway.PublicKey{further, first}, "a ab ab ab ab ab"},
		"all in one second":               {[]gateway.PublicKey{enrolled(eve, bob, at(0)), enrolled(bob, ada, at(0)), first}, "abe abe abe abe abe abe"},
		"two first ones":                  {[]gateway.PublicKey{first, enrolled(eve, eve, at(1))}, "a a a a a a stray"},
		"two first ones at once":          {[]gateway.PublicKey{first, enrolled(eve, eve, at(0))}, "a a a a a a stray"},
		"the first by another":            {[]gateway.PublicKey{enrolled(ada, eve, at(0))}, "- - - - - - stray"},
		"by one that is not there":        {[]gateway.PublicKey{first, enrolled(bob, eve, at(1))}, "a a a a a a stray"},
		"by one that came later":          {[]gateway.PublicKey{first, enrolled(bob, eve, at(1)), enrolled(eve, ada, at(2))}, "a a ae ae ae ae stray"},
		"by each other":                   {[]gateway.PublicKey{enrolled(bob, eve, at(1)), enrolled(eve, bob, at(1))}, "- - - - - - stray"},
		"removed by another":              {[]gateway.PublicKey{removed(first, bob, at(2)), further}, "a ab b b b b"},
		"removed by the first":            {[]gateway.PublicKey{first, removed(further, ada, at(2))}, "a ab a a a a"},
		"removed by itself":               {[]gateway.PublicKey{first, removed(further, bob, at(2))}, "a ab a a a a"},
		"the last by itself":              {[]gateway.PublicKey{removed(first, ada, at(2))}, "a a - - - -"},
		"a first one after the last":      {[]gateway.PublicKey{removed(first, ada, at(2)), enrolled(eve, eve, at(3))}, "a a - e e e"},
		"in the last's second":            {[]gateway.PublicKey{removed(first, ada, at(2)), enrolled(eve, eve, at(2))}, "a a e e e e"},
		"a first one before the last":     {[]gateway.PublicKey{removed(first, ada, at(3)), enrolled(eve, eve, at(2))}, "a a a - - - stray"},
		"removed by a stranger":           {[]gateway.PublicKey{removed(first, eve, at(2))}, "a a a a a a stray"},
		"and a first one after that":      {[]gateway.PublicKey{removed(first, eve, at(2)), enrolled(eve, eve, at(3))}, "a a a a a a stray"},
		"removed by a removed one":        {[]gateway.PublicKey{removed(first, bob, at(4)), removed(further, ada, at(2))}, "a ab a a a a stray"},
		"removed before it was enrolled":  {[]gateway.PublicKey{first, removed(further, bob, at(0))}, "a ab ab ab ab ab stray"},
		"vouched for by a removed one":    {[]gateway.PublicKey{removed(first, ada, at(1)), enrolled(bob, ada, at(2))}, "a - - - - - stray"},
		"vouched for, removed, at once":   {[]gateway.PublicKey{removed(first, bob, at(1)), further}, "a b b b b b"},
		"removing and removed, at once":   {[]gateway.PublicKey{removed(first, ada, at(2)), removed(further, ada, at(2))}, "a ab - - - -"},
		"the same twice":                  {[]gateway.PublicKey{first, first}, "a a a a a a stray"},
		"twice, once removed":             {[]gateway.PublicKey{first, removed(first, ada, at(2))}, "a a - - - - stray"},
		"twice, twice removed":            {[]gateway.PublicKey{removed(first, ada, at(2)), further, removed(first, bob, at(4))}, "a ab b b b b stray"},
		"signed, but no nonce":            {change(first, func(k *gateway.PublicKey) { k.Vouched = unnonced(ada, k.EnrolSubject(), at(0)) }), "- - - - - - stray"},
		"enrolled again":                  {[]gateway.PublicKey{removed(first, ada, at(2)), enrolled(ada, ada, at(3))}, "a a - - - - stray"},
		"another id":                      {change(first, func(k *gateway.PublicKey) { k.ID = bob.KeyID() }), "- - - - - - stray"},
		"another name":                    {change(first, func(k *gateway.PublicKey) { k.Name = "Eve" }), "- - - - - - stray"},
		"another key":                     {change(first, func(k *gateway.PublicKey) { k.Public = eve.public.Public }), "- - - - - - stray"},
		"another key with its id":         {change(first, func(k *gateway.PublicKey) { k.Public, k.ID = eve.public.Public, eve.KeyID() }), "- - - - - - stray"},
		"enrolled earlier":                {change(first, func(k *gateway.PublicKey) { k.Enrolled = at(-1) }), "- - - - - - stray"},
		"earlier, in the act too":         {change(first, func(k *gateway.PublicKey) { k.Enrolled, k.Vouched.At = at(-1), at(-1) }), "- - - - - - stray"},
		"signed by another":               {change(first, func(k *gateway.PublicKey) { k.Vouched.Key = bob.KeyID() }), "- - - - - - stray"},
		"another signature":               {change(first, func(k *gateway.PublicKey) { k.Vouched.Signature = further.Vouched.Signature }), "- - - - - - stray"},
		"no signature":                    {change(first, func(k *gateway.PublicKey) { k.Vouched.Signature = "" }), "- - - - - - stray"},
		"another nonce":                   {change(first, func(k *gateway.PublicKey) { k.Vouched.Nonce = strings.Repeat("0", 32) }), "- - - - - - stray"},
		"another act":                     {change(first, func(k *gateway.PublicKey) { k.Vouched = ada.act(gateway.ActSettle, k.EnrolSubject(), at(0)) }), "- - - - - - stray"},
		"about another key":               {change(first, func(k *gateway.PublicKey) { k.Vouched = ada.act(gateway.ActEnroll, bob.public.EnrolSubject(), at(0)) }), "- - - - - - stray"},
		"a short key":                     {[]gateway.PublicKey{first, shortKey(ada, at(1))}, "a a a a a a stray"},
		"removed by hand":                 {change(first, func(k *gateway.PublicKey) { k.Removed = at(2) }), "a a a a a a stray"},
		"removed earlier":                 {change(removed(first, ada, at(2)), func(k *gateway.PublicKey) { k.Removed = at(1) }), "a a a a a a stray"},
		"its removal is another's":        {[]gateway.PublicKey{first, with(further, func(k *gateway.PublicKey) { k.Removed, k.Dropped = at(2), removed(first, ada, at(2)).Dropped })}, "a ab ab ab ab ab stray"},
		"its removal is its enrolment":    {change(first, func(k *gateway.PublicKey) { k.Removed, k.Dropped = at(0), k.Vouched }), "a a a a a a stray"},
		"the zero key":                    {[]gateway.PublicKey{{}}, "- - - - - - stray"},
		"the zero key before the first":   {[]gateway.PublicKey{{}, first}, "a a a a a a stray"},
		"the removal of one row is there": {[]gateway.PublicKey{removed(first, bob, at(2))}, "a a a a a a stray"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := gateway.NewRing(tt.stored)
			var got []string
			for hour := range 6 {
				got = append(got, counting(r, at(hour), ada, bob, eve))
			}
			if r.Stray() {
				got = append(got, "stray")
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("NewRing: %s, want %s", got, tt.want)
			}
			if before := r.Counts(at(-2)); before != r.Stray() {
				t.Errorf("Counts(before all) = %v; want %v: of stray keys, always", before, r.Stray())
			}
		})
	}
}

// counting are the letters of the keys that count; it is a mistake if the ring says otherwise.
func counting(r gateway.Ring, at time.Time, all ...person) string {
	letters := ""
	for i, p := range all {
		if k, ok := r.Find(p.KeyID()); ok && k.Counts(at) {
			letters += string("abe"[i])
		}
	}
	switch {
	case r.Counts(at) != (r.Stray() || letters != ""):
		return "inconsistent"
	case letters == "":
		return "-"
	}
	return letters
}

// unnonced is a signed act that could be done twice.
func unnonced(p person, subject map[string]any, at time.Time) gateway.SignedAct {
	a := gateway.Act{Act: gateway.ActEnroll, Subject: subject, At: at, Key: p.KeyID()}
	return gateway.SignedAct{Act: a, Signature: p.Sign(a.Message())}
}

// shortKey is something with an id, vouched for, that verifies nothing.
func shortKey(by person, at time.Time) gateway.PublicKey {
	k := gateway.PublicKey{ID: gateway.KeyID(nil), Name: "short"}
	k.Enrolled, k.Vouched = at, by.act(gateway.ActEnroll, k.EnrolSubject(), at)
	return k
}

func TestRingBounds(t *testing.T) {
	ada := keyPair(t, 0)
	stored := make([]gateway.PublicKey, 300)
	stored[0] = enrolled(ada, ada, noon)
	if r := gateway.NewRing(stored); len(r.Keys()) != 1 || !r.Stray() {
		t.Errorf("NewRing(300 rows, one of them a key) has %d keys, stray %v; want 1, true", len(r.Keys()), r.Stray())
	}
	if r := gateway.NewRing(stored[1:]); len(r.Keys()) != 0 || !r.Counts(noon) {
		t.Errorf("NewRing(299 rows that are no keys) has %d keys, counts %v; want 0, true", len(r.Keys()), r.Counts(noon))
	}
	if _, ok := gateway.NewRing(nil).Find(""); ok {
		t.Error("Find(no id) finds a key")
	}
	r := gateway.NewRing(stored[:1])
	r.Keys()[0].Removed = noon
	if k, _ := r.Find(ada.KeyID()); !k.Counts(noon) {
		t.Error("who changes what Keys returns changes the ring")
	}
}

func TestKeyCounts(t *testing.T) {
	k := keyPair(t, 0).public
	k.Enrolled, k.Removed = noon, noon.Add(time.Minute)
	tests := map[string]struct {
		key  gateway.PublicKey
		at   time.Time
		want bool
	}{
		"before":             {k, noon.Add(-time.Second), false},
		"from then":          {k, noon, true},
		"until":              {k, noon.Add(59 * time.Second), true},
		"not in that second": {k, noon.Add(time.Minute), false},
		"elsewhere":          {k, noon.In(time.FixedZone("", 7200)), true},
		"never removed":      {with(k, func(k *gateway.PublicKey) { k.Removed = time.Time{} }), noon.AddDate(100, 0, 0), true},
		"another's id":       {with(k, func(k *gateway.PublicKey) { k.ID = "0123456789abcdef" }), noon, false},
		"the zero key":       {gateway.PublicKey{}, noon, false},
	}
	for name, tt := range tests {
		if got := tt.key.Counts(tt.at); got != tt.want {
			t.Errorf("%s: Counts(%v) = %v, want %v", name, tt.at, got, tt.want)
		}
	}
}

func TestVerify(t *testing.T) {
	ada := keyPair(t, 0)
	message := []byte("what is signed")
	good := ada.Sign(message)
	if err := ada.public.Verify(message, good); err != nil {
		t.Fatalf("Verify(its signature) = %v", err)
	}
	raw, err := base64.StdEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		key       gateway.PublicKey
		message   string
		signature string
	}{
		"another message":   {ada.public, "what is signeD", good},
		"another key":       {keyPair(t, 1).public, string(message), good},
		"no key":            {gateway.PublicKey{}, string(message), good},
		"no signature":      {ada.public, string(message), ""},
		"unpadded":          {ada.public, string(message), strings.TrimRight(good, "=")},
		"with a line break": {ada.public, string(message), good[:10] + "\n" + good[10:]},
		"in URL's alphabet": {ada.public, string(message), base64.URLEncoding.EncodeToString(raw) + "\r"},
		"other spare bits":  {ada.public, string(message), good[:len(good)-3] + "h=="},
		"one byte more":     {ada.public, string(message), base64.StdEncoding.EncodeToString(append(raw, 0))},
		"one byte less":     {ada.public, string(message), base64.StdEncoding.EncodeToString(raw[:63])},
		"one bit":           {ada.public, string(message), base64.StdEncoding.EncodeToString(append([]byte{raw[0] ^ 1}, raw[1:]...))},
		"in hex":            {ada.public, string(message), fmt.Sprintf("%x", raw)},
	}
	for name, tt := range tests {
		if err := tt.key.Verify([]byte(tt.message), tt.signature); !errors.Is(err, gateway.ErrSignature) {
			t.Errorf("%s: Verify(%q, %q) = %v, want ErrSignature", name, tt.message, tt.signature, err)
		}
	}
}

func TestRingChecksActs(t *testing.T) {
	ada, bob, eve, late := keyPair(t, 0), keyPair(t, 50), keyPair(t, 100), keyPair(t, 150)
	ring := gateway.NewRing([]gateway.PublicKey{enrolled(late, ada, noon.Add(-30*time.Second)), enrolled(ada, ada, noon.Add(-time.Hour)), removed(enrolled(bob, ada, noon.Add(-time.Hour)), ada, noon.Add(-time.Minute))})
	if ring.Stray() {
		t.Fatal("the ring of this test is stray")
	}
	good := ada.act(gateway.ActSeize, map[string]any{"run": "run_0123456789abcdef"}, noon)
	changed := func(f func(*gateway.SignedAct)) gateway.SignedAct { a := good; f(&a); return a }
	signed := func(f func(*gateway.Act)) gateway.SignedAct {
		a := good
		f(&a.Act)
		a.Signature = ada.Sign(a.Message())
		return a
	}
	tests := map[string]struct {
		act  gateway.SignedAct
		now  time.Time
		want error
	}{
		"now":                    {good, noon, nil},
		"300 seconds ago":        {good, noon.Add(300 * time.Second), nil},
		"301 seconds ago":        {good, noon.Add(301 * time.Second), gateway.ErrStaleAct},
		"in 300 seconds":         {good, noon.Add(-300 * time.Second), nil},
		"in 301 seconds":         {good, noon.Add(-301 * time.Second), gateway.ErrStaleAct},
		"none":                   {gateway.SignedAct{}, noon, gateway.ErrSignature},
		"another act":            {changed(func(a *gateway.SignedAct) { a.Act.Act = gateway.ActSettle }), noon, gateway.ErrSignature},
		"another subject":        {changed(func(a *gateway.SignedAct) { a.Subject = map[string]any{"run": "run_x"} }), noon, gateway.ErrSignature},
		"no subject":             {changed(func(a *gateway.SignedAct) { a.Subject = nil }), noon, gateway.ErrSignature},
		"another time":           {changed(func(a *gateway.SignedAct) { a.At = noon.Add(time.Second) }), noon, gateway.ErrSignature},
		"another nonce":          {changed(func(a *gateway.SignedAct) { a.Nonce = strings.Repeat("0", 32) }), noon, gateway.ErrSignature},
		"another key":            {changed(func(a *gateway.SignedAct) { a.Key = bob.KeyID() }), noon, gateway.ErrSignature},
		"no signature":           {changed(func(a *gateway.SignedAct) { a.Signature = "" }), noon, gateway.ErrSignature},
		"no nonce":               {signed(func(a *gateway.Act) { a.Nonce = "" }), noon, gateway.ErrSignature},
		"a nonce in upper case":  {signed(func(a *gateway.Act) { a.Nonce = strings.Repeat("A", 32) }), noon, gateway.ErrSignature},
		"a short nonce":          {signed(func(a *gateway.Act) { a.Nonce = "00" }), noon, gateway.ErrSignature},
		"by a removed key":       {bob.act(gateway.ActSeize, good.Subject, noon), noon, gateway.ErrSignature},
		"by one when it counted": {bob.act(gateway.ActSeize, good.Subject, noon.Add(-2*time.Minute)), noon, gateway.ErrSignature},
		"before it counted":      {late.act(gateway.ActSeize, good.Subject, noon.Add(-time.Minute)), noon, gateway.ErrSignature},
		"by a stranger":          {eve.act(gateway.ActSeize, good.Subject, noon), noon, gateway.ErrSignature},
		"by a stranger as Ada":   {changed(func(a *gateway.SignedAct) { a.Signature = eve.Sign(a.Message()) }), noon, gateway.ErrSignature},
	}
	for name, tt := range tests {
		if err := ring.Check(tt.act, tt.now); !errors.Is(err, tt.want) {
			t.Errorf("%s: Check = %v, want %v", name, err, tt.want)
		}
	}
}
