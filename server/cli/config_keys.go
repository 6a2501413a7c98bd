package cli

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server"
	"patterngate/server/settings/yamldoc"
)

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

// namesKey is a list of names of tools; one that is not known is a warning.
func namesKey(name string, target *[]string, known []string, kind gateway.Kind) configKey {
	return configKey{
		name: name, takes: "a list of names", form: func() map[string]any { return listForm(nameForm) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if names, ok := readKnownNames(r, n, path, known, kind); ok {
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
