package importer

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
)

// The reason why a server did not start hides its secrets in every form in which a server may write them. The new file has
// the reason as a comment, so it has none of them either.
func TestUnstartedHidesEncodedSecrets(t *testing.T) {
	const token, pin, key = "tGk7/Zq19 fPw3+Lm8\"XcRv2", "q7#z", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----\n"
	kept := func(name, now, prefix string) importedVariable {
		return importedVariable{name, importedValue{now: now, prefix: prefix, keep: true}}
	}
	for form, said := range map[string]string{
		"plain":    token,
		"base64":   base64.StdEncoding.EncodeToString([]byte(token)),
		"percent":  url.QueryEscape(token),
		"JSON":     strings.ReplaceAll(token, `"`, `\"`),
		"short":    pin,
		"one line": "MIIEvQIBADANBgkqhkiG9w0B",
	} {
		t.Run(form, func(t *testing.T) {
			s := Server{Name: "crm", command: "crm", env: []importedVariable{kept("CRM_TOKEN", token, ""), kept("CRM_PIN", pin, ""), kept("CRM_KEY", key, "")},
				headers: []importedVariable{kept("Authorization", "Bearer ", "Bearer ")}} // its value is empty
			s.problem = s.unstarted(errors.New(lastWords(errors.New("exit status 3"), "no access with "+said+" here")))
			if want := lastWords(errors.New("exit status 3"), "no access with *** here"); s.problem != want {
				t.Errorf("the reason is %q, want %q", s.problem, want)
			}
			if file := string(importedText("cursor", "patterngate.lock", []Server{s})); strings.Contains(file, said) || !strings.Contains(file, "    # exit status 3; ") {
				t.Errorf("the file is\n%s", file)
			}
		})
	}
}
