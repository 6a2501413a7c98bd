package clientfile

import (
	"strings"
	"testing"
)

// What the golden files cannot show: line ends, byte order marks, texts without a last line end or without a value.
// E stands for the entry's members.
func TestSetupBytes(t *testing.T) {
	entry := Entry{Name: "pg", Command: "/p", Args: []string{"serve"}}
	desktop, codex := JSONServers{Member: "mcpServers"}, TOMLServers{}
	tests := map[string]struct {
		format        Format
		before, after string
	}{
		"empty":                {desktop, "", "{\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"},
		"blanks":               {desktop, " \n", " \n{\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"},
		"mark alone":           {desktop, "\ufeff", "\ufeff{\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"},
		"comment alone":        {desktop, "// mine", "// mine\n{\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"},
		"an empty object":      {desktop, "{}", "{\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}"},
		"an object of comment": {desktop, "{ // none\n}\n", "{ // none\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"},
		"CRLF":                 {desktop, "{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"pg\": {\r\n      \"command\": \"/p\",\r\n      \"args\": [\"serve\"]\r\n    }\r\n  }\r\n}\r\n"},
		"mark and no last end": {desktop, "\ufeff{\n \"mcpServers\": {\n  \"a\": {}\n }\n}", "\ufeff{\n \"mcpServers\": {\n  \"a\": {},\n  \"pg\": {\n   \"command\": \"/p\",\n   \"args\": [\"serve\"]\n  }\n }\n}"},
		"no indentation":       {desktop, "{\n\"mcpServers\": {\n\"a\": {}\n}\n}", "{\n\"mcpServers\": {\n\"a\": {},\n\"pg\": {\n\"command\": \"/p\",\n\"args\": [\"serve\"]\n}\n}\n}"},
		"one line":             {desktop, `{"mcpServers":{"a":{}}}`, `{"mcpServers":{"a":{}, "pg": {"command": "/p", "args": ["serve"]}}}`},
		"one line, no servers": {desktop, `{"a":1}`, `{"a":1, "mcpServers": {"pg": {"command": "/p", "args": ["serve"]}}}`},
		"one line, comma":      {desktop, `{"mcpServers":{"a":{},},}`, `{"mcpServers":{"a":{}, "pg": {"command": "/p", "args": ["serve"]},},}`},
		"one line, a comment":  {desktop, "{\"mcpServers\":{\"a\":{} // c\n}}", "{\"mcpServers\":{\"a\":{}, // c\n\"pg\": {\n  \"command\": \"/p\",\n  \"args\": [\"serve\"]\n}\n}}"},
		"escaped name":         {desktop, `{"mcpServers":{"\u0070g":{"command":"/old","env":{}}}}`, `{"mcpServers":{"\u0070g":{"command":"/p","env":{}, "args": ["serve"]}}}`},
		"no bare value":        {desktop, `{"mcpServers":{"pg":null,"b":1}}`, `{"mcpServers":{"pg":{"command": "/p", "args": ["serve"]},"b":1}}`},
		"an empty entry":       {desktop, "{\n  \"mcpServers\": {\n    \"pg\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    \"pg\": {\n      \"command\": \"/p\",\n      \"args\": [\"serve\"]\n    }\n  }\n}"},
		"as wanted":            {desktop, `{"mcpServers":{"pg":{"args":["serve"],"env":{"A":"b"},"command":"\/p"}}}`, `{"mcpServers":{"pg":{"args":["serve"],"env":{"A":"b"},"command":"\/p"}}}`},
		"stray bytes":          {desktop, "{\"a\":\"\xff\xc3\",\"mcpServers\":{}}", "{\"a\":\"\xff\xc3\",\"mcpServers\":{\"pg\": {\"command\": \"/p\", \"args\": [\"serve\"]}}}"},

		"TOML, empty":          {codex, "", "[mcp_servers.pg]\ncommand = \"/p\"\nargs = [\"serve\"]\n"},
		"TOML, mark":           {codex, "\ufeffa = 1\n", "\ufeffa = 1\n\n[mcp_servers.pg]\ncommand = \"/p\"\nargs = [\"serve\"]\n"},
		"TOML, no last end":    {codex, "a = 1", "a = 1\n\n[mcp_servers.pg]\ncommand = \"/p\"\nargs = [\"serve\"]"},
		"TOML, CRLF":           {codex, "a = 1\r\n", "a = 1\r\n\r\n[mcp_servers.pg]\r\ncommand = \"/p\"\r\nargs = [\"serve\"]\r\n"},
		"TOML, quoted keys":    {codex, "[ 'mcp_servers' . \"pg\" ] # c\nargs=[]", "[ 'mcp_servers' . \"pg\" ] # c\ncommand = \"/p\"\nargs=[\"serve\"]"},
		"TOML, a header alone": {codex, "[mcp_servers.pg]", "[mcp_servers.pg]\ncommand = \"/p\"\nargs = [\"serve\"]"},
		"TOML, as wanted":      {codex, "[mcp_servers]\npg = { args = ['serve'], command = '/p', x = 1 }", "[mcp_servers]\npg = { args = ['serve'], command = '/p', x = 1 }"},
		"TOML, in braces":      {codex, "[mcp_servers]\npg = { args = [], command = 'x', x = 1 }", "[mcp_servers]\npg = { args = [\"serve\"], command = \"/p\", x = 1 }"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.format.Merge([]byte(tt.before), entry)
			if err != nil || string(got) != tt.after {
				t.Fatalf("merge(%q)\n got %q, %v\nwant %q", tt.before, got, err, tt.after)
			}
			checkMerge(t, tt.format, []byte(tt.before), got, entry)
		})
	}
}

// What taking an entry out leaves, where somebody put it among others.
func TestSetupRemove(t *testing.T) {
	json, codex := JSONServers{Member: "servers"}, TOMLServers{}
	tests := map[string]struct {
		format        Format
		before, after string
	}{
		"first of two":            {json, "{\n \"servers\": {\n  \"pg\": {},\n  \"b\": 1\n }\n}", "{\n \"servers\": {\n  \"b\": 1\n }\n}"},
		"first, on one line":      {json, `{"servers":{"pg": {}, "b": 1}}`, `{"servers":{"b": 1}}`},
		"first, with a comment":   {json, "{\"servers\":{\n \"pg\": {}, // ours\n \"b\": 1}}", "{\"servers\":{\n // ours\n \"b\": 1}}"},
		"a comment to the comma":  {json, `{"servers":{"pg": {} /* c */ , "b": 1}}`, `{"servers":{ /* c */  "b": 1}}`},
		"last, a comment above":   {json, "{\"servers\":{\n \"b\": 1,\n // ours\n \"pg\": {}\n}}", "{\"servers\":{\n \"b\": 1\n // ours\n}}"},
		"last, trailing comma":    {json, "{\"servers\":{\n \"b\": 1,\n \"pg\": {},\n}}", "{\"servers\":{\n \"b\": 1,\n}}"},
		"last, comment, comma":    {json, "{\"servers\":{\"b\": 1, \"pg\": {} /* c */ ,}}", "{\"servers\":{\"b\": 1 /* c */ ,}}"},
		"alone":                   {json, "{\"servers\":{\n \"pg\": {},\n}}", `{"servers":{}}`},
		"alone with a comment":    {json, "{\"servers\":{\n // ours\n \"pg\": {}\n}}", "{\"servers\":{\n // ours\n}}"},
		"alone, comment to comma": {json, `{"servers":{"pg": {} /* c */ ,}}`, `{"servers":{ /* c */ }}`},
		"not there":               {json, `{"servers":{"b": 1}}`, `{"servers":{"b": 1}}`},
		"no servers":              {json, `{}`, `{}`},

		"TOML, between":      {codex, "a = 1\n\n[mcp_servers.pg] # ours\ncommand = 'x' # c\n\n[b]\n", "a = 1\n\n[b]\n"},
		"TOML, scattered":    {codex, "[mcp_servers.pg]\ncommand = 'x'\n[b]\n[mcp_servers.pg.env]\nA = 'b'\n[c]\n", "[b]\n[c]\n"},
		"TOML, comment kept": {codex, "[mcp_servers.pg]\n# c\ncommand = 'x'\n", "# c\n"},
		"TOML, in braces":    {codex, "[mcp_servers]\npg = { command = 'x', env = { A = 'b' } }\nb = {}\n", "[mcp_servers]\nb = {}\n"},
		"TOML, not there":    {codex, "[mcp_servers.b]\n", "[mcp_servers.b]\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tt.format.Remove([]byte(tt.before), "pg")
			if err != nil || string(got) != tt.after {
				t.Errorf("remove(%q)\n got %q, %v\nwant %q", tt.before, got, err, tt.after)
			}
			if !onlyEntryDiffers(tt.format, []byte(tt.before), got, "pg") {
				t.Errorf("remove(%q) = %q changes more than the entry", tt.before, got)
			}
		})
	}
}

// Every text that is refused is so with line, column and what would have been right.
func TestSetupTextFaults(t *testing.T) {
	json, codex := JSONServers{Member: "servers"}, TOMLServers{}
	tests := map[string]struct {
		format Format
		text   string
		want   string
	}{
		"a value is missing":   {json, "{\n  \"ä\": }", "F:2:8: not valid JSON: a value must begin here, not '}'; fix it by hand"},
		"the end is missing":   {json, "{\n", "F:2:1: not valid JSON: the text ends too early; fix it by hand"},
		"behind the end":       {json, "{}\n{}", "F:2:1: not valid JSON: the text must end after its first value, but there is '{'; fix it by hand"},
		"a comma too many":     {json, `{"a":[1,,]}`, "F:1:9: not valid JSON: a value must begin here, not ','; fix it by hand"},
		"only a comma":         {json, `{"a":[,]}`, "F:1:7: not valid JSON: a value must begin here, not ','; fix it by hand"},
		"a comma at the end":   {json, `{},`, "F:1:3: not valid JSON: the text must end after its first value, but there is ','; fix it by hand"},
		"a string's end":       {json, `{"a`, "F:1:4: not valid JSON: the text ends too early; fix it by hand"},
		"half a comment":       {json, `{}/`, "F:1:3: not valid JSON: the text must end after its first value, but there is '/'; fix it by hand"},
		"hash comments":        {json, "\ufeff# c\n{}", "F:1:1: not valid JSON: a value must begin here, not '#'; fix it by hand"},
		"no name":              {json, `{"a":1,,}`, "F:1:8: not valid JSON: a name in quotes must begin here, not ','; fix it by hand"},
		"no colon":             {json, `{"a" 1}`, "F:1:6: not valid JSON: a colon must follow the name, not '1'; fix it by hand"},
		"no comma":             {json, `{"a":[1 2]}`, "F:1:9: not valid JSON: a comma or ] must follow the item, not '2'; fix it by hand"},
		"a line in a text":     {json, "{\"a\": \"b\n\"}", "F:1:9: not valid JSON: a text in quotes cannot have '\\n'; fix it by hand"},
		"half a word":          {json, `{"a": tru }`, "F:1:10: not valid JSON: only the word true can be here, not a word with ' '; fix it by hand"},
		"an escape":            {json, `{"a": "\x"}`, "F:1:9: not valid JSON: no such escape in a text in quotes: \\ before 'x'; fix it by hand"},
		"UTF-16":               {json, "\xff\xfe{\x00}\x00", "F:1:1: UTF-16 text; save it as UTF-8"},
		"a list":               {json, ` []`, "F:1:2: the file is an array; it must be an object"},
		"a string":             {json, `"x"`, "F:1:1: the file is a string; it must be an object"},
		"servers are null":     {json, `{"servers": null}`, "F:1:13: servers is null; it must be an object"},
		"servers are a number": {json, `{"servers": -1}`, "F:1:13: servers is a number; it must be an object"},
		"servers are false":    {json, `{"servers": false}`, "F:1:13: servers is a boolean; it must be an object"},
		"a member twice":       {json, `{"servers": {"pg": {"command": 1, "command": 2}}}`, `F:1:35: "command" is here and at 1:21; keep one of them`},
		"deeply nested":        {json, strings.Repeat("[", 1<<20), "F:1:10001: not valid JSON: it is nested too deeply, at '['; fix it by hand"},
		"nested objects":       {json, strings.Repeat(`{"a":`, 1<<20), "F:1:50001: not valid JSON: it is nested too deeply, at '{'; fix it by hand"},

		"TOML, a value":        {codex, "\ufeffä = 1", "F:1:1: invalid character at start of key: U+00C3 'Ã'; fix it by hand"},
		"TOML, UTF-16":         {codex, "\xfe\xff\x00a", "F:1:1: UTF-16 text; save it as UTF-8"},
		"TOML, the end":        {codex, "a = 'é' \nb = [\n", "F:2:6: array is incomplete; fix it by hand"},
		"TOML, deeply nested":  {codex, "a = " + strings.Repeat("[", 1<<20), "F:1:10005: arrays and inline tables are nested more than the maximum of 10000 levels deep; fix it by hand"},
		"TOML, a list":         {codex, "[[mcp_servers]]\n", "F:1:1: mcp_servers is not a table; it must be a table"},
		"TOML, a number":       {codex, "x = 0\nmcp_servers = 1\n", "F:2:1: mcp_servers is not a table; it must be a table"},
		"TOML, no table":       {codex, "[mcp_servers]\npg = 1\n", "F:2:1: pg is not a table; write [mcp_servers.pg]"},
		"TOML, list of tables": {codex, "[[mcp_servers.pg]]\n", "F:1:1: pg is not a table; write [mcp_servers.pg]"},
		"TOML, no key":         {codex, "[mcp_servers]\npg = { command = 'x' }\n", "F:2:1: mcp_servers.pg is written in braces or as a dotted key, which setup does not edit; write it as a table [mcp_servers.pg]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := tt.format.Merge([]byte(tt.text), Entry{Name: "pg", Command: "/p", Args: []string{"serve"}})
			fault, ok := err.(*textFault)
			if !ok {
				t.Fatalf("merge of %.40q is refused by %v, want %s", tt.text, err, tt.want)
			}
			if got := fault.at("F", []byte(tt.text)).String(); got != tt.want {
				t.Errorf("merge of %.40q\n got %s\nwant %s", tt.text, got, tt.want)
			}
			if _, _, err := tt.format.Decode([]byte(tt.text)); err == nil && strings.Contains(tt.want, "mend") {
				t.Errorf("decode of %.40q takes what merge refuses", tt.text)
			}
		})
	}
}

// Windows paths and odd names are spelled so that both formats read them back.
func TestSetupEscapes(t *testing.T) {
	for _, command := range []string{`C:\Users\Änn\new\patterngate.exe`, `\\host\share\p.exe`, `/a "b"/<&>`, "/tab\t/line\n/del\x7f/bell\a/\u2028/😀"} {
		e := Entry{Name: "pg", Command: command, Args: []string{"serve", "--config", command + ".yaml"}}
		for name, f := range map[string]Format{"JSON": JSONServers{Member: "servers"}, "TOML": TOMLServers{}} {
			text := f.Fresh(e)
			if entry, _ := EntryOf(f, text, "pg"); !e.Starts(entry) {
				t.Errorf("%s: %q reads back as %v, want %+v", name, text, entry, e)
			}
		}
	}
}
