package importer

import (
	"math"
	"net/url"
	"regexp"
	"strings"
)

// secretNameWords are the words of spec/config.md section 4. A name that contains one is the name of a secret.
var secretNameWords = []string{"token", "secret", "password", "passwd", "api_key", "apikey", "private_key", "credential"}

// namesSecret reports whether a variable, header, query parameter or flag of that name holds a secret. It ignores the case
// and treats - as _.
func namesSecret(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, w := range secretNameWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return name == "authorization" || name == "cookie" || name == "proxy_authorization"
}

var (
	// knownSecret matches the start of keys of well-known services.
	knownSecret = regexp.MustCompile(`^(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abpr]-|AKIA|AIza|eyJ|hf_|npm_|pypi-)[A-Za-z0-9_.-]{8,}`)
	// oneWord matches a text without blanks that is not a path or an address. keyRun matches what could be a key in it.
	oneWord = regexp.MustCompile(`^[A-Za-z0-9_+=.~-]{20,}$`)
	keyRun  = regexp.MustCompile(`[A-Za-z0-9+]{20,}`)
	uuid    = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// userPart matches a password in an address, anywhere in a text.
	userPart = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]*:[^/\s@]+@`)
	// flagValue matches a flag with its value.
	flagValue = regexp.MustCompile(`^--?([A-Za-z][A-Za-z0-9_.-]*)=(.+)$`)
	// flagName matches a flag without a value.
	flagName = regexp.MustCompile(`^--?([A-Za-z][A-Za-z0-9_.-]*)$`)
	// namedMember matches a parameter of an address or of a list of settings.
	namedMember = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_.-]*)=[^&;\s]+`)
)

// secretEntropy is the entropy in bits per character from which a run of letters and digits counts as a key. Hexadecimal
// keys are above it; numbers and repeated words are below.
const secretEntropy = 3.2

// looksSecret reports whether a text looks like a secret, whatever its name. In doubt it returns true: the value then works
// as before, from a file of its own.
func looksSecret(text string) bool {
	switch {
	case knownSecret.MatchString(text), userPart.MatchString(text), strings.Contains(text, "-----BEGIN "):
		return true
	case strings.HasPrefix(text, "Bearer "), strings.HasPrefix(text, "Basic "):
		return true
	}
	for _, m := range namedMember.FindAllStringSubmatch(text, -1) {
		if namesSecret(m[1]) {
			return true
		}
	}
	if uuid.MatchString(text) {
		return true
	}
	if !oneWord.MatchString(text) {
		return false
	}
	for _, run := range keyRun.FindAllString(text, -1) {
		if strings.ContainsAny(run, "0123456789") && entropyOf(run) >= secretEntropy {
			return true
		}
	}
	return false
}

// entropyOf returns Shannon's entropy in bits per character, from the text's own frequencies.
func entropyOf(text string) float64 {
	counts := map[rune]int{}
	n := 0
	for _, r := range text {
		counts[r]++
		n++
	}
	bits := 0.0
	for _, c := range counts {
		p := float64(c) / float64(n)
		bits -= p * math.Log2(p)
	}
	return bits
}

// PlainURL returns an address without the parts that a configuration must not show: the user part, and query parameters
// that name a secret. without describes what it left out; "" for nothing.
func PlainURL(text string) (address, without string) {
	u, err := url.Parse(text)
	if err != nil {
		return "", urlBroken
	}
	if u.User != nil {
		u.User, without = nil, urlUser
	}
	kept := make([]string, 0, 4)
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		if namesSecret(name) || looksSecret(value) {
			without = urlSecret(name)
			continue
		}
		kept = append(kept, part)
	}
	u.RawQuery = strings.Join(kept, "&")
	return u.String(), without
}
