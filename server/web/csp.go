package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
)

// stylesheet and script are part of every page exactly as they are here. [policy] allows only them, by their hashes.
//
//go:embed html/style.css
var stylesheet string

//go:embed html/live.js
var script string

// policy returns the content security policy of every answer (CSP Level 3). It allows the one stylesheet and the one
// script, and requests and forms to the page's own origin, and nothing else.
func policy() string {
	return strings.Join([]string{
		"default-src 'none'", "style-src " + hashSource(stylesheet), "script-src " + hashSource(script), "connect-src 'self'", "img-src 'none'",
		"form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
	}, "; ")
}

// hashSource returns a source that allows an inline text by its hash.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style returns the stylesheet. It contains no data.
func (frame) Style() template.CSS { return template.CSS(stylesheet) }

// Script returns the script. It contains no data.
func (frame) Script() template.JS { return template.JS(script) }
