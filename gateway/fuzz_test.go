package gateway_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
)

// FuzzParsers: whatever a model replies, each parser either accepts or refuses it, and what holds of proposals holds
// of it. Nothing depends on the reply's bytes but by way of the value that they spell.
func FuzzParsers(f *testing.F) {
	all := parsers(f)
	for _, p := range all {
		for _, good := range p.good {
			f.Add(good)
		}
	}
	for _, text := range []string{"", "null", "x", "{}", "[{}]", `{"kind":"plan","steps":[{},{},{}]}`, `{"kind":"plan","steps":[{"id":1,"ID":2,"title":"\ud800"}]}`,
		`{"kind":"tool","name":"issue_refund","args":{"user_id":"42","amount_usd":1e22,"amout_usd":[1]}}`,
		`{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1e20}}`, `{"tasks":[{"id":"a","worker":"sales_worker"}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := document.ReadReply(text)
		raw := in.Raw()
		if kept := len(ijson.Canonical(raw)); kept > 16<<10*6+100 {
			t.Fatalf("Raw keeps %d bytes of %d", kept, len(text))
		}
		v, err := ijson.Decode([]byte(text))
		for name, p := range all {
			accepted, refusal := p.parse(in)
			p.check(t, in)
			if err != nil {
				if refusal == nil || refusal.Reason != p.family+":non_json" || len(refusal.Problems) != 1 {
					t.Fatalf("%s takes %q, which is no document", name, text)
				}
				continue
			}
			if want := p.fault(v); refusal == nil && want != "" || refusal != nil && !strings.HasPrefix(p.family+":"+want, refusal.Reason) {
				t.Fatalf("%s(%s) = %v, want %q", name, text, refusal, want)
			}
			again, refusal2 := p.parse(document.ReadReply(spell(v)))
			if diff := cmp.Diff(accepted, again); refusal == nil && diff != "" {
				t.Fatalf("%s: another spelling of %s is parsed to something else:\n%s", name, text, diff)
			}
			if diff := cmp.Diff(reasonless(verdict(refusal)), reasonless(verdict(refusal2))); diff != "" {
				t.Fatalf("%s: another spelling of %s is refused otherwise:\n%s", name, text, diff)
			}
			p.check(t, document.FromCaller(v, "/it"))
		}
	})
}

// reasonless makes refusals of no problems comparable.
func reasonless(lines []string) string { return strings.Join(lines, "\n") }

// FuzzLookupStopReason: what is found fits its row, and nothing else can be put before or after a fixed reason.
func FuzzLookupStopReason(f *testing.F) {
	for _, row := range stopreason.All() {
		f.Add(row.Name)
	}
	for _, text := range []string{"", ":", "invalid_plan:step_1_missing_id", "invalid_plan:step_999999999999999999999_bad_args", "goal_incomplete:a.b", "success:x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		row, ok := stopreason.Lookup(text)
		if !ok {
			if row.Name != "" {
				t.Fatalf("LookupStopReason(%q) found nothing and gave %s", text, row.Name)
			}
			return
		}
		fixed := strings.TrimRight(row.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:")
		if i := strings.Index(row.Name, "_I_"); i >= 0 {
			fixed = row.Name[:i]
		}
		if !strings.HasPrefix(text, fixed) {
			t.Fatalf("LookupStopReason(%q) = %s", text, row.Name)
		}
		if strings.ContainsAny(row.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return
		}
		if text != row.Name {
			t.Fatalf("LookupStopReason(%q) = %s, which has no places to fill", text, row.Name)
		}
	})
}

// FuzzPerform: whatever text a tool returns, what is handed on is bounded and can be written as JSON.
func FuzzPerform(f *testing.F) {
	f.Add("text", 3)
	f.Add("\xff", 1)
	f.Add("\"\x00é", 40000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		if times < 0 || times > 70000 || len(text)*times > 1<<20 {
			return
		}
		long := strings.Repeat(text, times)
		done := permitFor(t, "", returning(map[string]any{"t": long})).Perform(t.Context(), "k")
		if valid := utf8.ValidString(long); valid != (done.State == gateway.DoneOK) {
			t.Fatalf("Perform of %d times %q, valid %v, = %s", times, text, valid, done.State)
		}
		kept, err := ijson.AppendChecked(nil, done.Value)
		if err != nil || len(kept) > 64<<10 {
			t.Fatalf("Perform hands on %d bytes: %v", len(kept), err)
		}
	})
}
