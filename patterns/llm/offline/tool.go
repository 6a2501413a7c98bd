package offline

import (
	"slices"
	"sync"

	"patterngate/catalog"
	"patterngate/patterns/llm/offline/english"
)

// studied is a tool as read: all that does not depend on a question.
type studied struct {
	catalog.Tool
	name      []english.Token
	arguments []argument
	weights   map[string]float64 // by stem, and by family of words
	acts      acts
	tells     bool // it sends people a text
}

// shelf keeps tools that were studied, since the same ones come with every question. The zero shelf is empty.
type shelf struct {
	mu      sync.Mutex
	tools   map[toolKey]*studied
	results map[resultKey][]output
}

// resultKey is what the study of a tool's results depends on.
type resultKey struct {
	name   string
	output *catalog.Schema
}

// outputs are the members of a tool's results.
func (s *shelf) outputs(t catalog.Tool) []output {
	key := resultKey{t.Name, t.Output}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.results[key]
	if !ok {
		if s.results == nil || len(s.results) >= maxShelf {
			s.results = map[resultKey][]output{}
		}
		known = outputsOf(t)
		s.results[key] = known
	}
	return known
}

// toolKey is what the study of a tool depends on. A schema never changes.
type toolKey struct {
	name, title, description string
	effect                   catalog.Effect
	input                    *catalog.Schema
}

// maxShelf bounds the shelf for callers that make new schemas for every question.
const maxShelf = 1024

func (s *shelf) take(t catalog.Tool) *studied {
	key := toolKey{t.Name, t.Title, t.Description, t.Effect, t.Input}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.tools[key]
	if !ok {
		if s.tools == nil || len(s.tools) >= maxShelf {
			s.tools = map[toolKey]*studied{}
		}
		known = study(t)
		s.tools[key] = known
	}
	if known.Simulated != t.Simulated || known.Output != t.Output { // not studied, but asked for
		fresh := *known
		fresh.Tool = t
		return &fresh
	}
	return known
}

func study(t catalog.Tool) *studied {
	s := &studied{Tool: t, name: english.NameWords(t.Name), weights: map[string]float64{}}
	for _, p := range t.Input.Properties() {
		s.arguments = append(s.arguments, newArgument(t, p))
	}
	s.weigh()
	s.acts = actsOf(t)
	s.tells = s.sendsText()
	return s
}

// How much a word of the goal says for a tool that has it in that place.
const (
	inName        = 2.0
	inTitle       = 1.5
	inDescription = 1.0
	inMembers     = 1.0 // of an enumeration
	inArguments   = 0.5
	asKin         = 0.6 // of the weight, for a word that only often means the same
	asBroad       = 0.5 // of the weight, for report, summary and the like
)

func (s *studied) weigh() {
	put := func(term string, weight float64) { s.weights[term] = max(s.weights[term], weight) }
	add := func(list []english.Token, weight float64) {
		for _, w := range list {
			if english.Dull[w.Low] || len(w.Low) == 1 {
				continue
			}
			put(w.Stem, weight)
			if family := english.Kin[w.Stem]; family != "" {
				put(family, weight*asKin)
			}
		}
	}
	add(s.name, inName)
	add(english.WordsOf(s.Title), inTitle)
	add(english.WordsOf(s.Description), inDescription)
	for _, a := range s.arguments {
		add(english.NameWords(a.Name), inArguments)
		for _, m := range a.members {
			add(m.words, inMembers)
		}
	}
}

// acts are the words that ask for what a tool does, taken from its name and its description's first word.
type acts struct {
	stems map[string]bool
	verb  string // the name's first word, unless it is a light verb
	// light is a verb of the description that means something only together with another word of the tool: put a
	// driver on a van.
	light string
}

func actsOf(t catalog.Tool) acts {
	a := acts{stems: map[string]bool{}}
	name := english.NameWords(t.Name)
	isLight := len(name) > 0 && english.LightVerbs[name[0].Low]
	for i, w := range name {
		if isLight == (i > 0) && !(isLight && english.Dull[w.Low]) {
			a.stems[w.Stem] = true
		}
	}
	if !isLight && len(name) > 0 {
		a.verb = name[0].Stem
	}
	if words := english.WordsOf(t.Description); len(words) > 0 {
		switch first := words[0]; {
		case english.LightVerbs[first.Low]:
			a.light = first.Stem
		case !english.Dull[first.Low] || sending[first.Stem]:
			a.stems[first.Stem] = true
		}
	}
	return a
}

// A tool tells people of something if its name holds one of the nouns, and one of the verbs is its act.
var (
	sending = english.StemsOf(`send sends email emails mail message notify inform tell remind alert text confirm`)
)

// sendsText reports whether a tool writes, has a required text to compose, and is named for sending it.
func (s *studied) sendsText() bool {
	composes := slices.ContainsFunc(s.arguments, func(a argument) bool { return a.Required && a.need == needProse })
	if s.Effect != catalog.Write || !composes {
		return false
	}
	named, sends := false, false
	for _, w := range s.name {
		named = named || english.Notices[w.Stem]
		sends = sends || sending[w.Stem]
	}
	if words := english.WordsOf(s.Description); len(words) > 0 {
		sends = sends || sending[words[0].Stem]
	}
	return named && sends
}

// takesTicket reports whether a target has an argument ticket.
func (s *studied) takesTicket() bool {
	return slices.ContainsFunc(s.Input.Properties(), func(p catalog.Property) bool { return p.Name == "ticket" })
}
