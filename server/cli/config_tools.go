package cli

import (
	"encoding/json"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/server/settings/yamldoc"
)

const (
	maxTitle       = 100 // characters
	maxDescription = 500
	maxPhraseRunes = 200
	maxObservation = 65_536 // bytes
	maxSettle      = 86_400 // seconds
)

// takenNames have a meaning of their own in plans, routes and actions.
var takenNames = []string{"final", "model", "caller"}

func newTool(name string, at Position) ToolConfig {
	return ToolConfig{
		Name: name, At: at, Enabled: true, MaxResult: maxObservation,
		Retry: catalog.Retry{Delay: 200 * time.Millisecond, MaxDelay: 5 * time.Second},
	}
}

// keys are the members that servers' and http tools have in common (spec/config.md section 4, Tool members).
func (t *ToolConfig) keys() []configKey {
	return []configKey{
		boolKey("enabled", &t.Enabled).means("false: as if it were not declared."),
		wordKey("effect", &t.Effect, catalog.Read, catalog.Write, catalog.Destructive).need("read, write or destructive?").
			means("What a call can change; yours to say, and never taken from a server's hint. Required."),
		boolKey("idempotent", &t.Idempotent).means("true: the same key twice acts once, so a write whose outcome is lost is made again. Not set: only for read."),
		shortKey("title", &t.Title, maxTitle).means("What people read. Not set: the server's."),
		shortKey("description", &t.Description, maxDescription).means("What the model reads. Not set: the server's."),
		shortKey("phrase", &t.Phrase, maxPhraseRunes).means("What people read while a call waits, {argument} standing for a number, a boolean, an enumerated text or one with a pattern."),
		countKey("max_result_bytes", &t.MaxResult, 1, maxObservation).means("How much of an observation is kept for record, model and reader."),
		groupKey("retry",
			countKey("max_retries", &t.Retry.Max, 0, 5).means("How often a call is made again that was refused a connection, or, of a read or idempotent tool, that failed for now."),
			secondsKey("delay_seconds", &t.Retry.Delay, maxServerWait).means("The pause before the first retry; each is twice the one before."),
			secondsKey("max_delay_seconds", &t.Retry.MaxDelay, maxServerWait).means("The longest pause."),
		),
		rateKey("rate", &t.Rate).means("How often it is called: so many calls in so many seconds, burst at once (not set: calls). Not set: no limit."),
		expressionKey("once", &t.Once).means("CEL over args: the business key of a call. The same key acts once over all runs of the state file."),
		reconcileKey("reconcile", &t.Reconcile).means("How a call in doubt is settled: by a tool of effect read."),
		policyKey("policy", &t.Policy).means("The policy that judges this tool in every pattern; where the pattern names another, both do and each must approve. Not set: none."),
		toolRedactKey("redact", &t.Redact).means("Values that records keep only as salted hashes, of this tool."),
	}
}

// rateKey is how often a tool may be called; there only where the file has it.
func rateKey(name string, target *RateConfig) configKey {
	keys := func(c *RateConfig) []configKey {
		return []configKey{
			countKey("calls", &c.Calls, 1, maxCount).need("write how many calls"),
			scaledKey("per_seconds", bounds{max: maxBudget, noun: "a number of seconds", seconds: true, above: true},
				func() any { return c.Per.Seconds() },
				func(v float64) { c.Per = time.Duration(v * float64(time.Second)) }).need("write in how many seconds"),
			countKey("burst", &c.Burst, 1, maxCount),
		}
	}
	return configKey{
		name: name, takes: "{calls, per_seconds, burst}",
		form: func() map[string]any {
			return objectForm(map[string]any{
				"calls": bounds{min: 1, max: maxCount, whole: true}.form(), "per_seconds": bounds{max: maxBudget, above: true}.form(),
				"burst": orNull(bounds{min: 1, max: maxCount, whole: true}.form()),
			}, "calls", "per_seconds")
		},
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			var c RateConfig
			r.group(n, path, keys(&c), unknownKey)
			if c.Burst == 0 {
				c.Burst = c.Calls
			}
			*target = c
		},
		show: func() any {
			if *target == (RateConfig{}) {
				return nil
			}
			return keys(target)
		},
	}
}

// reconcileKey is spec/config.md section 6.
func reconcileKey(name string, target **ReconcileConfig) configKey {
	return heldKey(name, target, func() ReconcileConfig { return ReconcileConfig{Settle: time.Minute} }, func(c *ReconcileConfig) []configKey {
		return []configKey{
			oneToolKey("tool", &c.Tool).need("write the tool that finds it out").means("The tool that is asked; of effect read."),
			expressionsKey("args", &c.Args, argumentNames).means("Its arguments: CEL over effect {key, run_id, tool, args, at}."),
			expressionKey("happened", &c.Happened).need(`write CEL over effect and result: 'result.status == "paid"'`).means("CEL over effect and result: whether the call happened."),
			expressionsKey("output", &c.Output, argumentNames).means("The call's own result, member by member. Not set: result."),
			secondsKey("settle_seconds", &c.Settle, maxSettle).means("How long after sending a no is not final."),
		}
	})
}

var serverToolEntries = entries[ServerToolConfig]{
	names: upstreamNames,
	named: func(t *ServerToolConfig) string { return t.Upstream },
	fresh: func(name string, at Position) ServerToolConfig {
		return ServerToolConfig{ToolConfig: newTool("", at), Upstream: name, Timeout: -1}
	},
	keys:   (*ServerToolConfig).keys,
	off:    func(t *ServerToolConfig) bool { return !t.Enabled },
	finish: finishServerTool,
}

func (t *ServerToolConfig) keys() []configKey {
	timeout := secondsKey("timeout_seconds", &t.Timeout, maxServerWait)
	seconds := timeout.show
	timeout.numeric = false // not set is no limit that is missing
	timeout.show = func() any {
		if t.Timeout < 0 {
			return nil
		}
		return seconds()
	}
	return append(t.ToolConfig.keys(),
		oneToolKey("as", &t.Name).means("Its name here. Not set: the server's."),
		timeout.means("How long a call may take. Not set: the server's."),
		fixKey("fix", &t.Fix).means("Arguments that are set here, a value or {secret}, and that nobody who proposes sees."),
		rawKey("bound", "a mapping of arguments to JSON schemas", &t.Bound, checkBounds).means("Narrower schemas of arguments: a call must fit the server's and these, and these are shown. `within: DIR` keeps a path, or each path of a list, inside a directory."),
	)
}

// finishServerTool gives a tool its name and what follows from its effect.
func finishServerTool(r *configReader, n *yamldoc.Node, path *yamldoc.Path, t *ServerToolConfig) {
	if t.Name == "" {
		t.Name = t.Upstream
		if !toolName.MatchString(t.Name) {
			r.faults.Add(n.At, path, yamldoc.Fault{Reason: "not a name that models can use", Want: "give it one of 1 to 64 letters, digits, _ and -: as: NAME"})
		}
	}
	finishTool(r, n, path, &t.ToolConfig)
}

// finishTool is what a tool's members mean together.
func finishTool(r *configReader, n *yamldoc.Node, path *yamldoc.Path, t *ToolConfig) {
	if said := n.Member("idempotent"); t.Effect == catalog.Read && said != nil && said.Kind == yamldoc.Bool && !said.Flag {
		r.faults.Warn(said.At, path.Key("idempotent"), yamldoc.Fault{Reason: "a read is always idempotent", Want: "leave it out"})
	}
	t.Idempotent = t.Idempotent || t.Effect == catalog.Read
	if t.Retry.MaxDelay < t.Retry.Delay {
		retry := n.Member("retry")
		if retry == nil {
			retry = n
		}
		r.faults.Add(retry.At, path.Key("retry"), yamldoc.Fault{Reason: "delay_seconds is more than max_delay_seconds", Want: "raise max_delay_seconds"})
	}
	if c := t.Reconcile; c != nil && t.Effect == catalog.Read && t.Enabled {
		r.faults.Warn(n.Member("reconcile").At, path.Key("reconcile"), yamldoc.Fault{Reason: "a read is never in doubt", Want: "leave it out"})
	}
}

// fixKey are arguments that the configuration sets.
func fixKey(name string, target *[]FixValue) configKey {
	return configKey{
		name: name, takes: "a mapping of arguments to values, or `{secret}`", form: func() map[string]any { return blockForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []FixValue{}
			eachArgument(r, n, path, func(m yamldoc.Member, below *yamldoc.Path) {
				v := FixValue{Name: m.Key}
				if isReference(m.Value) {
					v.Secret, _, _ = readReference(r, m.Value, below, false)
				} else {
					refuseLiteralArgument(r, m.Key, m.Value, below)
					v.Value = m.Value.Decoded()
				}
				list = append(list, v)
			})
			*target = list
		},
		show: func() any {
			object := make(map[string]any, len(*target))
			for _, v := range *target {
				if object[v.Name] = v.Value; v.Secret.Set() {
					object[v.Name] = v.Secret.shown()
				}
			}
			return object
		},
	}
}

// eachArgument is each, in which null is a value like any other.
func eachArgument(r *configReader, n *yamldoc.Node, path *yamldoc.Path, do func(m yamldoc.Member, below *yamldoc.Path)) {
	if n.Kind != yamldoc.Mapping {
		r.wrong(n, path, "write a mapping of arguments to values, {} for none")
		return
	}
	for _, m := range n.Members {
		switch below := path.Key(m.Key); {
		case !argumentNames.fits.MatchString(m.Key):
			r.faults.Add(m.At, below, yamldoc.Fault{Reason: "not a name", Want: argumentNames.want})
		case m.Value.Readable():
			do(m, below)
		}
	}
}

// refuseLiteralArgument refuses text under a name that says that it is secret, at any depth. Numbers and booleans, as those of
// max_tokens, are none.
func refuseLiteralArgument(r *configReader, name string, n *yamldoc.Node, path *yamldoc.Path) {
	if n.Kind == yamldoc.Text && isSecretName(name) && n.Text != "" {
		refuseLiteral(r, n, path, secretWant)
	}
	for i, item := range n.Items {
		refuseLiteralArgument(r, name, item, path.Item(i))
	}
	for _, m := range n.Members {
		refuseLiteralArgument(r, m.Key, m.Value, path.Key(m.Key))
	}
}

// checkArguments and bounds have the schemas of the file checked where they stand.
func checkArguments(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
	if notesOf(r).compiled == nil {
		notesOf(r).compiled = compiledArguments{}
	}
	addSchemaFaults(r, n, path, notesOf(r).compiled.of(n.AppendJSON(nil)).faults)
}

// compiledArguments are schemas that were compiled while a file was read, by their text: its tools are made of the same.
type compiledArguments map[string]argumentsRead

// argumentsRead is what a schema of arguments came to.
type argumentsRead struct {
	schema   *catalog.Schema
	defaults map[string]any
	faults   []catalog.SchemaFault
}

// of compiles a schema once. Nil compiles each.
func (c compiledArguments) of(text json.RawMessage) argumentsRead {
	read, ok := c[string(text)]
	if !ok {
		read.schema, read.defaults, read.faults = catalog.CompileArguments(text)
		if c != nil {
			c[string(text)] = read
		}
	}
	return read
}

func checkBounds(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
	_, faults := catalog.CompileBounds(n.AppendJSON(nil))
	addSchemaFaults(r, n, path, append(faults, catalog.EscapingBounds(n.AppendJSON(nil))...))
}

// addSchemaFaults records what is wrong with a schema of the file: at the keyword that is unknown, else at its value.
func addSchemaFaults(r *configReader, n *yamldoc.Node, path *yamldoc.Path, faults []catalog.SchemaFault) {
	for _, f := range faults {
		found, key, at := n.FindPointer(f.Pointer)
		below := path
		for _, step := range found {
			below = &yamldoc.Path{Up: below, Step: step}
		}
		if f.Unknown {
			at = key
		}
		record := r.faults.Add
		if f.Warning {
			record = r.faults.Warn
		}
		record(at, below, faultOfSchema(f))
	}
}

// faultOfSchema words a fault of a schema as any other of the file. Only where a value has another type than wanted does what
// stands there say more than the reason.
func faultOfSchema(f catalog.SchemaFault) yamldoc.Fault {
	if f.Unknown {
		return yamldoc.Fault{Reason: "unknown key", DidYouMean: f.DidYouMean, Want: wantUnless(f.DidYouMean, f.Want)}
	}
	ofType := strings.HasPrefix(f.Reason, "no ") || strings.HasPrefix(f.Reason, "not of type ")
	fault := yamldoc.Fault{Reason: f.Reason, Got: f.Got, Want: f.Want, DidYouMean: f.DidYouMean, Reasoned: !ofType}
	if f.Want != "" {
		fault.Want = "write " + f.Want
	}
	return fault
}

// wantUnless is what would be right, where no name that comes near says it.
func wantUnless(near, want string) string {
	if near != "" {
		return ""
	}
	return "write " + want
}

// noTool is the fault for the name of a tool that there is not.
func noTool(name string, known []string) yamldoc.Fault {
	f := yamldoc.Fault{Reason: "no tool " + cut(name, maxShown), DidYouMean: gateway.Near(name, known)}
	if f.DidYouMean == "" {
		f.Want = "there are none"
		if len(known) > 0 {
			shown := known[:min(len(known), 20)]
			f.Want = "there are " + strings.Join(shown, ", ")
		}
	}
	return f
}
