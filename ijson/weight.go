package ijson

// Weight is about how many bytes of memory a decoded value holds. Texts of equal length hold very different amounts: a
// list of empty lists weighs twenty times its text. It is meant for bounds on what is kept.
func Weight(v any) int {
	const (
		slot   = 16       // an interface value
		header = 24       // of a list
		object = 48       // of a map
		group  = 8*32 + 8 // of a map's first eight members
		more   = 80       // for each member beyond, half of the places being free
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
