package memory

import (
	"slices"
	"strconv"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/store"
)

func (t *tables) setKeys(list []gateway.PublicKey) {
	was := t.keys
	t.undo = append(t.undo, func() { t.keys = was })
	t.keys, t.keyed = list, t.keyed+1
}

func (t *tables) dropKey(s store.DropKey) {
	list := slices.Clone(t.keys)
	for i := range list {
		if list[i].ID == s.ID && list[i].Removed.IsZero() {
			list[i].Removed, list[i].Dropped = s.By.At, s.By
			t.setKeys(list)
		}
	}
}

// Keys implements [store.Reader].
func (t *tables) Keys() (store.Keys, error) {
	k := store.Keys{Stored: slices.Clone(t.keys)}
	if len(k.Stored) > 0 {
		k.Mark = strconv.Itoa(t.keyed)
	}
	return k, nil
}

func (t *tables) setSwitches(list []patterns.Switch) {
	was := t.switches
	t.undo = append(t.undo, func() { t.switches = was })
	t.switches = list
}

func (t *tables) setSwitch(s patterns.Switch) {
	s.At = s.At.Truncate(time.Microsecond).UTC()
	rest := slices.DeleteFunc(slices.Clone(t.switches), func(o patterns.Switch) bool { return o.Tool == s.Tool && o.Pattern == s.Pattern })
	t.setSwitches(append(rest, s))
}

func (t *tables) clearSwitch(tool, pattern string) bool {
	rest := slices.DeleteFunc(slices.Clone(t.switches), func(o patterns.Switch) bool { return o.Tool == tool && o.Pattern == pattern })
	if len(rest) == len(t.switches) {
		return false
	}
	t.setSwitches(rest)
	return true
}

// addReload stores a reload. Its number is its place.
func (t *tables) addReload(s store.AddReload) {
	r := reload{asked: s.Asked}
	r.Reload = store.Reload{N: int64(len(t.reloads)) + 1, At: s.At, Path: s.Path, Hash: s.Hash, By: s.By, Channel: s.Channel, Act: s.Act, Signature: s.Signature}
	r.Again = s.Signature != "" && slices.ContainsFunc(t.reloads, func(o reload) bool { return o.Signature == s.Signature })
	was := t.reloads
	t.undo = append(t.undo, func() { t.reloads = was })
	t.reloads = append(was[:len(was):len(was)], r)
	if s.N != nil {
		*s.N = r.N
	}
	if s.Answer != nil {
		t.addReloadAnswer(store.AddReloadAnswer{N: r.N, ReloadAnswer: *s.Answer})
	}
}

func (t *tables) addReloadAnswer(s store.AddReloadAnswer) {
	was := t.answers[s.N]
	puts(t, t.answers, s.N, new(append(was[:len(was):len(was)], s.ReloadAnswer)))
}
