package gateway_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patterngate/gateway"
)

const asked = "ap_00112233445566ff"

// attack is a grant and the call that wants to be made by it.
type attack struct {
	gateway.Grant
	sent  gateway.Question // as a permit says it: without run, step, expiry
	now   time.Time
	again bool
}

// answer makes an answer a person's: signed by their key, or a user's where they are nobody.
func answer(choice gateway.Choice, args map[string]any, at time.Time, by *person) (a gateway.Answer, signature string) {
	a = gateway.Answered(asked, refundQuestion(), choice, args)
	a.At, a.By = at, "local:1000"
	if by == nil {
		return a, ""
	}
	a.Key, a.By = by.KeyID(), "key:"+by.KeyID()
	return a, by.Sign(a.Message())
}

// granted is a call that a person approved a minute ago.
func granted(by *person, ring ...gateway.PublicKey) *attack {
	q := refundQuestion()
	g := &attack{sent: gateway.Question{Tool: q.Tool, Schema: q.Schema, Args: refundQuestion().Args, Policy: q.Policy}, now: noon.Add(time.Minute)}
	g.Approval, g.Asked, g.Least, g.Ring = asked, q, gateway.UserAssurance, gateway.NewRing(ring)
	g.Answer, g.Signature = answer(gateway.ChooseApprove, nil, noon, by)
	return g
}

// TestGrantChecks is the table of attacks: each begins with what a person approved, and must be refused.
func TestGrantChecks(t *testing.T) {
	ada, bob := keyPair(t, 0), keyPair(t, 50)
	adas := enrolled(ada, ada, noon.Add(-time.Hour))
	unsigned := func() *attack { return granted(nil) }
	signed := func() *attack { return granted(&ada, adas) }
	edited := func() *attack {
		g := signed()
		less := map[string]any{"user_id": 42.0, "amount_usd": 800.0, "reason": "r"}
		g.Answer, g.Signature = answer(gateway.ChooseEdit, less, noon, &ada)
		g.sent.Args = less
		return g
	}
	resign := func(g *attack) { g.Signature = ada.Sign(g.Answer.Message()) }
	until := refundQuestion().Expires
	const invalid, expired = gateway.ApprovalInvalid, gateway.ApprovalExpired
	tests := map[string]struct {
		from   func() *attack
		attack func(*attack)
		sure   gateway.Assurance
		reason string
	}{
		"approved by the user":        {unsigned, func(*attack) {}, gateway.UserAssurance, ""},
		"approved by a key":           {signed, func(*attack) {}, gateway.SignedAssurance, ""},
		"edited by a key":             {edited, func(*attack) {}, gateway.SignedAssurance, ""},
		"edited by the user":          {edited, func(g *attack) { g.Ring = gateway.Ring{}; unsign(g) }, gateway.UserAssurance, ""},
		"signed, where it must be":    {signed, func(g *attack) { g.Least = gateway.SignedAssurance }, gateway.SignedAssurance, ""},
		"the engine says all":         {signed, func(g *attack) { g.sent = g.Asked }, gateway.SignedAssurance, ""},
		"in the last second":          {signed, func(g *attack) { g.now = until.Add(-time.Nanosecond) }, gateway.SignedAssurance, ""},
		"too late":                    {signed, func(g *attack) { g.now = until }, "", expired},
		"days too late":               {signed, func(g *attack) { g.now = until.AddDate(0, 0, 3) }, "", expired},
		"too late, but begun in time": {signed, func(g *attack) { g.now, g.again = until.AddDate(0, 0, 3), true }, gateway.SignedAssurance, ""},
		"begun, and now another call": {signed, func(g *attack) { g.again, g.sent.Args = true, map[string]any{} }, "", invalid},
		"begun, and its key is gone":  {signed, func(g *attack) { g.again, g.Ring = true, gateway.Ring{} }, "", invalid},
		"begun, unsigned, then a key": {unsigned, func(g *attack) { g.again, g.Ring = true, gateway.NewRing([]gateway.PublicKey{adas}) }, "", invalid},
		"the zero grant":              {signed, func(g *attack) { g.Grant = gateway.Grant{} }, "", invalid},
		"the zero grant, begun":       {signed, func(g *attack) { g.Grant, g.again = gateway.Grant{}, true }, "", invalid},
		"another tool":                {signed, func(g *attack) { g.sent.Tool = "wire_money" }, "", invalid},
		"another schema":              {signed, func(g *attack) { g.sent.Schema = goldenPolicy }, "", invalid},
		"no schema any more":          {signed, func(g *attack) { g.sent.Schema = "" }, "", invalid},
		"another policy":              {signed, func(g *attack) { g.sent.Policy = goldenSchema }, "", invalid},
		"no policy any more":          {signed, func(g *attack) { g.sent.Policy = "" }, "", invalid},
		"another amount":              {signed, func(g *attack) { g.sent.Args["amount_usd"] = 1200.01 }, "", invalid},
		"another type":                {signed, func(g *attack) { g.sent.Args["amount_usd"] = "1200" }, "", invalid},
		"an argument more":            {signed, func(g *attack) { g.sent.Args["currency"] = "EUR" }, "", invalid},
		"an argument less":            {signed, func(g *attack) { delete(g.sent.Args, "reason") }, "", invalid},
		"a space more":                {signed, func(g *attack) { g.sent.Args["reason"] = "späte \aLieferung " }, "", invalid},
		"no arguments":                {signed, func(g *attack) { g.sent.Args = nil }, "", invalid},
		"another run's call":          {signed, func(g *attack) { g.sent.Run = "run_0123456789abcdef" }, "", invalid},
		"another step's call":         {signed, func(g *attack) { g.sent.Step = "issue_refund#2" }, "", invalid},
		"a call that never expires":   {signed, func(g *attack) { g.sent.Expires = until.AddDate(1, 0, 0) }, "", invalid},
		"asked in another run":        {signed, func(g *attack) { g.Asked.Run = "run_0123456789abcdef" }, "", invalid},
		"asked about another step":    {signed, func(g *attack) { g.Asked.Step = "issue_refund#2" }, "", invalid},
		"asked with another expiry":   {signed, func(g *attack) { g.Asked.Expires = until.Add(time.Second) }, "", invalid},
		"asked about another tool":    {signed, func(g *attack) { g.Asked.Tool, g.sent.Tool = "wire_money", "wire_money" }, "", invalid},
		"asked about another amount":  {signed, func(g *attack) { g.Asked.Args["amount_usd"] = 9.0; g.sent.Args = g.Asked.Args }, "", invalid},
		"digest of another question":  {signed, func(g *attack) { g.Answer.Digest = goldenEdited; resign(g) }, "", invalid},
		"approve, executes another":   {signed, func(g *attack) { executes(g, 9000); resign(g) }, "", invalid},
		"approve, executes nothing":   {signed, func(g *attack) { g.Answer.Executes = ""; resign(g) }, "", invalid},
		"edited to one, sent another": {edited, func(g *attack) { g.sent.Args["amount_usd"] = 801.0 }, "", invalid},
		"edited, sent as asked":       {edited, func(g *attack) { g.sent.Args = g.Asked.Args }, "", invalid},
		"edited more after it":        {edited, func(g *attack) { executes(g, 9000) }, "", invalid},
		"rejected":                    {signed, func(g *attack) { choose(g, gateway.ChooseReject, &ada) }, "", invalid},
		"rejected, executes it":       {signed, func(g *attack) { g.Answer.Choice = gateway.ChooseReject; resign(g) }, "", invalid},
		"no choice":                   {signed, func(g *attack) { g.Answer.Choice = ""; resign(g) }, "", invalid},
		"another choice":              {signed, func(g *attack) { g.Answer.Choice = "APPROVE"; resign(g) }, "", invalid},
		"another approval's":          {signed, func(g *attack) { g.Approval = "ap_00112233445566fe" }, "", invalid},
		"of an approval, replayed":    {signed, func(g *attack) { g.Approval, g.Answer.Approval = "ap_00112233445566fe", "ap_00112233445566fe" }, "", invalid},
		"of no approval":              {unsigned, func(g *attack) { g.Approval, g.Answer.Approval = "", "" }, "", invalid},
		"unsigned, where a key is":    {unsigned, func(g *attack) { g.Ring = gateway.NewRing([]gateway.PublicKey{adas}) }, "", invalid},
		"unsigned, where one was": {unsigned, func(g *attack) {
			g.Ring = gateway.NewRing([]gateway.PublicKey{removed(adas, ada, noon.Add(time.Second))})
		}, "", invalid},
		"unsigned, from before the key": {unsigned, func(g *attack) {
			g.Ring = gateway.NewRing([]gateway.PublicKey{enrolled(ada, ada, noon.Add(30*time.Second))})
		}, "", invalid},
		"unsigned, after the last key": {unsigned, func(g *attack) { g.Ring = gateway.NewRing([]gateway.PublicKey{removed(adas, ada, noon)}) }, gateway.UserAssurance, ""},
		"unsigned, backdated": {unsigned, func(g *attack) {
			g.Answer.At = noon.AddDate(-1, 0, 0)
			g.Ring = gateway.NewRing([]gateway.PublicKey{adas})
		}, "", invalid},
		"unsigned, where keys stray":  {unsigned, func(g *attack) { g.Ring = gateway.NewRing([]gateway.PublicKey{{}}) }, "", invalid},
		"signed, where keys stray":    {signed, func(g *attack) { g.Ring = gateway.NewRing([]gateway.PublicKey{adas, {}}) }, gateway.SignedAssurance, ""},
		"its signature was taken off": {signed, func(g *attack) { g.Signature = "" }, "", invalid},
		"its key was taken off":       {signed, func(g *attack) { g.Answer.Key = "" }, "", invalid},
		"both were taken off":         {signed, unsign, "", invalid},
		"unsigned, by says a key":     {unsigned, func(g *attack) { g.Answer.By = "key:" + ada.KeyID() }, "", invalid},
		"unsigned, by a client":       {unsigned, func(g *attack) { g.Answer.By = "token:ci" }, "", invalid},
		"unsigned with a signature":   {unsigned, func(g *attack) { resign(g) }, "", invalid},
		"signature of another answer": {signed, func(g *attack) { g.Signature = edited().Signature }, "", invalid},
		"signature of another key":    {signed, func(g *attack) { g.Signature = bob.Sign(g.Answer.Message()) }, "", invalid},
		"another comment":             {signed, func(g *attack) { g.Answer.Comment = "fine" }, "", invalid},
		"another time":                {signed, func(g *attack) { g.Answer.At = noon.Add(-time.Second) }, "", invalid},
		"by another key of the ring": {signed, func(g *attack) {
			g.Answer.Key, g.Answer.By = bob.KeyID(), "key:"+bob.KeyID()
			ringOf(g, adas, enrolled(bob, ada, noon.Add(-time.Hour)))
		}, "", invalid},
		"by a key that is not there": {signed, func(g *attack) { choose(g, gateway.ChooseApprove, &bob) }, "", invalid},
		"by one not vouched for": {signed, func(g *attack) {
			choose(g, gateway.ChooseApprove, &bob)
			ringOf(g, adas, enrolled(bob, bob, noon.Add(-time.Minute)))
		}, "", invalid},
		"before its key was enrolled": {signed, func(g *attack) { ringOf(g, enrolled(ada, ada, noon.Add(time.Second))) }, "", invalid},
		"when its key was enrolled":   {signed, func(g *attack) { ringOf(g, enrolled(ada, ada, noon)) }, gateway.SignedAssurance, ""},
		"when its key was removed":    {signed, func(g *attack) { ringOf(g, removed(adas, ada, noon)) }, "", invalid},
		"long after that":             {signed, func(g *attack) { ringOf(g, removed(adas, ada, noon.Add(-30*time.Minute))) }, "", invalid},
		"long after that, backdated": {signed, func(g *attack) {
			g.Answer.At = noon.Add(-45 * time.Minute)
			resign(g)
			ringOf(g, removed(adas, ada, noon.Add(-30*time.Minute)))
		}, "", invalid},
		"its key was removed since":   {signed, func(g *attack) { ringOf(g, removed(adas, ada, noon.Add(time.Second))) }, "", invalid},
		"its key is removed tomorrow": {signed, func(g *attack) { ringOf(g, removed(adas, ada, noon.AddDate(0, 0, 1))) }, gateway.SignedAssurance, ""},
		"not sure enough":             {unsigned, func(g *attack) { g.Least = gateway.SignedAssurance }, "", invalid},
		"below what was asked with": {unsigned, func(g *attack) {
			g.Asked.Assurance = gateway.SignedAssurance
			g.Answer.Digest, g.Answer.Executes = g.Asked.Digest(), g.Asked.Digest()
		}, "", invalid},
		"signed, as it was asked with": {signed, func(g *attack) {
			g.Asked.Assurance = gateway.SignedAssurance
			g.Answer.Digest, g.Answer.Executes = g.Asked.Digest(), g.Asked.Digest()
			resign(g)
		}, gateway.SignedAssurance, ""},
		"asked with what nobody has": {signed, func(g *attack) {
			g.Asked.Assurance = "two persons"
			g.Answer.Digest, g.Answer.Executes = g.Asked.Digest(), g.Asked.Digest()
			resign(g)
		}, "", invalid},
		"never sure enough":            {signed, func(g *attack) { g.Least = "two persons" }, "", invalid},
		"answered when it had expired": {signed, func(g *attack) { g.Answer.At = until; resign(g) }, "", invalid},
		"and begun before":             {signed, func(g *attack) { g.Answer.At, g.again = until, true; resign(g) }, "", invalid},
		"at no time":                   {unsigned, func(g *attack) { g.Answer.At = time.Time{} }, "", invalid},
		"a comment that is no text":    {signed, func(g *attack) { g.Answer.Comment = "\xff"; resign(g) }, "", invalid},
		"a comment without end":        {signed, func(g *attack) { g.Answer.Comment = strings.Repeat("x", 1001); resign(g) }, "", invalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := tt.from()
			tt.attack(g)
			want := tt.sure
			if tt.reason != "" {
				want = gateway.NoAssurance
			}
			if sure, reason := g.Check(g.sent, g.now, g.again); sure != want || reason != tt.reason {
				t.Errorf("Check = %q, %q; want %q, %q", sure, reason, want, tt.reason)
			}
		})
	}
}

func unsign(g *attack) {
	g.Answer.Key, g.Answer.By, g.Signature = "", "local:1000", ""
}

func executes(g *attack, amount float64) {
	args := map[string]any{"user_id": 42.0, "amount_usd": amount}
	g.Answer.Executes, g.sent.Args = g.Asked.With(args).Digest(), args
}

func choose(g *attack, choice gateway.Choice, by *person) {
	g.Answer, g.Signature = answer(choice, nil, g.Answer.At, by)
}

func ringOf(g *attack, keys ...gateway.PublicKey) { g.Ring = gateway.NewRing(keys) }

// A rejection is heard as an approval is; what was decided is shown as it counted then.
func TestGrantHears(t *testing.T) {
	ada := keyPair(t, 0)
	adas := enrolled(ada, ada, noon.Add(-time.Hour))
	since := removed(adas, ada, noon.Add(time.Second))
	reject := func(by *person, ring ...gateway.PublicKey) gateway.Grant {
		g := granted(by, ring...)
		choose(g, gateway.ChooseReject, by)
		return g.Grant
	}
	tests := map[string]struct {
		grant  gateway.Grant
		now    time.Time
		sure   gateway.Assurance
		reason string
	}{
		"by the user":                 {reject(nil), noon.Add(time.Minute), gateway.UserAssurance, ""},
		"by a key":                    {reject(&ada, adas), noon.Add(time.Minute), gateway.SignedAssurance, ""},
		"however late it is heard":    {reject(&ada, adas), noon.AddDate(1, 0, 0), gateway.SignedAssurance, ""},
		"unsigned, where a key is":    {reject(nil, adas), noon.Add(time.Minute), gateway.NoAssurance, gateway.ApprovalInvalid},
		"its key was removed since":   {reject(&ada, since), noon.Add(time.Minute), gateway.NoAssurance, gateway.ApprovalInvalid},
		"and how it counted then":     {reject(&ada, since), noon, gateway.SignedAssurance, ""},
		"the zero grant":              {gateway.Grant{}, noon, gateway.NoAssurance, gateway.ApprovalInvalid},
		"an approval is heard by all": {granted(nil).Grant, noon, gateway.UserAssurance, ""},
	}
	for name, tt := range tests {
		if sure, reason := tt.grant.Heard(tt.now); sure != tt.sure || reason != tt.reason {
			t.Errorf("%s: Heard(%v) = %q, %q; want %q, %q", name, tt.now, sure, reason, tt.sure, tt.reason)
		}
	}
}

// Whatever one thing is changed, of the call, the question, the answer or the signature: nothing is let through.
func TestGrantRefusesEveryChange(t *testing.T) {
	ada := keyPair(t, 0)
	adas := enrolled(ada, ada, noon.Add(-time.Hour))
	rapid.Check(t, func(r *rapid.T) {
		g := granted(&ada, adas)
		other := func(what, than string) string {
			return rapid.String().Filter(func(s string) bool { return s != than && strings.ToValidUTF8(s, "\ufffd") == s && s != "" }).Draw(r, what)
		}
		later := time.Duration(rapid.IntRange(1, 1e6).Draw(r, "seconds")) * time.Second
		arg := rapid.SampledFrom([]string{"user_id", "amount_usd", "reason"}).Draw(r, "argument")
		changes := map[string]func(q *gateway.Question){
			"run":     func(q *gateway.Question) { q.Run = other("run", q.Run) },
			"step":    func(q *gateway.Question) { q.Step = other("step", q.Step) },
			"tool":    func(q *gateway.Question) { q.Tool = other("tool", q.Tool) },
			"schema":  func(q *gateway.Question) { q.Schema = other("schema", q.Schema) },
			"policy":  func(q *gateway.Question) { q.Policy = other("policy", q.Policy) },
			"expires": func(q *gateway.Question) { q.Expires = g.Asked.Expires.Add(later) },
			"value": func(q *gateway.Question) {
				q.Args[arg] = rapid.SampledFrom([]any{nil, true, 1.5, "x", []any{}, map[string]any{}}).Draw(r, "value")
			},
			"name": func(q *gateway.Question) { q.Args[other("name", "")+"?"] = q.Args[arg] },
			"gone": func(q *gateway.Question) { delete(q.Args, arg) },
		}
		ofAnswer := map[string]func(a *gateway.Answer){
			"approval": func(a *gateway.Answer) { a.Approval = other("approval", a.Approval) },
			"digest":   func(a *gateway.Answer) { a.Digest = other("digest", a.Digest) },
			"choice":   func(a *gateway.Answer) { a.Choice = gateway.Choice(other("choice", string(a.Choice))) },
			"executes": func(a *gateway.Answer) { a.Executes = other("executes", a.Executes) },
			"comment":  func(a *gateway.Answer) { a.Comment = other("comment", a.Comment) },
			"by":       func(a *gateway.Answer) { a.By = other("by", a.By) },
			"at":       func(a *gateway.Answer) { a.At = a.At.Add(-later) },
			"key":      func(a *gateway.Answer) { a.Key = other("key", a.Key) },
		}
		pick := func(of string, names ...string) string { return rapid.SampledFrom(names).Draw(r, of) }
		question := []string{"run", "step", "tool", "schema", "policy", "expires", "value", "name", "gone"}
		where := pick("where", "sent", "asked", "answer", "signature")
		switch where {
		case "sent":
			changes[pick("change", question...)](&g.sent)
		case "asked":
			changes[pick("change", question...)](&g.Asked)
		case "answer":
			ofAnswer[pick("change", "approval", "digest", "choice", "executes", "comment", "by", "at", "key")](&g.Answer)
		case "signature":
			g.Signature = other("signature", g.Signature)
		}
		again := rapid.Bool().Draw(r, "again")
		if sure, reason := g.Check(g.sent, g.now, again); reason == "" || sure != gateway.NoAssurance {
			r.Fatalf("Check = %q, %q though something of %s was changed: %+v for %+v", sure, reason, where, g.Grant, g.sent)
		}
	})
}
