package trial

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"patterngate/catalog/demo/ledger"
	"patterngate/ijson"
)

// verdict is the result of a trial: how each run ended, and which effects happened.
type verdict struct {
	results    map[string]string // by run, without what differs between any two runs
	acts       map[string]int
	kills      int
	boundaries int64 // passed by the last process
}

// shortcoming is the difference between a trial and the uninterrupted one.
type shortcoming struct {
	lost, twice int
	unequal     int
	said        []string // each in words
}

func (s shortcoming) none() bool { return s.lost == 0 && s.twice == 0 && s.unequal == 0 }

// against compares a trial with the uninterrupted one.
func (v verdict) against(want verdict) shortcoming {
	var s shortcoming
	acts := maps.Clone(want.acts)
	maps.Copy(acts, v.acts)
	for _, act := range slices.Sorted(maps.Keys(acts)) {
		switch more := v.acts[act] - want.acts[act]; {
		case more < 0:
			s.lost -= more
			s.said = append(s.said, lost(act, v.acts[act], want.acts[act]))
		case more > 0:
			s.twice += more
			s.said = append(s.said, doneTwice(act, v.acts[act], want.acts[act]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.results)) {
		if v.results[name] != want.results[name] {
			s.unequal++
			s.said = append(s.said, apart(name, v.results[name], want.results[name]))
		}
	}
	return s
}

// apart returns the first difference of two results of a run, in words.
func apart(name, got, want string) string {
	const around = 100
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	shown := func(text string) string {
		return strings.ToValidUTF8(text[max(0, min(at, len(text))-around):min(len(text), at+around)], "")
	}
	return endedApart(name, shown(got), shown(want))
}

// differing are the members of an envelope that differ between two equal runs: ids, people and times, and what run_wait
// adds. args_hash differs because the arguments can contain ids.
var differing = []string{"run_id", "joined", "record", "decided_at", "args_hash", "pattern", "created_at", "ended_at"}

// differingWords are the ids and times inside texts.
var differingWords = []struct {
	found *regexp.Regexp
	word  string
}{
	{regexp.MustCompile(`run_[0-9a-f]{16}`), "RUN"},
	{regexp.MustCompile(`ap_[0-9a-f]{16}`), "APPROVAL"},
	{regexp.MustCompile(`\b(rf|em)_([0-9]+)_[0-9a-f]{12}`), "${1}_${2}_ID"},
	{regexp.MustCompile(`\b(pg|req)_[0-9a-f]{8,}`), "KEY"},
	{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`), "TIME"},
	{regexp.MustCompile(`(under )?[0-9]+(\.[0-9]+)? s\b`), "SECONDS"},
}

// comparableEnvelope returns an envelope without what differs between any two runs.
func comparableEnvelope(envelope json.RawMessage) (string, error) {
	v, err := ijson.Decode(envelope)
	if err != nil {
		return "", err
	}
	if e, ok := v.(map[string]any); ok {
		if budget, ok := e["budget"].(map[string]any); ok {
			maps.DeleteFunc(budget, func(name string, _ any) bool { return strings.HasSuffix(name, "_seconds") })
		}
	}
	strip(v)
	text := string(ijson.Canonical(v))
	for _, w := range differingWords {
		text = w.found.ReplaceAllString(text, w.word)
	}
	return text, nil
}

// strip removes what differs from all objects of a value.
func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range differing {
			delete(v, name)
		}
		for _, member := range v {
			strip(member)
		}
	case []any:
		for _, item := range v {
			strip(item)
		}
	}
}

// actsOf counts the effects in a book, without the ids that differ between runs.
func actsOf(entries []ledger.Entry) map[string]int {
	acts := map[string]int{}
	for act, n := range ledger.Acts(entries) {
		for _, w := range differingWords {
			act = w.found.ReplaceAllString(act, w.word)
		}
		acts[act] += n
	}
	return acts
}
