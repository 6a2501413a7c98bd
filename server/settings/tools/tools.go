package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

const (
	MaxTitle       = 100 // characters
	MaxDescription = 500 // characters
	maxPhraseRunes = 200
	maxObservation = 65_536 // bytes
	maxSettle      = 86_400 // seconds
)

// TakenNames are names that plans, routes and actions reserve. No tool can have one.
var TakenNames = []string{"final", "model", "caller"}

func newTool(name string, at grammar.Position) Tool {
	return Tool{
		Name: name, At: at, Enabled: true, MaxResult: maxObservation,
		Retry: catalog.Retry{Delay: 200 * time.Millisecond, MaxDelay: 5 * time.Second},
	}
}

// keys returns the keys that the tools of servers and http tools have in common (spec/config.md section 4, Tool members).
func (t *Tool) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Bool("enabled", &t.Enabled).Means("false: as if it were not declared."),
		grammar.Word("effect", &t.Effect, catalog.Read, catalog.Write, catalog.Destructive).Need(wantEffect).
			Means("What a call can change. You decide it; a server's hint never does. Required."),
		grammar.Bool("idempotent", &t.Idempotent).Means("true: two calls with the same key act once, so a write with a lost reply is sent again. Not set: only for read."),
		grammar.Short("title", &t.Title, MaxTitle).Means("What people read. Not set: the server's text."),
		grammar.Short("description", &t.Description, MaxDescription).Means("What the model reads. Not set: the server's text."),
		grammar.Short("phrase", &t.Phrase, maxPhraseRunes).Means("What people read while a call waits. {argument} is replaced if it is a number, a boolean, an enumerated text or a text with a pattern."),
		grammar.Count("max_result_bytes", &t.MaxResult, 1, maxObservation).Means("How much of an observation is kept for record, model and reader."),
		grammar.Group("retry",
			grammar.Count("max_retries", &t.Retry.Max, 0, 5).Means("How often a call is repeated after a refused connection. A read or an idempotent tool is also repeated after a temporary failure."),
			grammar.Seconds("delay_seconds", &t.Retry.Delay, maxServerWait).Means("The pause before the first retry. Each later pause is twice as long."),
			grammar.Seconds("max_delay_seconds", &t.Retry.MaxDelay, maxServerWait).Means("The longest pause."),
		),
		rateKey("rate", &t.Rate).Means("The rate limit: so many calls in so many seconds, burst at once (not set: calls). Not set: no limit."),
		grammar.Expression("once", &t.Once).Means("CEL over args: the business key of a call. Calls with the same key act once in all runs of the state file."),
		reconcileKey("reconcile", &t.Reconcile).Means("How a call with an unknown outcome is settled: by a tool of effect read."),
		grammar.OnePolicy("policy", &t.Policy).Means("The policy that judges this tool in every pattern. If the pattern names another policy, both judge and both must approve. Not set: none."),
		toolRedactKey("redact", &t.Redact).Means("Values of this tool that records keep only as salted hashes."),
	}
}

// rateKey returns the key of the rate of a tool. It is shown as null if the file does not set it.
func rateKey(name string, target *Rate) grammar.Key {
	key := grammar.InBrief(grammar.Group(name, target.keys()...))
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		var c Rate
		r.Group(n, path, c.keys(), grammar.UnknownKey)
		if c.Burst == 0 {
			c.Burst = c.Calls
		}
		*target = c
	}
	show := key.Show
	key.Show = func() any {
		if *target == (Rate{}) {
			return nil
		}
		return show()
	}
	return key
}

func (c *Rate) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Count("calls", &c.Calls, 1, grammar.MaxCount).Need(wantCalls),
		grammar.Scaled("per_seconds", grammar.Bounds{Max: grammar.MaxSeconds, Unit: grammar.InSeconds, Above: true},
			func() any { return c.Per.Seconds() },
			func(v float64) { c.Per = time.Duration(v * float64(time.Second)) }).Need(wantSeconds),
		grammar.Count("burst", &c.Burst, 1, grammar.MaxCount),
	}
}

// reconcileKey returns the key that says how an unknown outcome is settled (spec/config.md section 6).
func reconcileKey(name string, target **Reconcile) grammar.Key {
	return grammar.Held(name, target, func() Reconcile { return Reconcile{Settle: time.Minute} }, func(c *Reconcile) []grammar.Key {
		return []grammar.Key{
			grammar.OneTool("tool", &c.Tool).Need(wantReconciler).Means("The tool that is asked. Its effect must be read."),
			grammar.Expressions("args", &c.Args, grammar.ArgumentNames).Means("Its arguments: CEL over effect {key, run_id, tool, args, at}."),
			grammar.Expression("happened", &c.Happened).Need(wantHappened).Means("CEL over effect and result: whether the call happened."),
			grammar.Expressions("output", &c.Output, grammar.ArgumentNames).Means("The call's own result, member by member. Not set: result."),
			grammar.Seconds("settle_seconds", &c.Settle, maxSettle).Means("How long after the call \"it did not happen\" is not yet final."),
		}
	})
}

var serverToolEntries = grammar.Entries[ServerTool]{
	Names: grammar.UpstreamNames,
	Named: func(t *ServerTool) string { return t.Upstream },
	Fresh: func(name string, at grammar.Position) ServerTool {
		return ServerTool{Tool: newTool("", at), Upstream: name, Timeout: -1}
	},
	Keys:   (*ServerTool).keys,
	Off:    func(t *ServerTool) bool { return !t.Enabled },
	Finish: finishServerTool,
}

func (t *ServerTool) keys() []grammar.Key {
	timeout := grammar.Seconds("timeout_seconds", &t.Timeout, maxServerWait)
	seconds := timeout.Show
	timeout.Numeric = false // the text of a variable or flag is never read here
	timeout.Show = func() any {
		if t.Timeout < 0 {
			return nil
		}
		return seconds()
	}
	return append(t.Tool.keys(),
		grammar.OneTool("as", &t.Name).Means("Its name here. Not set: the server's name."),
		timeout.Means("How long a call can take. Not set: the server's value."),
		fixKey("fix", &t.Fix).Means("Arguments with a fixed value or {secret}. No caller, model or rule sees or changes them."),
		grammar.Raw("bound", mappingOfArgumentSchemas, &t.Bound, checkBounds).Means("Narrower schemas of arguments. A call must fit the server's schema and these; these are shown. `within: DIR` keeps a path, or each path of a list, inside a directory."),
	)
}

// finishServerTool sets the name of a tool that has none, and the defaults that follow from its effect.
func finishServerTool(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, t *ServerTool) {
	if t.Name == "" {
		t.Name = t.Upstream
		if !grammar.ToolName.MatchString(t.Name) {
			r.Faults.Add(n.At, path, yamldoc.Fault{Reason: badToolName, Want: wantToolName})
		}
	}
	finishTool(r, n, path, &t.Tool)
}

// finishTool checks the members of a tool together, and sets Idempotent for a tool that reads.
func finishTool(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, t *Tool) {
	if said := n.Member("idempotent"); t.Effect == catalog.Read && said != nil && said.Kind == yamldoc.Bool && !said.Flag {
		r.Faults.Warn(said.At, path.Key("idempotent"), yamldoc.Fault{Reason: readIsIdempotent, Want: wantRemoved})
	}
	t.Idempotent = t.Idempotent || t.Effect == catalog.Read
	if t.Retry.MaxDelay < t.Retry.Delay {
		retry := n.Member("retry")
		if retry == nil {
			retry = n
		}
		r.Faults.Add(retry.At, path.Key("retry"), yamldoc.Fault{Reason: delayOverMax, Want: wantLongerMax})
	}
	if c := t.Reconcile; c != nil && t.Effect == catalog.Read && t.Enabled {
		r.Faults.Warn(n.Member("reconcile").At, path.Key("reconcile"), yamldoc.Fault{Reason: readNeverInDoubt, Want: wantRemoved})
	}
}

// fixKey returns the key of the arguments that the configuration sets.
func fixKey(name string, target *[]Fixed) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfFixed, Form: func() map[string]any { return grammar.BlockForm },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []Fixed{}
			eachArgument(r, n, path, func(m yamldoc.Member, below *yamldoc.Path) {
				v := Fixed{Name: m.Key}
				if IsReference(m.Value) {
					v.Secret, _, _ = ReadReference(r, m.Value, below, false)
				} else {
					refuseLiteralArgument(r, m.Key, m.Value, below)
					v.Value = m.Value.Decoded()
				}
				list = append(list, v)
			})
			*target = list
		},
		Show: func() any {
			object := make(map[string]any, len(*target))
			for _, v := range *target {
				if object[v.Name] = v.Value; v.Secret.Set() {
					object[v.Name] = v.Secret.Shown()
				}
			}
			return object
		},
	}
}

// eachArgument calls do for each member of a mapping of arguments. Unlike Reader.Each it does not skip null, which is a
// value here.
func eachArgument(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, do func(m yamldoc.Member, below *yamldoc.Path)) {
	if n.Kind != yamldoc.Mapping {
		r.Wrong(n, path, wantFixed)
		return
	}
	for _, m := range n.Members {
		switch below := path.Key(m.Key); {
		case !grammar.ArgumentNames.Fits.MatchString(m.Key):
			r.Faults.Add(m.At, below, yamldoc.Fault{Reason: notName, Want: grammar.ArgumentNames.Want})
		case m.Value.Readable():
			do(m, below)
		}
	}
}

// refuseLiteralArgument refuses text under a name that marks a secret, at any depth. It allows numbers and booleans, since
// names such as max_tokens are not secret.
func refuseLiteralArgument(r *grammar.Reader, name string, n *yamldoc.Node, path *yamldoc.Path) {
	if n.Kind == yamldoc.Text && IsSecretName(name) && n.Text != "" {
		RefuseLiteral(r, n, path, secretWant)
	}
	for i, item := range n.Items {
		refuseLiteralArgument(r, name, item, path.Item(i))
	}
	for _, m := range n.Members {
		refuseLiteralArgument(r, m.Key, m.Value, path.Key(m.Key))
	}
}

// CheckArguments compiles the argument schemas of the file and records their faults, each with its place.
func CheckArguments(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
	addSchemaFaults(r, n, path, CompiledIn(r).Of(n.AppendJSON(nil)).faults)
}

// CompiledIn returns the argument schemas that a reader has compiled so far.
func CompiledIn(r *grammar.Reader) Compiled {
	notes := grammar.NotesOf[Compiled](r)
	if *notes == nil {
		*notes = Compiled{}
	}
	return *notes
}

// Compiled holds the schemas that were compiled while a file was read, by their text. The tools use the same compiled
// schemas.
type Compiled map[string]Arguments

// Arguments is a compiled schema of arguments, with their defaults.
type Arguments struct {
	Schema   *catalog.Schema
	Defaults map[string]any
	faults   []catalog.SchemaFault
}

// Of returns the compiled schema of a text. It compiles each text once; a nil Compiled compiles each time.
func (c Compiled) Of(text json.RawMessage) Arguments {
	read, ok := c[string(text)]
	if !ok {
		read.Schema, read.Defaults, read.faults = catalog.CompileArguments(text)
		if c != nil {
			c[string(text)] = read
		}
	}
	return read
}

func checkBounds(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
	_, faults := catalog.CompileBounds(n.AppendJSON(nil))
	addSchemaFaults(r, n, path, append(faults, catalog.EscapingBounds(n.AppendJSON(nil))...))
}

// addSchemaFaults records the faults of a schema of the file. The place is that of an unknown keyword, else that of its
// value.
func addSchemaFaults(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path, faults []catalog.SchemaFault) {
	for _, f := range faults {
		found, key, at := n.FindPointer(f.Pointer)
		below := path
		for _, step := range found {
			below = &yamldoc.Path{Up: below, Step: step}
		}
		if f.Unknown {
			at = key
		}
		record := r.Faults.Add
		if f.Warning {
			record = r.Faults.Warn
		}
		record(at, below, FaultOfSchema(f))
	}
}

// FaultOfSchema returns a schema fault in the form of the other faults of the file. A value with the wrong type or form
// is shown instead of the reason.
func FaultOfSchema(f catalog.SchemaFault) yamldoc.Fault {
	if f.Unknown {
		return yamldoc.Fault{Reason: unknownKey, DidYouMean: f.DidYouMean, Want: wantUnless(f.DidYouMean, f.Want)}
	}
	fault := yamldoc.Fault{Reason: f.Reason, Got: f.Got, Want: f.Want, DidYouMean: f.DidYouMean, Reasoned: !f.Misfit}
	if f.Want != "" {
		fault.Want = "write " + f.Want
	}
	return fault
}

// NoArgument returns the fault for an argument that a tool does not have: read_text_file has no argument pth; did you mean
// path?
func NoArgument(tool, name string, names []string) yamldoc.Fault {
	f := yamldoc.Fault{Reason: toolHasNoArgument(tool, name), DidYouMean: gateway.NearTyped(name, names)}
	if f.DidYouMean == "" && len(names) > 0 {
		f.Reason += " (" + strings.Join(names, ", ") + ")"
	}
	return f
}

// wantUnless returns what to write, or "" if near, a similar name, already says it.
func wantUnless(near, want string) string {
	if near != "" {
		return ""
	}
	return "write " + want
}

// NoTool returns the fault for a name that no tool has.
func NoTool(name string, known []string) yamldoc.Fault {
	const most = 80 // bytes of a name that are shown
	shown := ijson.Cut(name, most)
	if shown != name {
		shown += "..."
	}
	f := yamldoc.Fault{Reason: noTool(shown), DidYouMean: gateway.NearTyped(name, known)}
	if f.DidYouMean == "" {
		f.Want = noToolsDeclared
		if len(known) > 0 {
			shown := known[:min(len(known), 20)]
			f.Want = toolsDeclared(strings.Join(shown, ", "))
		}
	}
	return f
}

func wrongSchema(f catalog.SchemaFault) bool { return !f.Warning }

// Wrong reports whether no tool can use the schema.
func (a Arguments) Wrong() bool {
	return a.Schema == nil || slices.ContainsFunc(a.faults, wrongSchema)
}
