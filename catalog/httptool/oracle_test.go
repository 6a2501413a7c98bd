package httptool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/httptool"
)

// rounds is how many random cases an oracle tries: some each time, more where nobody waits.
func rounds() int {
	if os.Getenv("CI") == "true" {
		return 20_000
	}
	return 2_000
}

func oneOf[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// worded is what an argument is as text in a template.
func worded(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// encoded is text percent-encoded but A-Z a-z 0-9 - . _ ~.
func encoded(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// piece is a part of a template: a text as it is, or an argument.
type piece struct{ text, name string }

// template draws a template and says how it is written down.
func template(r *rand.Rand, literals, names []string) (pieces []piece, as string) {
	for range 1 + r.IntN(3) {
		if r.IntN(2) == 0 {
			p := piece{name: oneOf(r, names)}
			pieces, as = append(pieces, p), as+"{"+p.name+"}"
			continue
		}
		p := piece{text: oneOf(r, literals)}
		pieces, as = append(pieces, p), as+strings.NewReplacer("{", "{{", "}", "}}").Replace(p.text)
	}
	return pieces, as
}

// said is a template with its arguments put in; ok is false where one is absent.
func said(pieces []piece, args map[string]any) (text string, ok bool) {
	for _, p := range pieces {
		if p.name == "" {
			text += p.text
			continue
		}
		v := args[p.name]
		if v == nil {
			return "", false
		}
		text += worded(v)
	}
	return text, true
}

var (
	scalars = []string{"id", "key", "n", "amount", "flag"}
	plain   = []string{"a", "v1", "x-", "_", "~b", "7"}
	rich    = []string{"a", " ", "{", "}", "&b=", "ß", "%20", "no. ", "\"", "+"}
	texts   = []string{"", ".", "..", "a", "a/b", "../x", "%2e", "a b", "ß?#", "{id}", "&=;", "日", "-._~", "\"\\", "a+b"}
)

// argumentsOf draws arguments; those of must are always there.
func argumentsOf(r *rand.Rand, must []string) map[string]any {
	args := map[string]any{}
	for name, v := range map[string]any{
		"id": oneOf(r, texts), "key": oneOf(r, texts), "n": float64(r.IntN(2000) - 1000), "amount": float64(r.IntN(100000)) / 100, "flag": r.IntN(2) == 0,
		"tags": slices.Repeat([]any{oneOf(r, texts), 2.0, "é", true}, 1)[:r.IntN(5)], "who": map[string]any{"a": oneOf(r, texts), "b": []any{nil, 1.0}},
	} {
		if slices.Contains(must, name) || r.IntN(3) > 0 {
			args[name] = v
		}
	}
	return args
}

func namesIn(pieces []piece) (names []string) {
	for _, p := range pieces {
		if p.name != "" {
			names = append(names, p.name)
		}
	}
	return names
}

// What is sent is what the grammar says of URL, query, body and form, and a segment that would be none is refused.
func TestRequestsOracle(t *testing.T) {
	base, requests := recorder(t)
	client := local()
	defer client.Close()
	sent, refused := 0, 0
	for seed := range uint64(rounds()) {
		r := rand.New(rand.NewPCG(seed, 1))
		config := httptool.Config{URL: base, Client: client, Method: oneOf(r, []string{"GET", "POST", "PUT", "DELETE"})}
		var must, used []string
		var segments, pairs [][]piece
		for range 1 + r.IntN(3) {
			p, as := template(r, plain, scalars)
			segments, config.URL = append(segments, p), config.URL+"/"+as
			must = append(must, namesIn(p)...)
		}
		used = append(used, must...)
		for i := range r.IntN(3) {
			p, as := template(r, plain, scalars)
			pairs, config.URL = append(pairs, p), config.URL+string("?&"[min(i, 1)])+"u"+strconv.Itoa(i)+"="+as
			used = append(used, namesIn(p)...)
		}
		type member struct {
			name   string
			pieces []piece
		}
		var query []member
		for i := range r.IntN(3) {
			m := member{name: "q " + strconv.Itoa(i)}
			as := "{tags}"
			if m.pieces = []piece{{name: "tags"}}; r.IntN(3) > 0 {
				m.pieces, as = template(r, rich, scalars)
			}
			query, config.Query = append(query, m), append(config.Query, httptool.Template{Name: m.name, Text: as})
			used = append(used, namesIn(m.pieces)...)
		}
		args := argumentsOf(r, must)

		uri, bad := "", false
		for _, p := range segments {
			text, _ := said(p, args)
			bad = bad || text == "" || text == "." || text == ".."
			uri += "/" + encoded(text)
		}
		var parts []string
		for i, p := range pairs {
			if text, ok := said(p, args); ok {
				parts = append(parts, "u"+strconv.Itoa(i)+"="+encoded(text))
			}
		}
		for _, m := range query {
			if m.pieces[0].name == "tags" {
				list, _ := args["tags"].([]any)
				for _, v := range list {
					parts = append(parts, encoded(m.name)+"="+encoded(worded(v)))
				}
			} else if text, ok := said(m.pieces, args); ok {
				parts = append(parts, encoded(m.name)+"="+encoded(text))
			}
		}
		if len(parts) > 0 {
			uri += "?" + strings.Join(parts, "&")
		}

		var body map[string]any
		if config.Method == "POST" || config.Method == "PUT" {
			body = map[string]any{}
			if config.Form = r.IntN(3) == 0; r.IntN(2) == 0 {
				config.Body.Args = true
				for name, v := range args {
					if !slices.Contains(used, name) && (!config.Form || name != "who") {
						body[name] = v
					}
				}
				if config.Form && !slices.Contains(used, "who") {
					delete(args, "who") // what an object is in a form the grammar does not say
				}
			} else {
				config.Body.Mapping = map[string]any{"lit": oneOf(r, []any{true, 7.0, "x"})}
				body["lit"] = config.Body.Mapping["lit"]
				for _, name := range []string{"id", "n", "flag", "tags"} {
					config.Body.Mapping["w"+name] = "{" + name + "}"
					if v, ok := args[name]; ok {
						body["w"+name] = v
					}
				}
				p, as := template(r, rich, scalars)
				p, as = append(p, piece{text: "!"}), as+"!"
				config.Body.Mapping["t"] = as
				if text, ok := said(p, args); ok {
					body["t"] = text
				}
			}
		}
		tool := build(t, config)
		faults := tool.Check(args)
		if bad != (len(faults) > 0) {
			t.Errorf("seed %d: %s with %v: Check = %v, want a refusal: %v", seed, config.URL, args, faults, bad)
			continue
		}
		if bad {
			refused++
			continue
		}
		if v, err := tool.Do(t.Context(), catalog.Call{Args: args}); err != nil {
			t.Fatalf("seed %d: %v, %v", seed, v, err)
		}
		sent++
		got := <-requests
		if got.URI != uri {
			t.Errorf("seed %d: %s %+v with %v\nsent %s\nwant %s", seed, config.URL, config.Query, args, got.URI, uri)
		}
		if want := bodyText(body, config.Form); !sameBody(got.Body, want, config.Form) {
			t.Errorf("seed %d: %+v form %v with %v\nsent %s\nwant %s", seed, config.Body, config.Form, args, got.Body, want)
		}
	}
	if sent < rounds()/4 || refused < rounds()/50 {
		t.Errorf("%d were sent and %d refused: the draw is lopsided", sent, refused)
	}
}

// bodyText is a body: of a form the sorted pairs, of JSON the object; "" for none.
func bodyText(body map[string]any, form bool) string {
	if body == nil {
		return ""
	}
	if !form {
		text, _ := json.Marshal(body)
		return string(text)
	}
	var parts []string
	for name, v := range body {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, v := range list {
			parts = append(parts, encoded(name)+"="+encoded(worded(v)))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}

func sameBody(got, want string, form bool) bool {
	if form {
		parts := strings.Split(got, "&")
		slices.Sort(parts)
		return strings.Join(parts, "&") == want
	}
	if got == "" || want == "" {
		return got == want
	}
	var a, b any
	return json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

// What a reply says of its call: an observation, that it failed, or that nobody knows; by code, content type and effect.
func TestRepliesOracle(t *testing.T) {
	type reply struct {
		code       int
		kind, text string
	}
	var next reply
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		typed(next.code, next.kind, next.text)(w, r)
	}))
	defer server.Close()
	client := local()
	defer client.Close()
	seenKinds := map[string]int{}
	for seed := range uint64(rounds()) {
		r := rand.New(rand.NewPCG(seed, 2))
		effect := oneOf(r, []catalog.Effect{catalog.Read, catalog.Write, catalog.Destructive})
		config := httptool.Config{URL: server.URL, Client: client, Effect: effect, Method: oneOf(r, []string{"GET", "POST"})}
		config.Repeatable = effect == catalog.Read || r.IntN(2) == 0
		isSuccess := func(code int) bool { return code/100 == 2 }
		if r.IntN(3) == 0 {
			config.Success = []string{"201", "409"}
			isSuccess = func(code int) bool { return code == 201 || code == 409 }
		}
		absent := []int{404, 410}
		if effect == catalog.Read && r.IntN(3) == 0 {
			config.Absent, absent = []string{"422"}, []int{422}
		}
		next = reply{oneOf(r, []int{200, 200, 200, 201, 202, 206, 301, 302, 307, 400, 401, 403, 404, 408, 409, 410, 418, 422, 429, 500, 502, 503, 504}),
			oneOf(r, []string{"application/json", "application/json", "application/hal+json; charset=utf-8", "text/plain", "text/html; charset=utf-8", "image/png", "application/octet-stream"}),
			oneOf(r, []string{`{"a":1}`, `{"a":{"b":[null]}}`, `[1]`, `"x"`, `7`, `null`, `true`, ``, `{`, `plain words`, `{"a":1,"a":2}`})}
		isJSON, isText := strings.Contains(next.kind, "json"), strings.HasPrefix(next.kind, "text/")

		want, value := "", any(nil)
		switch code := next.code; {
		case isSuccess(code):
			var v any
			switch broken := json.Unmarshal([]byte(next.text), &v) != nil || strings.Count(next.text, `"a"`) == 2; {
			case next.text == "":
				want, value = "value", map[string]any{}
			case isText:
				want, value = "value", map[string]any{"text": next.text}
			case !isJSON || broken:
				want = "doubt"
			default:
				want, value = "value", v
				if _, isObject := v.(map[string]any); !isObject {
					value = map[string]any{"value": v}
				}
			}
		case effect == catalog.Read && slices.Contains(absent, code):
			want, value = "told", map[string]any{"error": "not_found", "status": float64(code)}
		case code/100 == 4 && code != 408:
			want = "failed"
		default:
			want = "doubt"
		}

		v, err := build(t, config).Do(t.Context(), catalog.Call{Args: map[string]any{}, Key: "k"})
		got := "value"
		var again bool
		if fault, ok := errors.AsType[*catalog.Fault](err); ok {
			got, again = "failed", fault.Again
			if fault.Kind == catalog.TimedOut || fault.Kind == catalog.NoAnswer || fault.Kind == catalog.Unreadable {
				got = "doubt"
			} else if fault.Kind != catalog.Declined {
				got = fault.Kind.String()
			}
		} else if err != nil {
			got = "failed"
		}
		if told, ok := v.(catalog.Told); ok {
			got, v = "told", told.Value
		}
		seenKinds[got]++
		if got != want || !reflect.DeepEqual(v, value) {
			t.Errorf("seed %d: %s, success %v, absent %v, reply %+v: %s %v (%v), want %s %v", seed, effect, config.Success, config.Absent, next, got, v, err, want, value)
		}
		if mayPass := !isSuccess(next.code) && want != "told" && (next.code == 408 || next.code == 429 || next.code >= 500); mayPass != again {
			t.Errorf("seed %d: %s, reply %+v: again %v, want %v", seed, effect, next, again, mayPass)
		}
	}
	for _, kind := range []string{"value", "told", "failed", "doubt"} {
		if seenKinds[kind] < rounds()/100 {
			t.Errorf("%s was drawn %d times: the draw is lopsided", kind, seenKinds[kind])
		}
	}
}
