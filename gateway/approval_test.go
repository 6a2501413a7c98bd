package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patterngate/gateway"
	"patterngate/ijson"
)

// The texts below were written by hand from spec/surface.md section 8; their hashes and signatures are those of another
// program (SHA-256 and Ed25519 of OpenSSL, with the seed 0, 1, ... 31).
const (
	goldenSchema   = "sha256:a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0" // {"type":"object"}
	goldenPolicy   = "sha256:9c1a94319cabd71561c3f9058fb55428debf864561bbc6a1ebaff2d9f9d5149b"
	goldenQuestion = `{"args":{"amount_usd":1200,"reason":"späte \u0007Lieferung","user_id":42},"expires":"2026-11-22T09:30:00Z","policy":"` + goldenPolicy +
		`","run":"run_5d0c9a1e77b2f340","schema":"` + goldenSchema + `","step":"issue_refund#1","tool":"issue_refund","type":"patterngate/approval/v1"}`
	goldenDigest = "sha256:7423a41c0497e35b484f59a067525c28b04677d1a8d13aa6f7a7566f87b9b521"
	goldenEdited = "sha256:8abebe13514dae90ab66e26ddb00352c7cc7f14d63e256bfee2cd0a7c1fb0c54" // with amount_usd 800
	goldenAnswer = `{"approval":"ap_00112233445566ff","at":"2026-11-21T10:00:00Z","by":"key:56475aa75463474c","comment":"only the \"late\" part <ö>","decision":"edit","digest":"` + goldenDigest +
		`","executes":"` + goldenEdited + `","key":"56475aa75463474c","type":"patterngate/decision/v1"}`
	goldenAnswerSignature = "W5chkQV2DK4yuerbGtm8Guig3vh7qP6tDNho7tlkIsFbnojKov80oGAiySYzX35ee8COs/ng/MURG+xjP40BDg=="
	goldenAct             = `{"act":"runs.settle","at":"2026-11-21T10:00:00Z","key":"56475aa75463474c","nonce":"000102030405060708090a0b0c0d0e0f","subject":{"effect":"pay#1","happened":true,"run":"run_5d0c9a1e77b2f340"},"type":"patterngate/act/v1"}`
	goldenActSignature    = "uCwvncyAxw85ky1VFrCwpUQLelaYHUILz0m47zzj+xAIcrLmLwjAN+vmIEc2uA9Ec+pUK+YTzLgYarcRsFEcCw=="
)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(h[:])
}

// noon is when the questions of these tests are answered.
var noon = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func refundQuestion() gateway.Question {
	return gateway.Question{
		Run: "run_5d0c9a1e77b2f340", Step: "issue_refund#1", Tool: "issue_refund", Schema: goldenSchema, Policy: goldenPolicy,
		Args:    map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "späte \aLieferung"},
		Expires: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC),
	}
}

func goldenAnswered() gateway.Answer {
	args := refundQuestion().Args
	args["amount_usd"] = 800.0
	a := gateway.Answered("ap_00112233445566ff", refundQuestion(), gateway.ChooseEdit, args)
	a.Comment, a.At, a.By, a.Key = `only the "late" part <ö>`, noon, "key:56475aa75463474c", "56475aa75463474c"
	return a
}

func TestGoldenTexts(t *testing.T) {
	q, a, key := refundQuestion(), goldenAnswered(), keyPair(t, 0).public
	act := gateway.Act{
		Act: gateway.ActSettle, At: noon, Nonce: "000102030405060708090a0b0c0d0e0f", Key: "56475aa75463474c",
		Subject: map[string]any{"run": "run_5d0c9a1e77b2f340", "effect": "pay#1", "happened": true},
	}
	tests := map[string]struct{ got, want string }{
		"question":         {string(q.Object()), goldenQuestion},
		"digest":           {q.Digest(), goldenDigest},
		"digest by hand":   {q.Digest(), sum(goldenQuestion)},
		"digest, edited":   {a.Executes, goldenEdited},
		"edited by hand":   {a.Executes, sum(strings.Replace(goldenQuestion, "1200", "800", 1))},
		"decision":         {string(a.Object()), goldenAnswer},
		"decision, signed": {string(a.Message()), "patterngate decision v1\n" + goldenAnswer},
		"act":              {string(act.Message()), "patterngate act v1\n" + goldenAct},
		"key":              {key.ID, "56475aa75463474c"},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", name, tt.got, tt.want)
		}
	}
	for what, err := range map[string]error{
		"decision": key.Verify([]byte("patterngate decision v1\n"+goldenAnswer), goldenAnswerSignature),
		"act":      key.Verify([]byte("patterngate act v1\n"+goldenAct), goldenActSignature),
	} {
		if err != nil {
			t.Errorf("Verify(the golden %s) = %v", what, err)
		}
	}
	if err := key.Verify([]byte("patterngate act v1\n"+goldenAnswer), goldenAnswerSignature); !errors.Is(err, gateway.ErrSignature) {
		t.Errorf("Verify(a decision as an act) = %v, want ErrSignature", err)
	}
}

// The assurance that counted when it was asked is a member of the digest where it is above user.
func TestQuestionAssurance(t *testing.T) {
	for least, want := range map[gateway.Assurance]string{
		"": goldenQuestion, gateway.UserAssurance: goldenQuestion,
		gateway.SignedAssurance: strings.Replace(goldenQuestion, `"expires"`, `"assurance":"signed","expires"`, 1),
	} {
		q := refundQuestion()
		q.Assurance = least
		if got := string(q.Object()); got != want {
			t.Errorf("%q: Object() = %s, want %s", least, got, want)
		}
		back, err := gateway.ReadQuestion([]byte(want))
		if err != nil || back.Digest() != q.Digest() {
			t.Errorf("%q: ReadQuestion = %+v, %v", least, back, err)
		}
	}
	explicit := strings.Replace(goldenQuestion, `"expires"`, `"assurance":"user","expires"`, 1)
	if _, err := gateway.ReadQuestion([]byte(explicit)); err == nil {
		t.Error("a question with the assurance user is read, and is not how it is written")
	}
}

// What is not there is {}: no arguments, no schema, no policy.
func TestQuestionOfNothing(t *testing.T) {
	none := sum("{}")
	want := `{"args":{},"expires":"2026-11-22T09:30:00Z","policy":"` + none + `","run":"r","schema":"` + none + `","step":"s","tool":"t","type":"patterngate/approval/v1"}`
	zone := time.FixedZone("", 3600)
	q := gateway.Question{Run: "r", Step: "s", Tool: "t", Expires: time.Date(2026, 11, 22, 10, 30, 0, 999, zone)}
	if got := string(q.Object()); got != want {
		t.Errorf("Object() = %s, want %s", got, want)
	}
}

func TestAnswersOfChoices(t *testing.T) {
	q := refundQuestion()
	edited := map[string]any{"amount_usd": 800.0}
	tests := map[string]struct {
		choice  gateway.Choice
		decides string // of the text
	}{
		"approve": {gateway.ChooseApprove, `"decision":"approve","digest":"` + goldenDigest + `","executes":"` + goldenDigest + `"`},
		"edit":    {gateway.ChooseEdit, `"decision":"edit","digest":"` + goldenDigest + `","executes":"` + q.With(edited).Digest() + `"`},
		"reject":  {gateway.ChooseReject, `"decision":"reject","digest":"` + goldenDigest + `","type":"`},
		"none":    {"", `"decision":"","digest":"` + goldenDigest + `","type":"`},
	}
	for name, tt := range tests {
		a := gateway.Answered("ap_00112233445566ff", q, tt.choice, edited)
		a.At, a.By = noon, "local:1000"
		if got := string(a.Object()); !strings.Contains(got, tt.decides) || strings.Contains(got, `"key"`) {
			t.Errorf("%s: Object() = %s, want %s in it and no key", name, got, tt.decides)
		}
	}
	if got := q.Digest(); got != goldenDigest {
		t.Errorf("Answered changed the question: %s", q.Object())
	}
}

func TestReadAnswer(t *testing.T) {
	got, err := gateway.ReadAnswer([]byte(goldenAnswer))
	if err != nil || !got.At.Equal(noon) || string(got.Object()) != goldenAnswer {
		t.Fatalf("ReadAnswer(the golden one) = %+v, %v", got, err)
	}
	const unsigned = `"by":"key:56475aa75463474c"`
	replaced := func(pairs ...string) string {
		text := goldenAnswer
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("no %q in %s", pairs[i], text)
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	const signs = `"key":"56475aa75463474c",`
	executes := `"executes":"` + goldenEdited + `",`
	tests := map[string]struct{ text, want string }{
		"nothing":               {"", "no answer"},
		"no object":             {"null", "no answer"},
		"the empty object":      {"{}", "no answer"},
		"white space":           {goldenAnswer + "\n", "canonical"},
		"another order":         {replaced(signs, "", `"by"`, signs+`"by"`), "canonical"},
		"an escape too many":    {replaced("only", `\u006fnly`), "canonical"},
		"an unknown member":     {replaced(signs, signs+`"not_before":"x",`), "no answer"},
		"compared, true":        {replaced(signs, `"compared":true,`+signs), "canonical"},
		"compared, a word":      {replaced(signs, `"compared":"false",`+signs), "no answer"},
		"a member twice":        {replaced(signs, signs+signs), "no answer"},
		"another type":          {replaced("decision/v1", "decision/v2"), "canonical"},
		"an act":                {goldenAct, "no answer"},
		"a question":            {goldenQuestion, "no answer"},
		"time as a number":      {replaced(`"2026-11-21T10:00:00Z"`, "1"), "no answer"},
		"time elsewhere":        {replaced("2026-11-21T10:00:00Z", "2026-11-21T11:00:00+01:00"), "canonical"},
		"parts of seconds":      {replaced("2026-11-21T10:00:00Z", "2026-11-21T10:00:00.5Z"), "canonical"},
		"no time":               {replaced("2026-11-21T10:00:00Z", ""), "no answer"},
		"the time of nothing":   {replaced("2026-11-21T10:00:00Z", "0001-01-01T00:00:00Z"), "at is the time"},
		"no approval":           {replaced("ap_00112233445566ff", ""), "approval is ap_"},
		"a run as approval":     {replaced("ap_00112233445566ff", "run_00112233445566ff"), "approval is ap_"},
		"in upper case":         {replaced("ap_00112233445566ff", "ap_00112233445566FF"), "approval is ap_"},
		"no digest":             {replaced(goldenDigest, ""), "digest is sha256:"},
		"another hash":          {replaced(goldenDigest, "sha512:"+goldenDigest[7:]), "digest is sha256:"},
		"no decision":           {replaced(`"edit"`, `""`), "decision is approve"},
		"another decision":      {replaced(`"edit"`, `"allow"`), "decision is approve"},
		"approve something":     {replaced(`"edit"`, `"approve"`), "executes is"},
		"approve nothing":       {replaced(`"edit"`, `"approve"`, executes, ""), "executes is"},
		"edit nothing":          {replaced(executes, ""), "executes is"},
		"edit to what":          {replaced(goldenEdited, "something"), "executes is"},
		"reject something":      {replaced(`"edit"`, `"reject"`), "executes is"},
		"executes said empty":   {replaced(`"edit"`, `"reject"`, goldenEdited, ""), "canonical"},
		"key said empty":        {replaced(signs, `"key":"",`), "canonical"},
		"a key that is no id":   {replaced(signs, `"key":"ada",`, unsigned, `"by":"key:ada"`), "by is key:"},
		"by another key":        {replaced(unsigned, `"by":"key:0123456789abcdef"`), "by is key:"},
		"signed, by a user":     {replaced(unsigned, `"by":"local:1000"`), "by is key:"},
		"unsigned, by a key":    {replaced(signs, ""), "by is local:"},
		"unsigned, by nobody":   {replaced(signs, "", unsigned, `"by":""`), "by is local:"},
		"by a client":           {replaced(signs, "", unsigned, `"by":"token:ci"`), "by is local:"},
		"by too long":           {replaced(signs, "", unsigned, `"by":"local:`+strings.Repeat("1", 251)+`"`), "by is local:"},
		"a comment too long":    {replaced(`only the \"late\" part <ö>`, strings.Repeat("ö", 1001)), "comment has"},
		"longer than any":       {replaced("only", strings.Repeat("x", 16<<10)), "bytes"},
		"no UTF-8":              {replaced("only", "\xff"), "no answer"},
		"null where text stood": {replaced(`"ap_00112233445566ff"`, "null"), ""},
	}
	for name, tt := range tests {
		got, err := gateway.ReadAnswer([]byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) || got != (gateway.Answer{}) {
			t.Errorf("%s: ReadAnswer(%.300s) = %+v, %v; want none and %q", name, tt.text, got, err, tt.want)
		}
	}
	longest := goldenAnswered()
	longest.Comment = strings.Repeat("\x01", 1000)
	if got, err := gateway.ReadAnswer(longest.Object()); err != nil || got != longest {
		t.Errorf("ReadAnswer(1000 characters that are escaped) = %+v, %v", got, err)
	}
}

// What is read is what was written, and nothing is read that could not have been written.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(goldenAnswer))
	f.Add([]byte(strings.Replace(goldenAnswer, "<ö>", `\u2028`, 1)))
	f.Add([]byte(`{"approval":"ap_00112233445566ff","at":"2026-11-21T10:00:00Z","by":"local:1000","comment":"","decision":"reject","digest":"` + goldenDigest + `","type":"patterngate/decision/v1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := gateway.ReadAnswer(text)
		if err != nil {
			if a != (gateway.Answer{}) {
				t.Fatalf("ReadAnswer = %+v with %v", a, err)
			}
			return
		}
		canonical, err := ijson.Canonicalize(text)
		if err != nil || string(canonical) != string(text) || string(a.Object()) != string(text) {
			t.Fatalf("ReadAnswer took %s, which is not canonical: %s", text, canonical)
		}
		if again, err := gateway.ReadAnswer(a.Object()); err != nil || again != a {
			t.Fatalf("ReadAnswer(Object()) = %+v, %v; want %+v", again, err, a)
		}
	})
}

func TestReadAnswerReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := drawnAnswer(r)
		got, err := gateway.ReadAnswer(want.Object())
		if err != nil || got != want {
			r.Fatalf("ReadAnswer(%s) = %+v, %v; want %+v", want.Object(), got, err, want)
		}
	})
}

func drawnAnswer(r *rapid.T) gateway.Answer {
	hexOf := func(prefix string, digits int, what string) string {
		return prefix + rapid.StringOfN(rapid.RuneFrom([]rune("0123456789abcdef")), digits, digits, -1).Draw(r, what)
	}
	a := gateway.Answer{
		Approval: hexOf("ap_", 16, "approval"), Digest: hexOf("sha256:", 64, "digest"),
		Choice:  rapid.SampledFrom([]gateway.Choice{gateway.ChooseApprove, gateway.ChooseEdit, gateway.ChooseReject}).Draw(r, "choice"),
		Comment: rapid.StringN(0, 1000, -1).Draw(r, "comment"),
		By:      "local:" + rapid.StringN(0, 20, 200).Draw(r, "by"), At: time.Unix(rapid.Int64Range(0, 250e9).Draw(r, "at"), 0).UTC(),
	}
	a.Uncompared = rapid.Bool().Draw(r, "uncompared")
	switch a.Choice {
	case gateway.ChooseApprove:
		a.Executes = a.Digest
	case gateway.ChooseEdit:
		a.Executes = hexOf("sha256:", 64, "executes")
	}
	if rapid.Bool().Draw(r, "signed") {
		a.Key = hexOf("", 16, "key")
		a.By = "key:" + a.Key
	}
	return a
}

func TestAssuranceOrder(t *testing.T) {
	order := []gateway.Assurance{"", gateway.NoAssurance, gateway.SimulatedAssurance, gateway.UserAssurance, gateway.SignedAssurance}
	for i, a := range order {
		for j, least := range order {
			if got := a.AtLeast(least); got != (i >= j) {
				t.Errorf("%q.AtLeast(%q) = %v, want %v", a, least, got, i >= j)
			}
		}
		for _, unknown := range []gateway.Assurance{"Signed", "signed ", "root"} {
			if unknown.AtLeast(a) || a.AtLeast(unknown) {
				t.Errorf("%q and %q: one is at least the other; want neither", a, unknown)
			}
		}
	}
}
