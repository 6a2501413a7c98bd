package web

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"patterngate/ijson"
)

func TestEdited(t *testing.T) {
	args := map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "late", "channel": "card"}
	for name, test := range map[string]struct {
		form    url.Values
		want    string // the arguments; "" for a problem
		changed bool
		problem string
	}{
		"nothing sent":      {url.Values{}, `{"amount_usd":1200,"channel":"card","reason":"late","user_id":42}`, false, ""},
		"as shown":          {url.Values{"edit.amount_usd": {"1200"}, "edit.reason": {"late"}, "edit.urgent": {""}, "edit.channel": {`"card"`}}, `{"amount_usd":1200,"channel":"card","reason":"late","user_id":42}`, false, ""},
		"spelled otherwise": {url.Values{"edit.amount_usd": {" 1200.00 "}}, `{"amount_usd":1200,"channel":"card","reason":"late","user_id":42}`, false, ""},
		"less":              {url.Values{"edit.amount_usd": {"800"}}, `{"amount_usd":800,"channel":"card","reason":"late","user_id":42}`, true, ""},
		"a text":            {url.Values{"edit.reason": {"42"}}, `{"amount_usd":1200,"channel":"card","reason":"42","user_id":42}`, true, ""},
		"an empty text":     {url.Values{"edit.reason": {""}}, `{"amount_usd":1200,"channel":"card","reason":"","user_id":42}`, true, ""},
		"a browser's lines": {url.Values{"edit.reason": {"a\r\nb"}}, `{"amount_usd":1200,"channel":"card","reason":"a\nb","user_id":42}`, true, ""},
		"another choice":    {url.Values{"edit.channel": {`"bank"`}}, `{"amount_usd":1200,"channel":"bank","reason":"late","user_id":42}`, true, ""},
		"left out":          {url.Values{"edit.channel": {""}}, `{"amount_usd":1200,"reason":"late","user_id":42}`, true, ""},
		"given":             {url.Values{"edit.urgent": {"true"}}, `{"amount_usd":1200,"channel":"card","reason":"late","urgent":true,"user_id":42}`, true, ""},
		"no number":         {url.Values{"edit.amount_usd": {"a lot"}}, "", true, "amount_usd: got a lot; want a number such as 12.50"},
		"not whole":         {url.Values{"edit.user_id": {"4.2"}}, "", true, "user_id: got 4.2; want a whole number such as 12"},
		"too large":         {url.Values{"edit.user_id": {"9007199254740993"}}, "", true, "user_id: got 9007199254740993; want a whole number such as 12"},
		"a number as text":  {url.Values{"edit.amount_usd": {`"12"`}}, "", true, `amount_usd: got "12"; want a number such as 12.50`},
		"required":          {url.Values{"edit.amount_usd": {" "}}, "", true, "amount_usd: it is required; want a number such as 12.50"},
	} {
		fields, left := fieldsOf(args, schemaOf([]byte(refund)))
		if len(fields) != 5 || len(left) != 0 {
			t.Fatalf("%d fields, %d left; want 5, 0", len(fields), len(left))
		}
		got, changed, problems := edited(args, fields, test.form)
		if changed != test.changed || strings.Join(problems, "; ") != test.problem {
			t.Errorf("%s: changed %v, problems %q; want %v, %q", name, changed, problems, test.changed, test.problem)
		}
		if text := string(ijson.Canonical(got)); test.want != "" && text != test.want {
			t.Errorf("%s: %s, want %s", name, text, test.want)
		}
	}
	if _, changed := args["urgent"]; changed || args["amount_usd"] != 1200.0 {
		t.Errorf("the arguments that were asked about were changed: %v", args)
	}
}

// What is too long for a form, or has a name that a browser would not give back, is shown and not offered.
func TestFieldsLeft(t *testing.T) {
	fields, left := fieldsOf(map[string]any{"note": strings.Repeat("é", 30_000), "a\nb": 1.0, "n": 1.0}, nil)
	if len(fields) != 1 || fields[0].Name != "edit.n" || len(left) != 2 {
		t.Errorf("fields %+v, left %q; want n, and the two others left", fields, left)
	}
}

// Of whatever arguments: a form that comes back as a browser sends what it was shown changes nothing.
func FuzzFormUnchanged(f *testing.F) {
	f.Add(`{"a":"x\ny","b":1,"c":true,"d":{"e":[null]},"f":"\u202e\r","reason":"\n\nlate"}`)
	f.Add(`{"amount_usd":"12","user_id":1e21,"reason":5,"channel":"cash","urgent":"yes"}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ijson.Decode([]byte(text))
		args, ok := v.(map[string]any)
		if err != nil || !ok {
			return
		}
		for _, schema := range []string{refund, `{"type":"object"}`, ""} {
			fields, _ := fieldsOf(args, schemaOf([]byte(schema)))
			form := url.Values{}
			for _, field := range fields {
				form.Set(field.Name, browsed(field.Shown))
			}
			if got, changed, problems := edited(args, fields, form); changed || len(problems) > 0 || !ijson.Equal(got, args) {
				t.Errorf("%s: changed %v, problems %q, %s", text, changed, problems, ijson.Canonical(got))
			}
		}
	})
}

// browsed is a text as a browser gives back a field that held it.
func browsed(text string) string {
	text = html.UnescapeString(html.EscapeString(text))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.ReplaceAll(text, "\n", "\r\n")
}
