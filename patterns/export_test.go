package patterns

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
)

const recordedRun = "run_00112233aabbccdd"

// recorded is a short record: a run that looked something up.
func recorded(runID string) []Event {
	bodies := []struct {
		kind EventKind
		key  string
		body string
	}{
		{StartEvent, "", `{"arguments":{"ticket":"hello"},"pattern":"route_ticket","pattern_kind":"routing","principal":"local:1000","run_id":"` + runID + `"}`},
		{IntentEvent, "route#1", `{"effect_kind":"model","input":{"ticket":"hello \u001b[31m"},"name":"route"}`},
		{OutcomeEvent, "route#1", `{"output":"{}","state":"ok"}`},
		{JudgedEvent, "", `{"decision":"refused","phase":"route","proposal":{},"reason":"invalid_route:bad_kind"}`},
		{EndEvent, "", `{"phase":"route","status":"stopped","stop_reason":"invalid_route:bad_kind"}`},
	}
	var events []Event
	var before []byte
	for i, b := range bodies {
		e := Event{Seq: int64(i + 1), At: 1_764_000_000_000_000 + int64(i)*1500, Kind: b.kind, Key: b.key, Body: json.RawMessage(b.body)}
		e.Seal(runID, before)
		before = e.Hash
		events = append(events, e)
	}
	return events
}

var exportedAt = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

func export(t testing.TB) []byte {
	t.Helper()
	return ExportRecord(recordedRun, "route_ticket", recorded(recordedRun), gateway.Ring{}, exportedAt)
}

func TestExportRoundTrip(t *testing.T) {
	text := export(t)
	x, err := ReadExport(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recorded(recordedRun), x.Events); diff != "" {
		t.Errorf("events of the export differ (-want +got):\n%s", diff)
	}
	if x.RunID != recordedRun || x.Pattern != "route_ticket" || !x.At.Equal(exportedAt) || x.Head.String() != HeadOf(x.Events).String() {
		t.Errorf("ReadExport = %+v", x)
	}
	kept := HeadOf(x.Events[:3])
	if err := x.Verify(&kept); err != nil {
		t.Errorf("Verify = %v", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	want := `{"kind":"patterngate.export","format":1,"run_id":"` + recordedRun + `","pattern":"route_ticket","events":5,"head":"` +
		hex.EncodeToString(x.Head.Hash) + `","exported_at":"2026-11-21T09:30:00Z","keys":[]}`
	if first != want {
		t.Errorf("first line:\n%s\nwant\n%s", first, want)
	}
}

// An export that is edited by hand does not verify, whatever is edited.
func TestExportForged(t *testing.T) {
	line := func(n int, old, new string) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			if edited := strings.Replace(lines[n], old, new, 1); edited != lines[n] {
				lines[n] = edited
				return strings.Join(lines, "")
			}
			t.Fatalf("line %d has no %q", n+1, old)
			return ""
		}
	}
	without := func(n int) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			return strings.Join(append(lines[:n:n], lines[n+1:]...), "")
		}
	}
	other := string(ExportRecord("run_ffffffffffffffff", "route_ticket", recorded("run_ffffffffffffffff"), gateway.Ring{}, exportedAt))
	head := hex.EncodeToString(HeadOf(recorded(recordedRun)).Hash)
	tests := map[string]struct {
		edit func(string) string
		want string // the beginning of what is found
	}{
		"kind of the file":    {line(0, "patterngate.export", "patterngate.other"), `line 1: the kind is "patterngate.other"`},
		"format":              {line(0, `"format":1`, `"format":2`), "line 1: the format is 2; this program reads 1"},
		"run id":              {line(0, recordedRun, "run_ffffffffffffffff"), "event 1: does not follow"},
		"pattern":             {line(0, "route_ticket", "route_tickets"), "event 0: the first line names another pattern"},
		"events, fewer":       {line(0, `"events":5`, `"events":4`), "event 5: is one more than the 4"},
		"events, more":        {line(0, `"events":5`, `"events":6`), "event 6: missing; 5 of 6"},
		"head":                {line(0, head[:2], "zz"), "line 1: head is not 64"},
		"another head":        {line(0, head, strings.Repeat("00", 32)), "event 0: the first line names another head"},
		"exported_at":         {line(0, "2026-11-21", "yesterday"), "line 1: exported_at is not a time"},
		"keys":                {line(0, `"keys":[]`, `"keys":[{}]`), "line 1: holds a key whose public half is no"},
		"another member":      {line(0, `"keys"`, `"note":"x","keys"`), "line 1: has members"},
		"no member":           {line(0, `"format":1,`, ``), "line 1: format is missing"},
		"seq":                 {line(2, `"seq":2`, `"seq":3`), "event 2: missing; the next one is event 3"},
		"at":                  {line(2, `"at":17640`, `"at":17650`), "event 2: does not follow"},
		"kind of an event":    {line(3, `"outcome"`, `"late"`), "event 3: does not follow"},
		"key":                 {line(2, `"route#1"`, `"route#2"`), "event 2: does not follow"},
		"hash":                {line(3, `"hash":"`, `"hash":"0`), "line 4: hash is not 64"},
		"body":                {line(5, "bad_kind", "bad_king"), "event 5: does not follow"},
		"body, blank added":   {line(5, `"status":`, `"status": `), "event 5: does not follow"},
		"event, other member": {line(2, `"body"`, `"x":1,"body"`), "line 3: has members"},
		"event, blank":        {line(2, `,"at"`, `, "at"`), "line 3: is not spelled"},
		"event, twice":        {line(2, `"seq":2`, `"seq":2,"seq":2`), "line 3: is not spelled"},
		"event, upper case":   {line(2, `"seq"`, `"Seq"`), "line 3: seq is missing"},
		"event, type":         {line(2, `"seq":2`, `"seq":"2"`), "line 3: a member is of another type"},
		"CR LF":               {line(2, "\n", "\r\n"), "line 3: is not spelled"},
		"an event left out":   {without(3), "event 3: missing; the next one is event 4"},
		"the end left out":    {without(5), "event 5: missing; 4 of 5"},
		"the start left out":  {without(1), "event 1: missing"},
		"no line end":         {func(s string) string { return strings.TrimSuffix(s, "\n") }, "line 6: has no line end"},
		"an event of another run": {func(s string) string {
			lines, others := strings.SplitAfter(s, "\n"), strings.SplitAfter(other, "\n")
			lines[3] = others[3]
			return strings.Join(lines, "")
		}, "event 3: does not follow"},
		"a blank line":    {line(3, "{", "\n{"), "line 4: is no JSON object"},
		"a list":          {func(string) string { return "[]\n" }, "line 1: is no JSON object"},
		"null":            {func(string) string { return "null\n" }, "line 1: is no JSON object"},
		"nothing":         {func(string) string { return "" }, "line 1: is no JSON object"},
		"bytes, no UTF-8": {line(1, "hello", "hel\xfflo"), "line 2: is not UTF-8"},
		"no events": {func(s string) string {
			first, _, _ := strings.Cut(s, "\n")
			return strings.NewReplacer(`"events":5`, `"events":0`, head, "").Replace(first) + "\n"
		}, "event 1: missing; 0 of 1"},
		"a huge line": {line(1, "hello", strings.Repeat("x", maxExportLine)), "line 2: has 167"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := checked([]byte(test.edit(string(export(t)))), nil); got == nil || !strings.HasPrefix(got.Error(), test.want) {
				t.Errorf("found %v, want %s...", got, test.want)
			}
		})
	}
}

// checked is what is wrong with an export.
func checked(text []byte, kept *Head) error {
	x, err := ReadExport(text)
	if err != nil {
		return err
	}
	return x.Verify(kept)
}

// An export that is written again with its whole chain does not fit a head that was kept before.
func TestExportAgainstKeptHead(t *testing.T) {
	whole := recorded(recordedRun)
	rewritten := recorded(recordedRun)
	var before []byte
	for i := range rewritten {
		rewritten[i].Body = bytes.Replace(rewritten[i].Body, []byte(`"state":"ok"`), []byte(`"state":"failed"`), 1)
		rewritten[i].Seal(recordedRun, before)
		before = rewritten[i].Hash
	}
	kept := func(n int) *Head { h := HeadOf(whole[:n]); return &h }
	tests := map[string]struct {
		events []Event
		kept   *Head
		want   string
	}{
		"cut, no head kept":              {whole[:3], nil, ""},
		"written anew, no head kept":     {rewritten, nil, ""},
		"whole":                          {whole, kept(5), ""},
		"grown since":                    {whole, kept(2), ""},
		"cut":                            {whole[:3], kept(5), "event 4: missing; the kept head is of 5 events, 3 are there"},
		"written anew":                   {rewritten, kept(5), "event 5: is not the one whose head was kept: it or one before it was rewritten"},
		"written anew after the head":    {rewritten, kept(2), ""},
		"no head":                        {whole, &Head{}, "event 0: the kept head is not a head"},
		"a head of nothing":              {whole, &Head{Events: -1, Hash: make([]byte, 32)}, "event 0: the kept head is not a head"},
		"a head of more than there were": {whole, &Head{Events: 1 << 62, Hash: make([]byte, 32)}, "event 6: missing; the kept head is of 4611686018427387904 events, 5 are there"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := checked(ExportRecord(recordedRun, "route_ticket", test.events, gateway.Ring{}, exportedAt), test.kept)
			if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
				t.Errorf("found %v, want %q", got, test.want)
			}
			if broken, ok := errors.AsType[*BrokenRecord](err); err != nil && (!ok || broken.Reason == "") {
				t.Errorf("%T is no *BrokenRecord", err)
			}
		})
	}
}

func TestParseHead(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for text, want := range map[string]string{
		"5:" + sum: "5 sha256:" + sum, "5:sha256:" + sum: "5 sha256:" + sum, "5 sha256:" + sum: "5 sha256:" + sum,
		"0:" + sum: "", "-1:" + sum: "", "05:" + sum: "", "+5:" + sum: "", "5:" + sum[1:]: "", "5:" + strings.ToUpper(sum): "", "5": "", "": "", ":" + sum: "",
		"99999999999999999999:" + sum: "",
	} {
		got, err := ParseHead(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("ParseHead(%q) = %v, %v, want %q", text, got, err, want)
		}
	}
}

// A changed byte of an export is always found; but for the time of the export, which is no part of the record.
func FuzzExportChangedByte(f *testing.F) {
	text := export(f)
	f.Add(10, byte('x'))
	f.Add(500, byte(' '))
	f.Add(len(text)-1, byte('}'))
	f.Fuzz(func(t *testing.T, at int, to byte) {
		if at < 0 || at >= len(text) || text[at] == to {
			return
		}
		changed := bytes.Clone(text)
		changed[at] = to
		if from := bytes.Index(text, []byte(`"exported_at"`)); at > from && at < from+len(`"exported_at":"2026-11-21T09:30:00Z"`) {
			return
		}
		if checked(changed, nil) == nil {
			t.Errorf("byte %d changed from %q to %q is not found:\n%s", at, text[at], to, changed)
		}
	})
}

// Every byte once, with the two bits that edits by hand are most likely to touch.
func TestExportEveryByte(t *testing.T) {
	text := export(t)
	from := bytes.Index(text, []byte(`"exported_at":"`)) + len(`"exported_at":"`)
	for at := range text {
		for _, mask := range []byte{1, ' '} {
			changed := bytes.Clone(text)
			changed[at] ^= mask
			if outside := at < from || at >= from+len("2026-11-21T09:30:00Z"); outside && checked(changed, nil) == nil {
				t.Errorf("byte %d changed from %q to %q is not found", at, text[at], changed[at])
			}
		}
	}
}

// keyed is a record in which somebody signed, and the export of it.
func keyed() (gateway.PublicKey, []byte) {
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	k := gateway.PublicKey{Name: "Anna <b>\u202e", Public: private.Public().(ed25519.PublicKey), Enrolled: exportedAt.Add(-time.Hour)}
	k.ID = gateway.KeyID(k.Public)
	sign := func(a gateway.Act) gateway.SignedAct {
		return gateway.SignedAct{Act: a, Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(private, a.Message()))}
	}
	nonce := strings.Repeat("0a", 16)
	k.Vouched = sign(gateway.Act{Act: gateway.ActEnroll, Subject: k.EnrolSubject(), At: k.Enrolled, Nonce: nonce, Key: k.ID})
	k.Removed = exportedAt
	k.Dropped = sign(gateway.Act{Act: gateway.ActRemove, Subject: map[string]any{"id": k.ID}, At: k.Removed, Nonce: nonce, Key: k.ID})
	events := recorded(recordedRun)[:2]
	seize := Event{Seq: 3, At: events[1].At, Kind: NoteEvent, Body: json.RawMessage(`{"act":{"key":"` + k.ID + `"},"what":"seize"}`)}
	seize.Seal(recordedRun, events[1].Hash)
	return k, ExportRecord(recordedRun, "route_ticket", append(events, seize), gateway.NewRing([]gateway.PublicKey{k}), exportedAt)
}

// The keys of an export are read as they were written, and nothing else is taken for one.
func TestExportKeys(t *testing.T) {
	want, text := keyed()
	x, err := ReadExport(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]gateway.PublicKey{want}, x.Keys); diff != "" {
		t.Errorf("keys of the export differ (-want +got):\n%s", diff)
	}
	if found, ok := x.Ring().Find(want.ID); !ok || found.Removed.IsZero() {
		t.Errorf("the export's ring has %+v, %v", found, ok)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	key := first[strings.Index(first, `"keys":[`)+len(`"keys":[`) : strings.LastIndex(first, "]}")]
	for name, test := range map[string]struct{ old, to, want string }{
		"a word":          {key, `"k"`, "line 1: holds a key that is none"},
		"another member":  {`"id":`, `"extra":1,"id":`, "line 1: holds a key that is none"},
		"a member twice":  {`"nonce":`, `"nonce":"","nonce":`, "line 1: holds a key that is none"},
		"a short key":     {`"public":"`, `"public":"AAAA`, "line 1: holds a key whose public half"},
		"no time":         {`"enrolled_at":"2026`, `"enrolled_at":"x`, "line 1: holds a key whose enrolled_at"},
		"no removal time": {`"removed_at":"2026`, `"removed_at":"x`, "line 1: holds a key whose removed_at"},
		"a removal alone": {`"removed_at":"2026-11-21T09:30:00Z",`, ``, "line 1: holds a key with a removal or removed_at alone"},
		"a fraction":      {`"enrolled_at":"2026-11-21T08:30:00Z"`, `"enrolled_at":"2026-11-21T08:30:00.5Z"`, "line 1: is not spelled"},
		"a blank":         {`,"name"`, `, "name"`, "line 1: is not spelled"},
		"a long name":     {"Anna", strings.Repeat("x", 300), "line 1: holds a key whose name"},
		"too many":        {key, strings.Repeat(key+",", gateway.MaxKeys) + key, "line 1: it holds 257 keys; at most 256"},
	} {
		edited := strings.Replace(first, test.old, test.to, 1)
		if _, err := ReadExport([]byte(edited + "\n" + rest)); edited == first || err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: ReadExport = %v, want %s...", name, err, test.want)
		}
	}
}

// A key that came after many others, each of which vouched for the next, is exported with all of them, and read again.
func TestExportManyKeys(t *testing.T) {
	var keys []gateway.PublicKey
	var by ed25519.PrivateKey
	for i := range 100 {
		private := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), byte(i)))
		if by == nil {
			by = private
		}
		k := gateway.PublicKey{Public: private.Public().(ed25519.PublicKey), Enrolled: exportedAt.Add(time.Duration(i) * time.Minute)}
		k.ID = gateway.KeyID(k.Public)
		act := gateway.Act{
			Act: gateway.ActEnroll, Subject: k.EnrolSubject(), At: k.Enrolled, Nonce: fmt.Sprintf("%032x", i),
			Key: gateway.KeyID(by.Public().(ed25519.PublicKey)),
		}
		k.Vouched = gateway.SignedAct{Act: act, Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(by, act.Message()))}
		keys, by = append(keys, k), private
	}
	newest := keys[len(keys)-1].ID
	events := recorded(recordedRun)[:2]
	seize := Event{Seq: 3, At: events[1].At, Kind: NoteEvent, Body: json.RawMessage(`{"act":{"key":"` + newest + `"},"what":"seize"}`)}
	seize.Seal(recordedRun, events[1].Hash)
	x, err := ReadExport(ExportRecord(recordedRun, "route_ticket", append(events, seize), gateway.NewRing(keys), exportedAt))
	if err != nil {
		t.Fatal(err)
	}
	if _, known := x.Ring().Find(newest); !known || len(x.Keys) != len(keys) {
		t.Errorf("the export has %d keys, the newest among them: %v; want %d, true", len(x.Keys), known, len(keys))
	}
}

func FuzzReadExport(f *testing.F) {
	f.Add(export(f))
	_, text := keyed()
	f.Add(text)
	f.Add([]byte("{}\n{}\n"))
	f.Add([]byte(`{"kind":"patterngate.export","format":1,"run_id":"","pattern":"","events":0,"head":"","exported_at":"0000-01-01T00:00:00Z","keys":[]}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := ReadExport(text)
		if err != nil {
			return
		}
		_ = x.Verify(nil)
		for _, e := range x.Events {
			_, _ = DecodeBody(e)
		}
		again := x.appendFirst(nil)
		for _, e := range x.Events {
			again = e.AppendLine(again)
		}
		if !bytes.Equal(again, text) {
			t.Errorf("read and written again an export is\n%s\nwas\n%s", again, text)
		}
	})
}
