package llm

import (
	"slices"
	"sync"

	"patterngate/catalog"
)

// studied is a tool as read: all that does not depend on a question.
type studied struct {
	catalog.Tool
	name      []word
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

// maxShelf bounds the shelf for callers that make their schemas anew for every question.
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
	if known.Demo != t.Demo || known.Output != t.Output { // not studied, but asked for
		fresh := *known
		fresh.Tool = t
		return &fresh
	}
	return known
}

func study(t catalog.Tool) *studied {
	s := &studied{Tool: t, name: nameWords(t.Name), weights: map[string]float64{}}
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
	add := func(list []word, weight float64) {
		for _, w := range list {
			if dull[w.low] || len(w.low) == 1 {
				continue
			}
			put(w.stem, weight)
			if family := kin[w.stem]; family != "" {
				put(family, weight*asKin)
			}
		}
	}
	add(s.name, inName)
	add(wordsOf(s.Title), inTitle)
	add(wordsOf(s.Description), inDescription)
	for _, a := range s.arguments {
		add(nameWords(a.Name), inArguments)
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

// lightVerbs say that something is done, and not what.
var lightVerbs = setOf(`issue issues place places make makes create creates perform performs process processes submit submits execute executes
 run runs start starts put puts set sets add adds open opens give gives take takes apply applies record records register registers
 do does handle handles trigger triggers log logs post posts`)

func actsOf(t catalog.Tool) acts {
	a := acts{stems: map[string]bool{}}
	name := nameWords(t.Name)
	isLight := len(name) > 0 && lightVerbs[name[0].low]
	for i, w := range name {
		if isLight == (i > 0) && !(isLight && dull[w.low]) {
			a.stems[w.stem] = true
		}
	}
	if !isLight && len(name) > 0 {
		a.verb = name[0].stem
	}
	if words := wordsOf(t.Description); len(words) > 0 {
		switch first := words[0]; {
		case lightVerbs[first.low]:
			a.light = first.stem
		case !dull[first.low] || sending[first.stem]:
			a.stems[first.stem] = true
		}
	}
	return a
}

// A tool tells people of something if its name holds one of the nouns, and one of the verbs is its act.
var (
	notices = stemsOf(`email mail message notice notification reminder sms letter text confirmation alert`)
	sending = stemsOf(`send sends email emails mail message notify inform tell remind alert text confirm`)
	// telling are verbs that have the one who is told as their object.
	telling = setOf(`tell inform notify message text email mail remind alert`)
)

// sendsText reports whether a tool writes, has a required text to compose, and is named for sending it.
func (s *studied) sendsText() bool {
	composes := slices.ContainsFunc(s.arguments, func(a argument) bool { return a.Required && a.need == needProse })
	if s.Effect != catalog.Write || !composes {
		return false
	}
	named, sends := false, false
	for _, w := range s.name {
		named = named || notices[w.stem]
		sends = sends || sending[w.stem]
	}
	if words := wordsOf(s.Description); len(words) > 0 {
		sends = sends || sending[words[0].stem]
	}
	return named && sends
}

// takesTicket reports whether a target has an argument ticket.
func (s *studied) takesTicket() bool {
	return slices.ContainsFunc(s.Input.Properties(), func(p catalog.Property) bool { return p.Name == "ticket" })
}
