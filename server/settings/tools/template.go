package tools

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// checkUsedArguments refuses templates that use an argument that input does not declare.
func checkUsedArguments(r *grammar.Reader, request *yamldoc.Node, path *yamldoc.Path, t *HTTPTool) {
	input, _ := grammar.RawValue(t.Input).(map[string]any)
	known := slices.Sorted(maps.Keys(input))
	for _, part := range []string{"url", "query", "body"} {
		if n := request.Member(part); n != nil {
			checkTemplates(r, n, path.Key(part), known, part == "url")
		}
	}
}

func checkTemplates(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, known []string, here bool) {
	if n.Kind == yamldoc.Text && !(n.Text == "args" || n.Text == "none") {
		used, bad := templateArguments(n.Text)
		if bad != "" && !here { // the url key reports this itself
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: bad, Want: wantPlaceholder})
		}
		for _, name := range used {
			if !slices.Contains(known, name) {
				f := yamldoc.Fault{Reason: noArgument(name), DidYouMean: gateway.NearTyped(name, known), Want: wantDeclared}
				if len(known) > 0 {
					f.Reason += " (" + strings.Join(known, ", ") + ")"
				}
				if f.DidYouMean != "" {
					f.Want = ""
				}
				r.Faults.Add(n.At, path, f)
			}
		}
	}
	for i, item := range n.Items {
		checkTemplates(r, item, path.Item(i), known, false)
	}
	for _, m := range n.Members {
		if !IsReference(m.Value) {
			checkTemplates(r, m.Value, path.Key(m.Key), known, false)
		}
	}
}

// singleArgument matches a template that is one argument and nothing else.
var singleArgument = grammar.Lazily(`^\{[A-Za-z0-9_-]{1,256}\}$`)

// templateArguments returns the arguments of a template in their order. If the template is wrong, bad says why.
func templateArguments(text string) (names []string, bad string) {
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			i++
		case text[i] == '}':
			return names, strayClose
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 || !singleArgument.MatchString(text[i:i+end+1]) {
				return names, strayOpen
			}
			names = append(names, text[i+1:i+end])
			i += end
		}
	}
	return names, ""
}

// faultOfTemplateURL refuses arguments outside path segments and query values.
func faultOfTemplateURL(text string) yamldoc.Fault {
	const want = fixedPart
	if _, bad := templateArguments(text); bad != "" {
		return yamldoc.Fault{Reason: bad, Want: wantPlaceholder}
	}
	head, rest := text, ""
	if scheme := strings.Index(text, "://"); scheme >= 0 {
		if path := strings.IndexAny(text[scheme+3:], "/?#"); path >= 0 {
			head, rest = text[:scheme+3+path], text[scheme+3+path:]
		}
	}
	if names, _ := templateArguments(head); len(names) > 0 {
		return yamldoc.Fault{Reason: inHost(names[0]), Want: want}
	}
	_, query, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if names, _ := templateArguments(name); len(names) > 0 {
			return yamldoc.Fault{Reason: inQueryName(names[0]), Want: want}
		}
	}
	return FaultOfEndpoint(withoutArguments(text))
}

// withoutArguments returns a template as a URL: the braces {{ and }} become escaped single braces, and arguments stay.
func withoutArguments(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			b.WriteString(url.PathEscape(text[i : i+1]))
			i++
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
