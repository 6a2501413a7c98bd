package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"
)

// stylesheet and script stand in every page as they are here; [policy] allows them by their hashes and nothing else.
//
//go:embed html/style.css
var stylesheet string

//go:embed html/live.js
var script string

// policy is the content security policy of every answer: our one stylesheet and our one script, requests and forms to
// where the page came from, and nothing else (CSP Level 3).
func policy() string {
	return strings.Join([]string{
		"default-src 'none'", "style-src " + hashSource(stylesheet), "script-src " + hashSource(script), "connect-src 'self'", "img-src 'none'",
		"form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
	}, "; ")
}

// hashSource allows an inline text by its hash.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style is the stylesheet. It is ours: no data gets into it.
func (frame) Style() template.CSS { return template.CSS(stylesheet) }

// Script is the script. It is ours: no data gets into it.
func (frame) Script() template.JS { return template.JS(script) }
