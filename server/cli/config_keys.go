package cli

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server"
	"patterngate/server/settings/yamldoc"
)

// configKey is one key of the file: how its value is read and how it is shown. One list of keys is the grammar, the
// names for suggestions, the effective configuration and the hash.
type configKey struct {
	name    string
	numeric bool   // a variable's text is read as a number
	takes   string // what may stand there, in words
	meaning string // what it is for, in a line; empty for a group
	// read takes a value that is not null; what is wrong with it goes to the reader's faults.
	read func(r *configReader, n *yamldoc.Node, path *yamldoc.Path)
	// show gives the value in force: nil, bool, float64, string, []string, another decoded value or, for a mapping, []configKey.
	show func() any
	// keep gives what a snapshot holds in the place of show, where that would lose an order; nil: show.
	keep func() any
	// ordered: of a mapping, the order of its members says something.
	ordered bool
	// form is the JSON schema of what may stand here; nil for a group.
	form func() map[string]any
	// required says what is missing where the key is absent; "": it may be left out.
	required string
	// below are the keys of a mapping that is not always there, or of each of its entries, whose names the file chooses.
	below   func() []configKey
	entries bool
}

// as says in JSON schema what may stand there.
func (k configKey) as(form map[string]any) configKey {
	k.form = func() map[string]any { return form }
	return k
}

// means says what a key is for, in a line of docs/config.md. Every key but a group has one: TestConfigPage holds it.
func (k configKey) means(line string) configKey {
	k.meaning = line
	return k
}

// keys are all keys of a file (spec/config.md sections 2 to 4 and 7).
func (c *Config) keys(known map[string][]string) []configKey {
	list := func() []configKey {
		list := make([]configKey, 0, len(c.Patterns))
		for i := range c.Patterns {
			p := &c.Patterns[i]
			list = append(list, groupKey(p.Name, p.keys(known[p.Name])...))
		}
		return list
	}
	return []configKey{
		versionKey().means("The version of this grammar. Required."),
		groupKey("llm",
			wordKey("provider", &c.LLM.Provider, "auto", "openai", "rules").means("Who proposes what a caller leaves out. auto: openai where there is a key or a base_url, else rules, which need no network."),
			textKey("model", &c.LLM.Model, faultOfModel).means("The model's name, as its server knows it."),
			textKey("base_url", &c.LLM.BaseURL, faultOfURL).means("An OpenAI-compatible server, an absolute http or https URL; empty is OpenAI. Without a key a placeholder is sent to it."),
			secondsKey("timeout_seconds", &c.LLM.Timeout, 3600).means("How long one request to the model may take."),
			countKey("max_retries", &c.LLM.MaxRetries, 0, 10).means("How often a request is made again after 429, 5xx or a broken connection."),
			numberKey("temperature", &c.LLM.Temperature, bounds{max: maxTemperature}).means("How freely the model words its replies; 0: as evenly as it can."),
			spelledKey("role", &c.LLM.Role, serverNames).means("The one of models that answers all questions. Not set: plan for decisions, final for texts."),
			wordKey("response_format", &c.LLM.ResponseFormat, responseFormats...).means("How decisions are asked for. auto: by a JSON schema where the server takes one, else as json_object. Not set: json_object of the built-in patterns, auto of your own."),
			optionalCountKey("repair_turns", &c.LLM.RepairTurns, 0, maxRepairs).means("How often a model is shown what is wrong with its reply and asked again, counted as any question. Not set: 0 of the built-in patterns, 1 of your own."),
			modelEntries.key("models", &c.LLM.Models).means("Models by role. plan makes every decision, final writes every text; other names are yours, and a pattern's llm.role picks one. Absent members come from llm."),
			keyKey("api_key", &c.LLM).means("Where the key stands; it goes only to the base_url beside it. Never the key itself. Also `"+keyVariable+"`."),
		),
		groupKey("demo", demoKey("enabled", &c.DemoEnabled).means("Whether the make-believe tools are there. auto: while the file has no catalog and no pattern of its own."),
			numberKey("delay_factor", &c.Demo.DelayFactor, bounds{max: 100}).means("Multiplies the time that the make-believe workers take; 0 is none.")),
		groupKey("log",
			wordKey("level", &c.Log.Level, "debug", "info", "warn", "error").means("What is logged on standard error. Not set: info for serve, else warn."),
			wordKey("format", &c.Log.Format, "text", "json").means("How a line of the log is written."),
		),
		groupKey("limits",
			secondsKey("grace_seconds", &c.Limits.Grace, 60).means("What running calls get when the input ends or the program is told to stop."),
			countKey("result_bytes", &c.Limits.ResultBytes, 4096, 1<<20).means("How large each channel of a result may be; a larger one is cut, observations first."),
			countKey("concurrent_runs", &c.Limits.ConcurrentRuns, 0, maxRuns).means("How many tool calls may be under way at once, over all transports; one more is refused as busy, and nothing of it runs."),
			countKey("parked_runs", &c.Limits.ParkedRuns, 0, maxRuns).means("With `state: :memory:`, how many runs of one principal may wait for their caller; for one more the oldest expires."),
		),
		groupKey("http", c.HTTP.keys()...),
		groupKey("wait", c.Wait.keys()...),
		channelsKey("results", &c.Results).means("Which channel of a result a client's model reads, by the client's name (clientInfo.name); others read both."),
		stateKey("state", &c.State).means("Where runs are recorded, so that they outlive the program; empty: `state.db` in the state directory, or `demo.db` while all tools are the demo's. `:memory:`: nowhere."),
		inboxKey("inbox", &c.Inbox).means("Where people decide about calls in a browser. The page opens with the first call that waits; on this machine only."),
		notifyKey("notify", &c.Notify).means("How a person is told that a call waits. auto: a notice on the desktop, of fixed words; exec: a program, which reads the event as JSON on its standard input; no shell, 10 s."),
		redactKey("redact", &c.Redact).means("Values that records keep only as salted hashes, in every tool; `*` is any member or index."),
		policiesKey("policies", &c.Policies).means("The rules by which calls are judged: data, typed by the tools' schemas and tested at every load. A file replaces a policy whole."),
		catalogKey("catalog", &c.Catalog).means("A team's own tools: MCP servers and HTTP services behind the gate. Not set: none."),
		patternsKey("patterns", c, list),
	}
}

const (
	maxCount  = 10_000
	maxTokens = ijson.MaxInteger // tokens are no count of acts: examples have more than 10,000
	maxBudget = 86_400           // seconds
	maxRuns   = 100_000          // of a process at once
)

// groupKey is a mapping of keys. A key that is null is as if absent.
func groupKey(name string, keys ...configKey) configKey { return mappingKey(name, unknownKey, keys) }

// mappingKey is a groupKey with words of its own for a key that it does not know.
func mappingKey(name string, unknown func(key string, known []string) yamldoc.Fault, keys []configKey) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) { r.group(n, path, keys, unknown) },
		show: func() any { return keys },
	}
}

func versionKey() configKey {
	const reads = 1
	return configKey{
		name: "version", numeric: true, takes: yamldoc.NumberText(reads), form: func() map[string]any { return map[string]any{"const": float64(reads)} }, required: "", // its own words say it
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Number || n.Number != reads {
				r.faults.Add(n.At, path, yamldoc.Fault{Reason: "another version", Got: n.Shown(), Want: "this program reads 1"})
			}
		},
		show: func() any { return float64(reads) },
	}
}

// fixedKey may be given, and only as it is.
func fixedKey(name, value string) configKey {
	return configKey{
		name: name, takes: value, form: func() map[string]any { return map[string]any{"const": value} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text || n.Text != value {
				r.faults.Add(n.At, path, yamldoc.Fault{Reason: "cannot be changed", Got: n.Shown(), Want: "write " + value + " or leave it out"})
			}
		},
		show: func() any { return value },
	}
}

// wordKey is one of some words. Its zero value stands for "not said" and is shown as null.
func wordKey[T ~string](name string, target *T, words ...T) configKey {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return configKey{
		name: name, takes: yamldoc.Alternatives(names), form: func() map[string]any { return map[string]any{"enum": textValues(names)} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if word, ok := r.word(n, path, names); ok {
				*target = T(word)
			}
		},
		show: func() any {
			if *target == "" {
				return nil
			}
			return string(*target)
		},
	}
}

// channelsKey is a mapping of clients' names, which are free, to the channel that each reads.
func channelsKey(name string, target *map[string]server.Channel) configKey {
	return configKey{
		name: name, takes: "a mapping of clients' names to text, structured or both",
		form: func() map[string]any {
			return map[string]any{"type": "object", "additionalProperties": map[string]any{"enum": []any{"text", "structured", "both", nil}}}
		},
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Mapping {
				r.wrong(n, path, "write a mapping of clients' names to text, structured or both")
				return
			}
			clients := maps.Clone(*target)
			if clients == nil {
				clients = map[string]server.Channel{}
			}
			for _, m := range n.Members {
				below := path.Key(m.Key)
				if ijson.Blank(m.Key) || len(m.Key) > maxClientName {
					r.faults.Add(m.At, below, yamldoc.Fault{Reason: "not a client's name", Want: "write 1 to 256 bytes, as in clientInfo.name"})
					continue
				}
				word, ok := server.Channel(""), true
				if m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable {
					r.places[below.String()] = m.Value.At
					var text string
					text, ok = r.word(m.Value, below, []string{string(server.TextOnly), string(server.StructuredOnly), string(server.BothChannels)})
					word = server.Channel(text)
				}
				if ok && word != "" {
					clients[m.Key] = word
				}
			}
			*target = clients
		},
		show: func() any {
			var keys []configKey
			for _, client := range slices.Sorted(maps.Keys(*target)) {
				word := (*target)[client]
				keys = append(keys, wordKey(client, &word))
			}
			return keys
		},
	}
}

// maxClientName is how long a client's name may be, in bytes.
const maxClientName = 256

// textKey is any text that check has nothing against. The fault that check returns never repeats the text.
func textKey(name string, target *string, check func(string) yamldoc.Fault) configKey {
	return configKey{
		name: name, takes: "text", form: func() map[string]any { return textForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Text {
				r.wrong(n, path, "write text in quotes")
				return
			}
			if f := check(n.Text); f.Reason != "" {
				r.faults.Add(n.At, path, f)
				return
			}
			*target = n.Text
		},
		show: func() any { return *target },
	}
}

func boolKey(name string, target *bool) configKey {
	return configKey{
		name: name, takes: "true or false", form: func() map[string]any { return map[string]any{"type": "boolean"} },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Bool {
				r.wrong(n, path, boolWords(n))
				return
			}
			*target = n.Flag
		},
		show: func() any { return *target },
	}
}

// numberKey is a number within bounds.
func numberKey(name string, target *float64, b bounds) configKey {
	return scaledKey(name, b, func() any { return *target }, func(v float64) { *target = v })
}

func usdKey(name string, target *float64) configKey {
	return numberKey(name, target, bounds{max: math.Inf(1), noun: "an amount in USD"})
}

func secondsKey(name string, target *time.Duration, most float64) configKey {
	return scaledKey(name, bounds{max: most, noun: "a number of seconds", seconds: true},
		func() any { return float64(*target) / float64(time.Second) },
		func(v float64) { *target = time.Duration(math.Round(v * float64(time.Second))) })
}

func countKey(name string, target *int, least, most float64) configKey {
	return scaledKey(name, bounds{min: least, max: most, whole: true},
		func() any { return float64(*target) }, func(v float64) { *target = int(v) })
}

// limitKey is a count that may be without limit, which is shown as null.
func limitKey(name string, target *gateway.Limit, most float64) configKey {
	return scaledKey(name, bounds{max: most, whole: true},
		func() any {
			if !target.Named() {
				return nil
			}
			return float64(*target)
		},
		func(v float64) { *target = gateway.Limit(v) })
}

// scaledKey is a number that is kept otherwise than it is written.
func scaledKey(name string, b bounds, show func() any, set func(float64)) configKey {
	return configKey{
		name: name, numeric: true, takes: b.span(), form: func() map[string]any { return b.form() },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			now, _ := show().(float64)
			if v, ok := r.number(n, path, b, now); ok {
				set(v)
			}
		},
		show: show,
	}
}

// namesKey is a list of names of tools; one that is not known is a warning.
func namesKey(name string, target *[]string, known []string, kind gateway.Kind) configKey {
	return configKey{
		name: name, takes: "a list of names", form: func() map[string]any { return listForm(nameForm) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if names, ok := r.names(n, path, known, kind); ok {
				*target = names
			}
		},
		show: func() any { return *target },
	}
}

func faultOfModel(text string) yamldoc.Fault {
	if ijson.Blank(text) {
		return yamldoc.Fault{Reason: "blank", Want: "write a model's name: gpt-4.1-mini"}
	}
	return yamldoc.Fault{}
}

// faultOfURL keeps to absolute http and https. It never quotes the text, which may hold a password.
func faultOfURL(text string) yamldoc.Fault {
	if text == "" {
		return yamldoc.Fault{}
	}
	base, err := url.Parse(text)
	const want = "write an absolute URL: https://host/v1"
	switch {
	case err != nil || strings.ContainsAny(text, " \t\n"):
		return yamldoc.Fault{Reason: "not a URL", Want: want}
	case base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "":
		return yamldoc.Fault{Reason: "not an absolute http or https URL", Want: want}
	case base.User != nil:
		return yamldoc.Fault{Reason: "a user or password in a URL", Want: "write it without; the key comes from OPENAI_API_KEY"}
	case base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return yamldoc.Fault{Reason: "a query or fragment in the base URL", Want: want}
	}
	return yamldoc.Fault{}
}
