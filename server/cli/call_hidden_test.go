package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// mainOf runs the program with a home of its own and returns exit code, standard output and standard error.
func mainOf(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	ownHome(t)
	var out, errs bytes.Buffer
	code := Main(args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// A person at this machine learns why a call failed. The result, which clients also get, does not say it, and no line shows a
// secret.
func TestCauseOfAFailedCall(t *testing.T) {
	const secret = "a-secret-of-the-service"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret || r.URL.Path == "/closed" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"guest":"Ann"}`))
	}))
	t.Cleanup(server.Close)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	file := filepath.Join(t.TempDir(), "pg.yaml")
	tool := func(name, url, more string) string {
		return "    " + name + ":\n      description: Looks.\n      effect: read\n" + more +
			"      request: {method: GET, url: \"" + url + "\", headers: {Authorization: {secret: \"env:PG_CAUSE_TOKEN\", prefix: \"Bearer \"}}}\n"
	}
	text := "version: 1\ncatalog:\n  allow_networks: [127.0.0.0/8]\n  expose: [closed, guest, gone]\n  http:\n" +
		tool("closed", server.URL+"/closed", "") + tool("guest", server.URL+"/guest", "      output: {guest: response.body.gest}\n") +
		tool("gone", dead.URL+"/", "") + tool("unseen", server.URL+"/guest", "")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PG_CAUSE_TOKEN", secret)
	for name, tt := range map[string]struct {
		words []string
		cause string
	}{
		"a refused caller": {[]string{"call", "closed"}, "401 Unauthorized (check the secret of Authorization)\n"},
		"an expression":    {[]string{"call", "guest"}, "catalog.http.guest.output.guest: the expression has no value: no such key: gest\n"},
		"a closed port":    {[]string{"call", "gone"}, "refused"},
		"a test":           {[]string{"catalog", "test", "closed"}, "401 Unauthorized (check the secret of Authorization)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := mainOf(t, append(tt.words, "--config", file, "--state", ":memory:")...)
			_, cause, told := strings.Cut("\n"+errs, "\ncause: ")
			if code == console.ExitDone || !told || !strings.Contains(cause, tt.cause) {
				t.Errorf("ends with %d and says no cause %q:\n%s", code, tt.cause, errs)
			}
			if strings.Contains(out, strings.TrimSpace(tt.cause)) || strings.Contains(out+errs, secret) {
				t.Errorf("the result has the cause, or something has the secret:\n%s%s", out, errs)
			}
		})
	}
}

// A tool that the configuration has and the server does not list is not unknown: the error says why, and where to change it.
func TestCallOfAToolThatIsNotListed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pg.yaml")
	const text = "version: 1\ncatalog:\n  expose: [seen]\n  http:\n" +
		"    seen: {description: Looks., effect: read, request: {method: GET, url: \"https://example.com/a\"}}\n" +
		"    unseen: {description: Looks., effect: read, request: {method: GET, url: \"https://example.com/b\"}}\n" +
		"    off: {enabled: false, description: Looks., effect: read, request: {method: GET, url: \"https://example.com/c\"}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"unseen":                 "call: unseen is in the configuration, but not in catalog.expose\ntry: add it to catalog.expose in " + file + ":3\n",
		"off":                    "call: no tool off (",
		"unsen":                  "call: no tool unsen (",
		"run_task_decomposition": "call: run_task_decomposition is part of the demo, which is off\ntry: demo: {enabled: true} in " + file,
	} {
		if code, _, errs := mainOf(t, "call", name, "--config", file, "--state", ":memory:"); code != console.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("call %s ends with %d; want %q:\n%s", name, code, want, errs)
		}
	}
}

// A tool that the key offer leaves out is not unknown either.
func TestCallOfAToolThatOfferLeavesOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pg.yaml")
	const text = "version: 1\noffer: [seen, run_status, run_wait]\ncatalog:\n  expose: [seen, other]\n  http:\n" +
		"    seen: {description: Looks., effect: read, request: {method: GET, url: \"https://example.com/a\"}}\n" +
		"    other: {description: Looks., effect: read, request: {method: GET, url: \"https://example.com/b\"}}\n" +
		"    unseen: {description: Looks., effect: read, request: {method: GET, url: \"https://example.com/c\"}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"other":     "call: other is in the configuration, but offer leaves it out\ntry: add it to offer in " + file + ":2\n",
		"list_runs": "call: list_runs is in the configuration, but offer leaves it out\n",
		"unseen":    "call: unseen is in the configuration, but not in catalog.expose\n",
		"nothing":   "call: no tool nothing (",
	} {
		if code, _, errs := mainOf(t, "call", name, "--config", file, "--state", ":memory:"); code != console.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("call %s ends with %d; want %q:\n%s", name, code, want, errs)
		}
	}
}
