package demo_test

import (
	"strings"
	"testing"

	"patterngate/catalog/demo"
	"patterngate/ijson"
)

func TestKeywords(t *testing.T) {
	tests := map[string]struct {
		tool, ticket string
		want         bool
	}{
		"word":                    {"technical_specialist", "the api fails", true},
		"plural":                  {"billing_specialist", "about my refunds", true},
		"plural of an api":        {"technical_specialist", "both APIs", true},
		"upper case":              {"billing_specialist", "INVOICE!", true},
		"inside a word":           {"technical_specialist", "it works rapidly", false},
		"with a digit":            {"technical_specialist", "api2", false},
		"digit before":            {"technical_specialist", "2api", false},
		"with a foreign digit":    {"technical_specialist", "api٢", false},
		"roman numeral is none":   {"technical_specialist", "apiⅣ", true}, // Nl is neither L* nor Nd
		"superscript is none":     {"technical_specialist", "api²", true},
		"underscore parts":        {"sales_specialist", "my_plan_b", true},
		"hyphen parts":            {"technical_specialist", "public-api", true},
		"apostrophe parts":        {"technical_specialist", "the api's answer", true},
		"past tense":              {"billing_specialist", "I was charged", false},
		"two s":                   {"billing_specialist", "refundss", false},
		"es":                      {"sales_specialist", "prices", true},
		"accent in one character": {"sales_specialist", "plán", false},
		"accent beside":           {"sales_specialist", "plan\u0301", true}, // a combining mark is neither letter nor digit
		"letter after":            {"sales_specialist", "planß", false},
		"CJK beside":              {"sales_specialist", "价plan", false},
		"dotted capital I":        {"technical_specialist", "AP\u0130", true}, // its simple lower case is i
		"Kelvin sign":             {"billing_specialist", "\u212aBILLING", false},
		"full width":              {"sales_specialist", "ＰＬＡＮ", false},
		"long s is another":       {"sales_specialist", "plan\u017f", false},
		"control character":       {"sales_specialist", "plan\x00", true},
		"nothing":                 {"sales_specialist", "", false},
		"only s":                  {"sales_specialist", "s", false},
	}
	c := tools(t, demo.Config{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			result := call(t, c, tt.tool, string(ijson.Canonical(map[string]any{"ticket": tt.ticket}))).(map[string]any)
			if got := result["status"] == "done"; got != tt.want {
				t.Errorf("%s(%q) = %v, want its own: %v", tt.tool, tt.ticket, result, tt.want)
			}
		})
	}
}

func TestEveryKeyword(t *testing.T) {
	c := tools(t, demo.Config{})
	for tool, keywords := range map[string]string{
		"billing_specialist":   "refund charge billing invoice",
		"technical_specialist": "error bug incident api latency",
		"sales_specialist":     "price pricing quote plan discount",
	} {
		for keyword := range strings.FieldsSeq(keywords) {
			for _, other := range demo.Specialists {
				result := call(t, c, other, string(ijson.Canonical(map[string]any{"ticket": keyword}))).(map[string]any)
				if got := result["status"] == "done"; got != (other == tool) {
					t.Errorf("%s(%q) = %v", other, keyword, result)
				}
			}
		}
	}
}

func TestUserOfATicket(t *testing.T) {
	const anna, max, nobody = "Anna", "Max", ""
	tests := map[string]struct{ ticket, want string }{
		"plain":                {"user_id=42", anna},
		"in brackets":          {"Max (user_id=7),", max},
		"none":                 {"user 42", nobody},
		"unknown":              {"user_id=70", nobody},
		"unknown before known": {"user_id=70 user_id=42", nobody},
		"the first counts":     {"user_id=7 user_id=42", max},
		"letter before":        {"xuser_id=7 user_id=42", anna},
		"underscore before":    {"_user_id=7 user_id=42", anna},
		"digit before":         {"1user_id=7 user_id=42", anna},
		"accent before":        {"éuser_id=7 user_id=42", anna},
		"hyphen before":        {"-user_id=7 user_id=42", max},
		"letter after":         {"user_id=7a user_id=42", anna},
		"underscore after":     {"user_id=7_ user_id=42", anna},
		"foreign digit after":  {"user_id=7٢ user_id=42", anna},
		"foreign letter after": {"user_id=7价 user_id=42", anna},
		"dot after":            {"user_id=7.5", max},
		"sign":                 {"user_id=-7 user_id=42", anna},
		"blank":                {"user_id= 7", nobody},
		"no digits":            {"user_id=", nobody},
		"foreign digits":       {"user_id=٧", nobody},
		"upper case":           {"USER_ID=7", nobody},
		"leading zeros":        {"user_id=0042", anna},
		"zero":                 {"user_id=0", nobody},
		"very long":            {"user_id=" + strings.Repeat("9", 5000), nobody},
		"joined":               {"user_id=7user_id=42", nobody},
	}
	c := tools(t, demo.Config{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := string(ijson.Canonical(map[string]any{"ticket": "refund: " + tt.ticket}))
			result := call(t, c, "billing_specialist", args).(map[string]any)["result"].(map[string]any)
			user, _ := result["user_name"].(string)
			if user != tt.want || (user == nobody) != (result["error"] == "user_not_found") {
				t.Errorf("billing_specialist(%q) = %v, want user %q", tt.ticket, result, tt.want)
			}
		})
	}
}
