package cli

import (
	"slices"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// FaultAt is a fault that was found after the configuration was read, at the value under these keys (items as "[0]"), or at
// the nearest one around it. Its Severity is a fault's where it has none.
func (l Document) FaultAt(f yamldoc.Fault, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.root.Find(path)
	return placed(f, value.At, path, l.Path)
}

// faultAtKey is FaultAt for a key that should not be there.
func (l Document) faultAtKey(f yamldoc.Fault, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	key, _ := l.root.Find(path)
	return placed(f, key, path, l.Path)
}

// FaultIn is FaultAt for a byte of the text that stands there, such as one of a CEL expression: it is placed at the very
// character, however the text is quoted or folded.
func (l Document) FaultIn(f yamldoc.Fault, offset int, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.root.Find(path)
	return placed(f, value.Character(l.Path, l.text, offset), path, l.Path)
}

// FaultInSchema is FaultAt for what stands at a JSON pointer below.
func (l Document) FaultInSchema(f yamldoc.Fault, pointer ijson.Pointer, steps ...string) yamldoc.Fault {
	path := yamldoc.PathOf(steps)
	_, value := l.root.Find(path)
	found, _, at := value.FindPointer(pointer)
	return placed(f, at, yamldoc.PathOf(slices.Concat(steps, found)), l.Path)
}

func placed(f yamldoc.Fault, at yamldoc.Place, path *yamldoc.Path, file string) yamldoc.Fault {
	f.File, f.Line, f.Column, f.Path = at.Source, at.Line, at.Column, path.String()
	if f.File == "" {
		f.File = file
	}
	if f.Severity == "" {
		f.Severity = yamldoc.SeverityFault
	}
	return f
}

// Refused is the error of a configuration with these faults, sorted by place; nil where there are none. Warnings among them
// do not count.
func Refused(faults []yamldoc.Fault) error {
	collected := &yamldoc.Faults{}
	for _, f := range faults {
		if f.Severity != yamldoc.SeverityWarning {
			collected.Found = append(collected.Found, f)
		}
	}
	return collected.Err()
}
