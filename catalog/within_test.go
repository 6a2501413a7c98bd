package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog"
)

const filesSchema = `{"type":"object","properties":{
	"path":{"type":"string","description":"The file."},
	"paths":{"type":"array","items":{"type":"string"}},
	"count":{"type":"integer"}}}`

func TestInsideDirectory(t *testing.T) {
	const dir = "/srv/orders"
	for _, in := range []string{
		"/srv/orders", "/srv/orders/", "/srv/orders/a.json", "/srv//orders/./b/c", "/srv/./orders/a", "//srv/orders/a", "a.json", "./a.json", "b/c", ".", "b/..c", ".hidden",
		"a..b", "50%.txt", "ä/ö.txt", "b/x:y", "a;b/c", "a b/c", "b/$c", "日本/ファイル",
	} {
		if !catalog.InsideDirectory(dir, in) {
			t.Errorf("InsideDirectory(%q, %q) = false, want true", dir, in)
		}
	}
	for _, out := range []string{
		"", "/", "/etc/passwd", "/srv", "/srv/ordersx", "/srv/orders2/a", "/srv/orders/../x", "/srv/orders/..", "/srv/orders/a/../b", "..", "../x", "a/../../x",
		"/srv/orders/%2e%2e/x", "/srv/orders/%2E./x", "%2e%2e%2fx", "%252e%252e/x", "..%2fx", "%c0%ae%c0%ae/x", "%u002e%u002e/x", "a%00b",
		`/srv/orders/..\x`, `\etc`, `..\x`, "/srv/orders/a\x00/../x", "a\n", "/srv/orders/.. /x", "/srv/orders/.../x", "/srv/orders/\uff0e\uff0e/x", "\u2025/x",
		"/srv/orders/..;/x", "..;a=b/x", "/srv/orders/.\u200b./x", "/srv/orders/..\u200b/x", "..\u00ad/x", ".\ufe0f./x", "..\u2028/x", "\ufeff/etc/passwd", "a\u202e/x",
		"/srv/orders/..\uff0fx", "..\uff3cx", "..\u2215x", "..\u2044x", "\ufe52\ufe52/x", "\u3002\u3002/x", "\uff61\uff61/x", " /etc/passwd", "\u00a0/etc/passwd", "a ",
		"$HOME/x", "${HOME}/x",
		"~/x", "~root/x", "file:///etc/passwd", "C:/x", "C:x", "c:/srv/orders/a", "/SRV/orders/a",
	} {
		if catalog.InsideDirectory(dir, out) {
			t.Errorf("InsideDirectory(%q, %q) = true, want false", dir, out)
		}
	}
	if !catalog.InsideDirectory("C:/orders", "C:/orders/a") || catalog.InsideDirectory("C:/orders", "/orders/a") {
		t.Error("a directory on a drive: want its own paths, and no others")
	}
	for _, bad := range []string{"", "/", "//", "C:/", "orders", "./orders", "~/orders", "/srv/../orders", `C:\orders`, "/srv/%2e"} {
		if catalog.InsideDirectory(bad, "a") {
			t.Errorf("InsideDirectory(%q, a) = true: that is no directory that bounds", bad)
		}
	}
}

func TestWithinBoundsCalls(t *testing.T) {
	whole := upstream(t, filesSchema)
	input := boundedBy(t, whole, `{"path":{"within":"/srv/orders/","pattern":"json$"},"paths":{"within":"/srv/orders","optional":true}}`)
	words := "A path inside /srv/orders, absolute or relative to it. The file."
	if got := input.Properties(); got[0].Description != words || got[0].Type != "string" || !strings.HasPrefix(got[1].Description, "A path inside /srv/orders") {
		t.Errorf("shown: %+v, want %q in it", got, words)
	}
	if strings.Contains(string(input.JSON()), `"within"`) {
		t.Errorf("clients are shown a keyword that JSON Schema does not have: %s", input.JSON())
	}
	fixed := catalog.Tool{Input: input.Without("count"), Fixed: map[string]any{"count": 1.0}}
	for name, s := range map[string]*catalog.Schema{"whole": input, "without another": input.Without("count"), "closed": input.Closed(whole), "asked": fixed.Asked()} {
		for text, want := range map[string]string{
			`{"path":"/srv/orders/a.json","paths":["/srv/orders/b","c"],"count":1}`: "",
			`{"path":"/srv/orders/../x.json","count":1}`:                            "/path",
			`{"path":"/srv/orders/a.txt","count":1}`:                                "/path",
			`{"path":"a.json","paths":["b","../c"],"count":1}`:                      "/paths/1",
			`{"path":"a.json","paths":["b",""],"count":1}`:                          "/paths/1",
		} {
			var v map[string]any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			if name == "without another" {
				delete(v, "count")
			}
			got := s.Check(v)
			if want == "" && got != nil || want != "" && (len(got) != 1 || string(got[0].Pointer) != want) {
				t.Errorf("%s: Check(%s) = %v, want a mismatch at %q", name, text, got, want)
			}
		}
	}
	got := input.CheckGiven(map[string]any{"path": "../x.json"})
	if len(got) != 1 || got[0].Want != "a path inside /srv/orders, absolute or relative to it, without .., backslashes and % codes" {
		t.Errorf("CheckGiven = %v, want words that say where the path must lie", got)
	}
}

func TestWithinIsReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		`{"path":{"within":"orders"}}`:                                   "/path/within not a directory that can bound a path",
		`{"path":{"within":"/"}}`:                                        "/path/within not a directory that can bound a path",
		`{"path":{"within":7}}`:                                          "/path/within not a directory that can bound a path",
		`{"path":{"type":"integer","within":"/srv"}}`:                    "/path/within belongs to type string or array, but the type is integer",
		`{"path":{"within":"/srv","default":"/etc/passwd"}}`:             "/path/default the default does not fit its own schema",
		`{"paths":{"items":{"within":"/srv"}}}`:                          "/paths/items/within allowed only in bound, beside the argument's type",
		`{"path":{"within":"/srv","default":"/srv/a"}}`:                  "",
		`{"path":{"pattern":"^/srv/orders/A-[0-9]{4}\\.json$"}}`:         "",
		`{"path":{"pattern":"^/srv/orders/[^.]+$"}}`:                     "",
		`{"path":{"pattern":"^[a-z]+$"}}`:                                "",
		`{"path":{"pattern":"^/srv/orders/"}}`:                           "warning: /path/pattern a path that fits this pattern can leave its directory: /srv/orders/../x fits it",
		`{"path":{"pattern":"^/srv/orders"}}`:                            "warning: /path/pattern a path that fits this pattern can leave its directory: /srv/orders/../x fits it",
		`{"path":{"pattern":"^/srv/orders/.*\\.pdf$"}}`:                  "warning: /path/pattern a path that fits this pattern can leave its directory: /srv/orders/../x fits it",
		`{"source":{"pattern":"^/srv/orders/.+"}}`:                       "warning: /source/pattern a path that fits this pattern can leave its directory: /srv/orders/../x fits it",
		`{"file_name":{"pattern":"^orders/"}}`:                           "warning: /file_name/pattern a path that fits this pattern can leave its directory: orders/../x fits it",
		`{"paths":{"type":"array","items":{"pattern":"^/srv/orders/"}}}`: "warning: /paths/items/pattern a path that fits this pattern can leave its directory: /srv/orders/../x fits it",
	} {
		_, wrong := catalog.CompileBounds(json.RawMessage(text))
		wrong = append(wrong, catalog.EscapingBounds(json.RawMessage(text))...)
		if got := strings.Join(faults(wrong), "\n"); got != want {
			t.Errorf("CompileBounds(%s)\n got %q\nwant %q", text, got, want)
		}
		if i := slices.IndexFunc(wrong, func(f catalog.SchemaFault) bool { return f.Warning }); i >= 0 && !strings.Contains(wrong[i].Want, ": {within: ") {
			t.Errorf("CompileBounds(%s): %q does not name the line to write", text, wrong[i].Want)
		}
	}
	_, _, wrong := catalog.CompileArguments(json.RawMessage(`{"path":{"type":"string","within":"/srv"}}`))
	if len(wrong) != 1 {
		t.Errorf("within in an input of one's own: %v, want a fault", faults(wrong))
	}
	bounds, _ := catalog.CompileBounds(json.RawMessage(`{"count":{"within":"/srv"}}`))
	if _, wrong := upstream(t, filesSchema).Shown().Bounded(bounds); len(wrong) != 1 || wrong[0].Pointer != "/count/within" {
		t.Errorf("within of a number: %v, want a fault", faults(wrong))
	}
}
