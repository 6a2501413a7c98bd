package ijson

// Weight returns an estimate of the memory in bytes that a decoded value uses. Texts of equal length need very
// different amounts: a list of empty lists needs twenty times the size of its text. Use Weight to limit how much is
// kept.
func Weight(v any) int {
	const (
		slot   = 16       // an interface value
		header = 24       // of a list
		object = 48       // of a map
		group  = 8*32 + 8 // of a map's first eight members
		more   = 80       // for each further member; half of the places are free
	)
	switch v := v.(type) {
	case string:
		return slot + len(v)
	case []any:
		sum := header
		for _, element := range v {
			sum += slot + Weight(element)
		}
		return sum
	case map[string]any:
		sum := object
		if len(v) > 0 {
			sum += group + max(0, len(v)-8)*more
		}
		for name, member := range v {
			sum += len(name) + Weight(member)
		}
		return sum
	case float64:
		return 8
	}
	return 0
}
