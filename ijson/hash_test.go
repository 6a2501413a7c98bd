package ijson_test

import (
	"strings"
	"testing"

	"patterngate/ijson"
)

const ticket = "User Anna (user_id=42): can I get a refund for my pro_monthly subscription charged 10 days ago?"

// The pairs are those of the contract's worked cases.
func TestArgsHash(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                    "44136fa355b3",
		`{"user_id":42}`:        "feaa769a39ae",
		`{"user_id":42.0}`:      "feaa769a39ae",
		`{"user_id":7}`:         "2820d74979ef",
		`{"manager_id":42}`:     "d828e5a85bdb",
		`{"month":"2026-04"}`:   "4ffe6467591e",
		`{"month":" 2026-04 "}`: "4ffe6467591e",
		`{"region":"US"}`:       "ffdf694df3a2",
		`{"region":"US","report_date":"2026-02-26"}`:         "2c66d7cf0e03",
		`{"report_date":"\t2026-02-26\u2003","region":"US"}`: "2c66d7cf0e03",
		`{"ticket":"a b"}`:            "a499f6692a6b",
		`{"ticket":" a \n b "}`:       "a499f6692a6b",
		`{"ticket":"REFUND PLEASE"}`:  "282575899ae7",
		`{"ticket":"` + ticket + `"}`: "d45381f36eeb",
		`{"ticket":"` + ticket + `","meta":{"tags":[" a  b ",1,2.5,null,true],"é é":{"z":1,"a":"x\ty"}}}`: "c1d2813c17c4",
		`{"user_id":42,"amount_usd":1000,"reason":"Within 14 days"}`:                                      "6ce99a1cc206",
		`{"user_id":42,"amount_usd":1200}`:                                                                "daa438a9eeba",
		`{"user_id":42,"amount_usd":0.333,"reason":"Within 14 days"}`:                                     "51cae4f94341",
		`{"user_id":42,"amount_usd":0.005,"reason":"Within 14 days"}`:                                     "eafd94a501a8",
		`{"user_id":42,"amount_usd":2e-05,"reason":"Within 14 days"}`:                                     "8867f6a319de",
		`{"user_id":42,"amount_usd":1999.9,"reason":"b"}`:                                                 "1a49b164fabb",
		`{"user_id":42,"amount_usd":1000,"message":"Your refund is on its way"}`:                          "d87a98791609",
	} {
		v, err := ijson.Decode([]byte(text))
		if err != nil {
			t.Errorf("Decode(%s): %v", text, err)
			continue
		}
		if got := ijson.ArgsHash(v.(map[string]any)); got != want {
			t.Errorf("ArgsHash(%s) = %s, want %s", text, got, want)
		}
	}
	if got := ijson.ArgsHash(nil); got != "44136fa355b3" {
		t.Errorf("ArgsHash(nil) = %s, want the hash of {}", got)
	}
}

func TestArgsHashLeavesWhatIsNoWhiteSpaceOfAValue(t *testing.T) {
	base := ijson.ArgsHash(map[string]any{"a b": "c d"})
	for name, args := range map[string]map[string]any{
		"a member name":     {"a  b": "c d"},
		"zero width space":  {"a b": "c\u200bd"},
		"case":              {"a b": "C d"},
		"an empty string":   {"a b": ""},
		"a string, no list": {"a b": []any{"c d"}},
	} {
		if got := ijson.ArgsHash(args); got == base {
			t.Errorf("%s: ArgsHash(%v) = %s, the hash of {\"a b\":\"c d\"}", name, args, got)
		}
	}
	long := map[string]any{"a": strings.Repeat("word ", 1000)}
	if got, want := ijson.ArgsHash(long), ijson.ArgsHash(map[string]any{"a": strings.TrimSpace(long["a"].(string))}); got != want {
		t.Errorf("ArgsHash of a long text = %s, of its words %s", got, want)
	}
	if !strings.HasSuffix(long["a"].(string), " ") {
		t.Error("ArgsHash changed its arguments")
	}
}

func TestHash(t *testing.T) {
	const want = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" // of {}, by sha256sum
	if got := ijson.Hash(ijson.Canonical(map[string]any{})); got != want {
		t.Errorf("Hash({}): got %s, want %s", got, want)
	}
}
