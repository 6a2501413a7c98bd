package settings_test

import "testing"

// What a document is (spec/config.md section 1).
func TestLoadConfigRefusesDocuments(t *testing.T) {
	testFaults(t, map[string]faultCase{
		"empty file": {
			"",
			"pg.yaml:1:1: version: missing; write version: 1",
		},
		"only comments": {
			"# nothing\n",
			"pg.yaml:1:1: version: missing; write version: 1",
		},
		"no mapping": {
			"- 1\n",
			"pg.yaml:1:1: got a list; write a mapping that begins with version: 1",
		},
		"plain word": {
			"hello\n",
			`pg.yaml:1:1: got "hello"; write a mapping that begins with version: 1`,
		},
		"tab indentation": {
			"version: 1\nllm:\n\tmodel: x\n",
			"pg.yaml:3:1: not valid YAML: found character '\\t' that cannot start any token; check the quotes, brackets and indentation here",
		},
		"open bracket": {
			"version: 1\nllm: {model: x\n",
			"pg.yaml:2:6: not valid YAML: could not find flow mapping end token '}'; check the quotes, brackets and indentation here",
		},
		"open quote": {
			"version: 1\nllm: {model: \"x}\n",
			"pg.yaml:2:14: not valid YAML: could not find end character of double-quoted text; check the quotes, brackets and indentation here",
		},
		"second document": {
			"version: 1\n---\nversion: 1\n",
			"pg.yaml:2:1: a second document; keep one document in each file",
		},
		"second document after end mark": {
			"version: 1\n...\nversion: 1\n",
			"pg.yaml:3:1: a second document; keep one document in each file",
		},
		"empty second document": {
			"version: 1\n---\n",
			"pg.yaml:2:1: a second document; keep one document in each file",
		},
		"directive": {
			"%YAML 1.2\n---\nversion: 1\n",
			"pg.yaml:1:1: a YAML directive; remove the line",
		},
		"tag": {
			"version: !!int 1\n",
			"pg.yaml:1:10: version: the YAML tag !!int; remove the tag",
		},
		"tag of a mapping": {
			"version: 1\nllm: !mine {model: x}\n",
			"pg.yaml:2:6: llm: the YAML tag !mine; remove the tag",
		},
		"repeated key": {
			"version: 1\nllm: {model: x}\nllm: {model: y}\n",
			"pg.yaml:3:1: llm: repeated key, first at line 2",
		},
		"repeated key on one line": {
			"version: 1\nllm: {model: x, model: y}\n",
			"pg.yaml:2:17: llm.model: repeated key, first at line 2, column 7",
		},
		"number as key": {
			"version: 1\n1: x\n",
			`pg.yaml:2:1: a key that is not text; write "1"`,
		},
		"boolean as key": {
			"version: 1\ntrue: x\n",
			`pg.yaml:2:1: a key that is not text; write "true"`,
		},
		"null as key": {
			"version: 1\n~: x\n",
			`pg.yaml:2:1: a key that is not text; write "~"`,
		},
		"odd number as key": {
			"version: 1\nx-a: {010: x}\n",
			`pg.yaml:2:7: x-a: a key that is not text; write "010"`,
		},
		"list as key": {
			"version: 1\nx-a: {[a]: x}\n",
			"pg.yaml:2:10: not valid YAML: found an invalid key for this map; check the quotes, brackets and indentation here",
		},
		"question mark key": {
			"version: 1\n? llm\n: {model: x}\n",
			"pg.yaml:2:1: a key marked with ?; write key: value",
		},
		"key on two lines": {
			"version: 1\nllm\n  x: {}\n",
			"pg.yaml:2:1: not valid YAML: unexpected key name; check the quotes, brackets and indentation here",
		},
		"unknown alias": {
			"version: 1\nx-a: &limits {max_seconds: 1}\nllm: *limit\n",
			"pg.yaml:3:6: llm: no anchor limit above; write &limit before the value that it names; did you mean limits?",
		},
		"alias loop": {
			"version: 1\nx-a: &a [1, *a]\n",
			"pg.yaml:2:13: x-a[1]: the alias a is inside its own anchor; write the value out",
		},
		"alias loop by merge": {
			"version: 1\nx-a: &a {<<: *a}\n",
			"pg.yaml:2:14: x-a.<<: the alias a is inside its own anchor; write the value out",
		},
		"merge of a number": {
			"version: 1\nx-a: {<<: 1}\n",
			"pg.yaml:2:11: x-a.<<: got 1; write an alias of a mapping, or a list of such aliases",
		},
		"merge of a list of numbers": {
			"version: 1\nx-a: {<<: [{a: 1}, 2]}\n",
			"pg.yaml:2:20: x-a.<<: got 2; write an alias of a mapping, or a list of such aliases",
		},
		"two merges": {
			"version: 1\nx-a: {<<: {a: 1}, <<: {b: 2}}\n",
			"pg.yaml:2:19: x-a.<<: repeated key, first at line 2, column 7",
		},
		"an expression without quotes": {
			"version: 1\npolicies: {p: {rules: [{id: a, when: args.kind in [\"a\", \"b\"], approve: {}}]}}\n",
			"pg.yaml:2:51: not valid YAML: ',' or '}' must be specified; write the whole expression in quotes, such as when: 'args.kind in [\"a\", \"b\"]'",
		},
		"an expression in the quotes of its texts": {
			"version: 1\npolicies: {p: {rules: [{id: a, when: \"args.kind == \"a\"\", approve: {}}]}}\n",
			"pg.yaml:2:53: not valid YAML: ',' or '}' must be specified; write the texts in the expression of when with ', because \" ends the expression",
		},
		"text behind a quote": {
			"version: 1\nllm: {model: \"x\" y}\n",
			"pg.yaml:2:18: not valid YAML: ',' or '}' must be specified; check the quotes, brackets and indentation here",
		},
		"unknown escape": {
			"version: 1\nllm: {model: \"\\xZZ\"}\n",
			"pg.yaml:2:14: llm.model: quoted text that cannot be read; write \\\\ for a backslash and \\\" for a quote, and close the quote",
		},
		"tab in plain text": {
			"version: 1\nllm: {model: a\tb}\n",
			"pg.yaml:2:14: llm.model: a tab in unquoted text; write it in quotes",
		},
		"colon in plain text": {
			"version: 1\nllm:\n  model: a\n   b: c\n",
			"pg.yaml:3:10: not valid YAML: mapping value is not allowed in this context; check the quotes, brackets and indentation here",
		},
		"no blank after colon": {
			"version: 1\nllm: {model:x}\n",
			"pg.yaml:2:7: llm.model: no space after the colon; write a space after it, or quote the key",
		},
		"value too far left": {
			"version: 1\nx-a:\n  -\n  b: 1\n",
			"pg.yaml:4:3: x-a[0]: not indented enough for a value; indent it, or write null for the value before it",
		},
		"control character": {
			"version: 1\nllm: {model: \"a\x01b\"}\n",
			"pg.yaml:2:16: the control character U+0001; save it as plain UTF-8 text",
		},
		"lone surrogate in JSON": {
			"{\"version\": 1, \"llm\": {\"model\": \"\\ud800\"}}",
			"pg.yaml:1:33: llm.model: half of a surrogate pair; write both halves, or the character itself",
		},
	})
}

// Numbers that JSON does not spell so are refused with the plain spelling (spec/config.md section 1).
func TestLoadConfigRefusesNumbers(t *testing.T) {
	testFaults(t, map[string]faultCase{
		"leading zero": {
			"version: 1\nllm: {timeout_seconds: 010}\n",
			`pg.yaml:2:24: llm.timeout_seconds: got 010; write 10, or "010" for text`,
		},
		"underscore": {
			"version: 1\nlimits: {result_bytes: 65_536}\n",
			`pg.yaml:2:24: limits.result_bytes: got 65_536; write 65536, or "65_536" for text`,
		},
		"hexadecimal": {
			"version: 1\nlimits: {result_bytes: 0x10000}\n",
			`pg.yaml:2:24: limits.result_bytes: got 0x10000; write 65536, or "0x10000" for text`,
		},
		"octal": {
			"version: 1\nlimits: {grace_seconds: 0o17}\n",
			`pg.yaml:2:25: limits.grace_seconds: got 0o17; write 15, or "0o17" for text`,
		},
		"plus sign": {
			"version: 1\nllm: {max_retries: +1}\n",
			`pg.yaml:2:20: llm.max_retries: got +1; write 1, or "+1" for text`,
		},
		"leading point": {
			"version: 1\ndemo: {delay_factor: .5}\n",
			`pg.yaml:2:22: demo.delay_factor: got .5; write 0.5, or ".5" for text`,
		},
		"trailing point": {
			"version: 1\ndemo: {delay_factor: 1.}\n",
			`pg.yaml:2:22: demo.delay_factor: got 1.; write 1, or "1." for text`,
		},
		"infinity": {
			"version: 1\nllm: {timeout_seconds: .inf}\n",
			`pg.yaml:2:24: llm.timeout_seconds: got .inf; write a number, or ".inf" for text`,
		},
		"not a number": {
			"version: 1\nllm: {timeout_seconds: .nan}\n",
			`pg.yaml:2:24: llm.timeout_seconds: got .nan; write a number, or ".nan" for text`,
		},
		"beyond 2^53-1": {
			"version: 1\nlimits: {result_bytes: 9007199254740993}\n",
			`pg.yaml:2:24: limits.result_bytes: got 9007199254740993; write a whole number up to 9007199254740991, or "9007199254740993" for text`,
		},
		"too large for a double": {
			"version: 1\ndemo: {delay_factor: 1e999}\n",
			`pg.yaml:2:22: demo.delay_factor: got 1e999; write a number below 1.8e308, or "1e999" for text`,
		},
		"odd number in a free place": {
			"version: 1\nx-a: [1_000]\n",
			`pg.yaml:2:7: x-a[0]: got 1_000; write 1000, or "1_000" for text`,
		},
	})
}
