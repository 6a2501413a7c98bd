package settings

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// Keys returns all keys of a file (spec/config.md sections 2 to 4 and 7). known are the names that allow lists can hold
// without a warning, by pattern.
func (c *Config) Keys(known map[string][]string) []grammar.Key {
	list := func() []grammar.Key {
		list := make([]grammar.Key, 0, len(c.Patterns))
		for i := range c.Patterns {
			p := &c.Patterns[i]
			list = append(list, grammar.Group(p.Name, p.Keys(known[p.Name])...))
		}
		return list
	}
	return []grammar.Key{
		versionKey().Means("The version of this grammar. Required."),
		grammar.Group("llm",
			grammar.Word("provider", &c.LLM.Provider, providers...).Means("Who proposes what a caller leaves out. auto: openai where there is a key or a base_url, else rules, which need no network."),
			grammar.Text("model", &c.LLM.Model, faultOfModel).Means("The model's name, as its server knows it."),
			grammar.Text("base_url", &c.LLM.BaseURL, faultOfURL).Means("An OpenAI-compatible server, an absolute http or https URL; empty is OpenAI. Without a key a placeholder is sent to it."),
			grammar.Seconds("timeout_seconds", &c.LLM.Timeout, maxModelSeconds).Means("How long one request to the model may take."),
			grammar.Count("max_retries", &c.LLM.MaxRetries, 0, 10).Means("How often a request is made again after 429, 5xx or a broken connection."),
			grammar.Number("temperature", &c.LLM.Temperature, grammar.Bounds{Max: maxTemperature}).Means("How freely the model words its replies; 0: as evenly as it can."),
			grammar.Spelled("role", &c.LLM.Role, grammar.ServerNames).Means("The one of models that answers all questions. Not set: plan for decisions, final for texts."),
			grammar.Word("response_format", &c.LLM.ResponseFormat, responseFormats...).Means("How decisions are asked for. auto: by a JSON schema where the server takes one, else as json_object. Not set: json_object of the built-in patterns, auto of your own."),
			grammar.OptionalCount("repair_turns", &c.LLM.RepairTurns, 0, maxRepairs).Means("How often a model is shown what is wrong with its reply and asked again, counted as any question. Not set: 0 of the built-in patterns, 1 of your own."),
			modelEntries.Key("models", &c.LLM.Models).Means("Models by role. plan makes every decision, final writes every text; other names are yours, and a pattern's llm.role picks one. Absent members come from llm."),
			keyKey("api_key", &c.LLM).Means("Where the key stands; it goes only to the base_url beside it. Never the key itself. Also `"+KeyVariable+"`."),
		),
		grammar.Group("demo", demoKey("enabled", &c.DemoEnabled).Means("Whether the make-believe tools are there. auto: while the file has no catalog and no pattern of its own."),
			grammar.Number("delay_factor", &c.Demo.DelayFactor, grammar.Bounds{Max: 100}).Means("Multiplies the time that the make-believe workers take; 0 is none.")),
		grammar.Group("log",
			grammar.Word("level", &c.Log.Level, "debug", "info", "warn", "error").Means("What is logged on standard error. Not set: info for serve, else warn."),
			grammar.Word("format", &c.Log.Format, "text", "json").Means("How a line of the log is written."),
		),
		grammar.Group("limits",
			grammar.Seconds("grace_seconds", &c.Limits.Grace, 60).Means("What running calls get when the input ends or the program is told to stop."),
			grammar.Count("result_bytes", &c.Limits.ResultBytes, 4096, 1<<20).Means("How large each channel of a result may be; a larger one is cut, observations first."),
			grammar.Count("concurrent_runs", &c.Limits.ConcurrentRuns, 0, maxRuns).Means("How many tool calls may be under way at once, over all transports; one more is refused as busy, and nothing of it runs."),
			grammar.Count("parked_runs", &c.Limits.ParkedRuns, 0, maxRuns).Means("With `state: :memory:`, how many runs of one principal may wait for their caller; for one more the oldest expires."),
		),
		grammar.Group("http", c.HTTP.keys()...),
		grammar.Group("wait", c.Wait.keys()...),
		channelsKey("results", &c.Results).Means("Which channel of a result a client's model reads, by the client's name (clientInfo.name); others read both."),
		stateKey("state", &c.State).Means("Where runs are recorded, so that they outlive the program; empty: `state.db` in the state directory, or `demo.db` while all tools are the demo's. `:memory:`: nowhere."),
		inboxKey("inbox", &c.Inbox).Means("Where people decide about calls in a browser. The page opens with the first call that waits; on this machine only."),
		notifyKey("notify", &c.Notify).Means("How a person is told that a call waits. auto: a notice on the desktop, of fixed words; exec: a program, which reads the event as JSON on its standard input; no shell, 10 s."),
		tools.RedactKey("redact", &c.Redact).Means("Values that records keep only as salted hashes, in every tool; `*` is any member or index."),
		rules.PoliciesKey("policies", &c.Policies).Means("The rules by which calls are judged: data, typed by the tools' schemas and tested at every load. A file replaces a policy whole."),
		tools.CatalogKey("catalog", &c.Catalog).Means("A team's own tools: MCP servers and HTTP services behind the gate. Not set: none."),
		patternsKey("patterns", c, list),
	}
}

const (
	maxTokens = ijson.MaxInteger // more than the 10,000 of other counts: models use more tokens

	maxRuns = 100_000 // at once in a process
)

func versionKey() grammar.Key {
	const reads = 1
	return grammar.Key{
		Name: "version", Numeric: true, Takes: yamldoc.NumberText(reads), Form: func() map[string]any { return map[string]any{"const": float64(reads)} }, Required: "", // its own words say it
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Number || n.Number != reads {
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "another version", Got: n.Shown(), Want: "this program reads 1"})
			}
		},
		Show: func() any { return float64(reads) },
	}
}

// channelsKey returns the key of a mapping of client names to the channel that each client reads. Any client name is
// allowed.
func channelsKey(name string, target *map[string]server.Channel) grammar.Key {
	words := []string{string(server.TextOnly), string(server.StructuredOnly), string(server.BothChannels)}
	takes := "mapping of clients' names to " + yamldoc.Alternatives(words)
	return grammar.Key{
		Name: name, Takes: takes,
		Form: func() map[string]any {
			return map[string]any{"type": "object", "additionalProperties": map[string]any{"enum": append(grammar.TextValues(words), nil)}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Mapping {
				r.Wrong(n, path, "write a "+takes)
				return
			}
			clients := maps.Clone(*target)
			if clients == nil {
				clients = map[string]server.Channel{}
			}
			for _, m := range n.Members {
				below := path.Key(m.Key)
				if ijson.Blank(m.Key) || len(m.Key) > rules.MaxClientName {
					r.Faults.Add(m.At, below, yamldoc.Fault{Reason: "not a client's name", Want: "write 1 to 256 bytes, as in clientInfo.name"})
					continue
				}
				word, ok := server.Channel(""), true
				if m.Value.Kind != yamldoc.Null && m.Value.Kind != yamldoc.Unreadable {
					r.Places[below.String()] = m.Value.At
					var text string
					text, ok = r.Word(m.Value, below, words)
					word = server.Channel(text)
				}
				if ok && word != "" {
					clients[m.Key] = word
				}
			}
			*target = clients
		},
		Show: func() any {
			var keys []grammar.Key
			for _, client := range slices.Sorted(maps.Keys(*target)) {
				word := (*target)[client]
				keys = append(keys, grammar.Word(client, &word))
			}
			return keys
		},
	}
}

// limitKey returns the key of a count. No limit is shown as null.
func limitKey(name string, target *gateway.Limit, most float64) grammar.Key {
	return grammar.Scaled(name, grammar.Bounds{Max: most, Whole: true},
		func() any {
			if !target.Named() {
				return nil
			}
			return float64(*target)
		},
		func(v float64) { *target = gateway.Limit(v) })
}

// namesKey returns the key of a list of tool names. An unknown name is a warning.
func namesKey(name string, target *[]string, known []string, kind gateway.Kind) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "list of names", Form: func() map[string]any { return grammar.ListForm(grammar.NameForm) },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if names, ok := readKnownNames(r, n, path, known, kind); ok {
				*target = names
			}
		},
		Show: func() any { return *target },
	}
}

func faultOfModel(text string) yamldoc.Fault {
	if ijson.Blank(text) {
		return yamldoc.Fault{Reason: "blank", Want: "write a model's name: gpt-4.1-mini"}
	}
	return yamldoc.Fault{}
}

// faultOfURL refuses a URL that is not absolute http or https. It never quotes the text, which can hold a password.
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
