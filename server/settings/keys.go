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
		versionKey().Means("The version of this format. Required."),
		grammar.Group("llm",
			grammar.Word("provider", &c.LLM.Provider, providers...).Means("The source of the plan, route or actions that a caller omits. auto: openai if llm, or every role that is asked, has a key or a base_url. Else rules, which need no network."),
			grammar.Text("model", &c.LLM.Model, faultOfModel).Means("The model's name on its server."),
			grammar.Text("base_url", &c.LLM.BaseURL, faultOfURL).Means("An OpenAI-compatible server, an absolute http or https URL. Empty: OpenAI. Without a key Patterngate sends a placeholder."),
			grammar.Seconds("timeout_seconds", &c.LLM.Timeout, maxModelSeconds).Means("How long one request to the model can take."),
			grammar.Count("max_retries", &c.LLM.MaxRetries, 0, 10).Means("How often a request is repeated after 429, 5xx or a broken connection."),
			grammar.Number("temperature", &c.LLM.Temperature, grammar.Bounds{Max: maxTemperature}).Means("How much the model's wording varies. 0: as little as possible."),
			grammar.Spelled("role", &c.LLM.Role, grammar.ServerNames).Means("The entry of models that answers all questions. Not set: plan for decisions, final for texts."),
			grammar.Word("response_format", &c.LLM.ResponseFormat, responseFormats...).Means("How decisions are requested. auto: by a JSON schema if the server takes one, else as json_object. Not set: json_object for the built-in patterns, auto for your own."),
			grammar.OptionalCount("repair_turns", &c.LLM.RepairTurns, 0, maxRepairs).Means("How often a model sees the faults of its reply and is asked again. Each time counts as a question. Not set: 0 for the built-in patterns, 1 for your own."),
			modelEntries.Key("models", &c.LLM.Models).Means("Models by role. plan makes every decision, final writes every text. You can add other names; a pattern's llm.role picks one. Absent members come from llm."),
			keyKey("api_key", &c.LLM).Means(keyMeaning(KeyVariable)),
		),
		grammar.Group("demo", demoKey("enabled", &c.DemoEnabled).Means("Whether the demo tools are available. auto: until the file has a catalog or a pattern of its own."),
			grammar.Number("delay_factor", &c.Demo.DelayFactor, grammar.Bounds{Max: 100}).Means("Multiplies the time that the demo workers take. 0: no delay.")),
		grammar.Group("log",
			grammar.Word("level", &c.Log.Level, "debug", "info", "warn", "error").Means("What is logged on standard error. Not set: info for serve, else warn."),
			grammar.Word("format", &c.Log.Format, "text", "json").Means("The format of a log line."),
		),
		grammar.Group("limits",
			grammar.Seconds("grace_seconds", &c.Limits.Grace, 60).Means("How long running calls have to finish when the input ends or the program is stopped."),
			grammar.Count("result_bytes", &c.Limits.ResultBytes, 4096, 1<<20).Means("The largest size of each channel of a result. A larger one is cut, observations first."),
			grammar.Count("concurrent_runs", &c.Limits.ConcurrentRuns, 0, maxRuns).Means("How many tool calls can run at once, over all transports. One more is refused as busy; nothing of it runs."),
			grammar.Count("parked_runs", &c.Limits.ParkedRuns, 0, maxRuns).Means("With `state: :memory:`, how many runs of one principal can wait for their caller. If there is one more, the oldest expires."),
		),
		grammar.Group("http", c.HTTP.keys()...),
		grammar.Group("wait", c.Wait.keys()...),
		channelsKey("results", &c.Results).Means("Which channel of a result a client's model reads, by the client's name (clientInfo.name). Other clients read both."),
		stateKey("state", &c.State).Means("The state file, in which runs are recorded. Empty: `state.db` in the state directory, or `demo.db` while all tools are the demo's. `:memory:`: runs are not kept."),
		inboxKey("inbox", &c.Inbox).Means("The address of the page on which people decide about calls. It opens with the first call that waits, on this machine only."),
		notifyKey("notify", &c.Notify).Means("How a person learns that a call waits. auto: a notice on the desktop with a fixed text. exec: a program that reads the event as JSON on its standard input; no shell, 10 s."),
		tools.RedactKey("redact", &c.Redact).Means("Values of every tool that records keep only as salted hashes. `*` is any member or index."),
		rules.PoliciesKey("policies", &c.Policies).Means("The policies by which calls are judged. The tools' schemas type them, and their tests run at every load. A file replaces a policy as a whole."),
		tools.CatalogKey("catalog", &c.Catalog).Means("Your own tools: MCP servers and HTTP services. Not set: none."),
		offerKey("offer", &c.Offer).Means("The MCP tools that clients see. Any other tool does not exist for them. Not set: all tools."),
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
				r.Faults.Add(n.At, path, yamldoc.Fault{Reason: otherVersion, Got: n.Shown(), Want: wantVersion})
			}
		},
		Show: func() any { return float64(reads) },
	}
}

// channelsKey returns the key of a mapping of client names to the channel that each client reads. Any client name is
// allowed.
func channelsKey(name string, target *map[string]server.Channel) grammar.Key {
	words := []string{string(server.TextOnly), string(server.StructuredOnly), string(server.BothChannels)}
	takes := mappingOfClients(yamldoc.Alternatives(words))
	return grammar.Key{
		Name: name, Takes: takes,
		Form: func() map[string]any {
			return map[string]any{"type": "object", "additionalProperties": map[string]any{"enum": append(grammar.TextValues(words), nil)}}
		},
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if n.Kind != yamldoc.Mapping {
				r.Wrong(n, path, wantA(takes))
				return
			}
			clients := maps.Clone(*target)
			if clients == nil {
				clients = map[string]server.Channel{}
			}
			for _, m := range n.Members {
				below := path.Key(m.Key)
				if ijson.Blank(m.Key) || len(m.Key) > rules.MaxClientName {
					r.Faults.Add(m.At, below, yamldoc.Fault{Reason: notClient, Want: wantClient})
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
		Name: name, Takes: listOfNames, Form: func() map[string]any { return grammar.ListForm(grammar.NameForm) },
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
		return yamldoc.Fault{Reason: "blank", Want: wantModel}
	}
	return yamldoc.Fault{}
}

// faultOfURL refuses a URL that is not absolute http or https. It never quotes the text, which can hold a password.
func faultOfURL(text string) yamldoc.Fault {
	if text == "" {
		return yamldoc.Fault{}
	}
	base, err := url.Parse(text)
	const want = wantBaseURL
	switch {
	case err != nil || strings.ContainsAny(text, " \t\n"):
		return yamldoc.Fault{Reason: notURL, Want: want}
	case base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "":
		return yamldoc.Fault{Reason: notAbsoluteURL, Want: want}
	case base.User != nil:
		return yamldoc.Fault{Reason: userInURL, Want: wantKeyVariable}
	case base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return yamldoc.Fault{Reason: queryInURL, Want: want}
	}
	return yamldoc.Fault{}
}
