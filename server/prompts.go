package server

import (
	"context"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// prompt is a pattern's prompt. A person picks it in their client, and the client's model gets everything that it needs
// to propose by itself. A prompt does not change.
type prompt struct {
	tool  *tool
	takes []promptArgument
	// before and after enclose the arguments in the message. The text of after is made at its first call.
	before string
	after  func() string
}

// promptArgument is one argument of a prompt. It is required unless optional is set. Its bound is that of the tool's
// argument.
type promptArgument struct {
	name     string
	most     int // bytes
	words    string
	optional bool
}

// promptArguments returns the arguments of a pattern's prompt, in order.
func promptArguments(spec patterns.Spec) []promptArgument {
	takes := []promptArgument{{name: spec.GoalArgument(), most: arguments.MaxGoal, words: promptGoal}}
	if spec.Kind == gateway.Routing {
		takes[0].words = arguments.TicketWords(spec)
	}
	for _, i := range spec.TextInputs {
		takes = append(takes, promptArgument{name: i.Name, most: arguments.MaxInput, words: i.Words})
	}
	for _, p := range arguments.OwnInputs(spec) {
		words := p.Description
		if words == "" {
			words = promptValue(p.Type)
		}
		takes = append(takes, promptArgument{p.Name, arguments.MaxOwnInput, printable.Text(words), !p.Required})
	}
	return takes
}

// addPrompts offers a prompt for each pattern, named as its tool. Planning has no prompts, because an agent uses its
// tools in several calls.
func (s *Server) addPrompts() {
	s.prompts = s.declaredPrompts()
	if offered := s.offeredPrompts(); len(offered) > 0 {
		s.mcp.AddPrompts(offered...)
	}
}

// declaredPrompts returns the prompts by name. A one-tool call has no prompt, because there is nothing to propose.
func (s *Server) declaredPrompts() map[string]*prompt {
	declared := make(map[string]*prompt, len(s.tools))
	for _, t := range s.tools {
		if t.Spec.Kind != gateway.Planning && t.Spec.Kind != gateway.Call {
			declared[t.Spec.Name] = newPrompt(t)
		}
	}
	return declared
}

func newPrompt(t *tool) *prompt {
	p := &prompt{tool: t, takes: promptArguments(t.Spec)}
	p.before = promptBegins(t.Spec.Name)
	p.after = sync.OnceValue(p.offer)
	return p
}

// offer says which tools an intent may name, what form it has and what to do.
func (p *prompt) offer() string {
	spec := p.tool.Spec
	intent, tools := arguments.Call{Spec: spec}.IntentName(), arguments.NamedTools(spec)
	var b strings.Builder
	b.WriteString(promptTools(intent))
	for _, tool := range tools {
		b.WriteString(promptTool(printable.Text(arguments.Signatures(spec, []catalog.Tool{tool})), printable.Text(ijson.Words(tool.Description))))
	}
	if len(tools) == 0 {
		b.WriteString(promptNoTools)
	}
	example, form := arguments.ExampleIntent(spec, tools)
	b.WriteString(promptExample(intent, fenced(arguments.JSONText(example))))
	b.WriteString(promptEnds(intent, form, spec.Name))
	return b.String()
}

// declared returns the prompt as prompts/list shows it.
func (p *prompt) declared() mcp.Prompt {
	intent := arguments.Call{Spec: p.tool.Spec}.IntentName()
	options := []mcp.PromptOption{
		mcp.WithPromptTitle(p.tool.declared.Title),
		mcp.WithPromptDescription(promptAbout(intent, p.tool.Spec.Name)),
	}
	for _, a := range p.takes {
		said := []mcp.ArgumentOption{mcp.ArgumentDescription(a.words)}
		if !a.optional {
			said = append(said, mcp.RequiredArgument())
		}
		options = append(options, mcp.WithArgument(a.name, said...))
	}
	return mcp.NewPrompt(p.tool.Spec.Name, options...)
}

// handle answers a prompts/get request that [Server.checkPrompt] has checked.
func (p *prompt) handle(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	values := arguments.FromTexts(p.tool.Spec, req.Params.Arguments)
	given := []byte{'{'}
	for _, a := range p.takes {
		v, there := values[a.name]
		if !there && a.optional {
			continue
		}
		if !there {
			v = ""
		}
		if len(given) > 1 {
			given = append(given, ',')
		}
		given = ijson.Append(append(envelope.AppendString(given, a.name), ':'), v)
	}
	text := p.before + fenced(string(append(given, '}'))) + p.after()
	return &mcp.GetPromptResult{
		Description: p.tool.declared.Title,
		Messages:    []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))},
	}, nil
}

// fenced puts JSON on one line into a fence that is longer than any fence in the line. The line cannot end the fence or
// seem to. JSON has no line ends within its texts, and hidden characters are escaped.
func fenced(document string) string {
	line := printable.Text(document)
	longest, run := 0, 0
	for i := range len(line) {
		if run++; line[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "json\n" + line + "\n" + fence
}

// checkPrompt refuses arguments that do not fit. mcp-go answers an error of a handler with -32603, and only an unknown
// prompt with -32602. So checkPrompt adds the faults to the name, and a prompt of that name does not exist.
func (s *Server) checkPrompt(_ context.Context, _ any, req *mcp.GetPromptRequest) {
	p := s.newest().prompts[req.Params.Name]
	if p == nil {
		req.Params.Name = absentName(req.Params.Name)
		return
	}
	if faults := p.faults(req.Params.Arguments); faults != "" {
		req.Params.Name += ": " + faults
	}
}

// faults says what is wrong with a prompt's arguments. It returns "" if they have no faults.
func (p *prompt) faults(given map[string]string) string {
	const most = 5
	r := arguments.Request{Call: arguments.Call{Spec: p.tool.Spec, Arguments: arguments.FromTexts(p.tool.Spec, given)}}
	var table []arguments.Row
	own := arguments.InputRows(p.tool.Spec)
	for _, a := range p.takes[:len(p.takes)-len(own)] {
		table = append(table, arguments.Row{Name: a.name, Required: true, Most: a.most})
	}
	table = append(table, own...)
	r.ReadAll(table)
	var words []string
	for _, problem := range r.Problems() {
		words = append(words, promptFault(sentence.Reason(problem.Reason), problem.Want))
	}
	if more := len(words) - most; more > 0 {
		words = append(words[:most], moreFaults(more))
	}
	return strings.Join(words, "; ")
}
