package execution

import (
	"cmp"
	"strconv"
	"strings"
)

// keys counts the effects of one branch by name, so that an effect's key is a path that depends on the code alone:
// "task#2/payments_worker#1".
type keys struct {
	path string
	seen map[string]int
}

func newKeys(path string) *keys { return &keys{path, map[string]int{}} }

func (k *keys) next(name string) string {
	k.seen[name]++
	return k.path + name + "#" + strconv.Itoa(k.seen[name])
}

// peek is the key that the next effect of a name would have.
func (k *keys) peek(name string) string {
	return k.path + name + "#" + strconv.Itoa(k.seen[name]+1)
}

// compareKeys orders keys as the code makes them: numbers by their value.
func compareKeys(a, b string) int {
	for {
		as, arest, amore := strings.Cut(a, "/")
		bs, brest, bmore := strings.Cut(b, "/")
		an, ai := splitKey(as)
		bn, bi := splitKey(bs)
		if c := cmp.Or(cmp.Compare(an, bn), cmp.Compare(ai, bi)); c != 0 || !amore || !bmore {
			return cmp.Or(c, cmp.Compare(len(a), len(b)))
		}
		a, b = arest, brest
	}
}

func splitKey(part string) (name string, n int) {
	at := strings.LastIndexByte(part, '#')
	if at < 0 {
		return part, 0
	}
	n, _ = strconv.Atoi(part[at+1:])
	return part[:at], n
}
