package facts

import (
	"regexp"
	"slices"
	"strings"

	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// Fact is one value that a person needs for a decision.
type Fact struct {
	Label  string // plain words, or the expression if there are none
	Value  string
	Source string // where the value came from
	Path   string // the expression or pointer that names the value; "" if Label is the expression
}

// maxFacts is how many values of earlier results stand beside the buttons.
const maxFacts = 6

// Read returns the values that made a rule true, as facts. left is how many more there are.
func Read(values map[string]any, b record.Behind) (list []Fact, left int) {
	read, left := record.ValuesOf(values)
	labels := map[string]int{}
	for _, v := range read {
		f := ofRule(v, b)
		list = append(list, f)
		labels[f.Label]++
	}
	for i, f := range list {
		if labels[f.Label] > 1 && f.Path != "" { // two values with one label are told apart by their paths
			list[i].Label, list[i].Path = f.Path, ""
		}
	}
	return list, left
}

// name matches a path of names such as args.amount_usd.
var name = regexp.MustCompile(`^(args|params|vars|input|run|tool|principal|client|windows|now)((?:\.\??[A-Za-z_][A-Za-z0-9_]*)*)$`)

// ofRule returns a value that a rule read.
func ofRule(v record.Value, b record.Behind) Fact {
	f := Fact{Label: wording.Visible(v.Expression), Value: wording.Visible(v.Text), Source: wording.SourceRule}
	parts := name.FindStringSubmatch(v.Expression)
	if parts == nil {
		return f
	}
	last := strings.TrimPrefix(parts[2][strings.LastIndexByte(parts[2], '.')+1:], "?")
	switch parts[1] {
	case "args":
		first, _, _ := strings.Cut(strings.TrimPrefix(parts[2], "."), ".")
		f.Source = Author(strings.TrimPrefix(first, "?"), strings.HasPrefix(v.Text, `"`), b)
	case "client":
		f.Source = wording.SourceClient
	case "params":
		f.Source = wording.SourceParams
	case "vars":
		f.Source = wording.SourceVars
	case "windows":
		f.Source = wording.SourceWindows
	case "input":
		f.Source = wording.SourceInput
	}
	if last != "" {
		f.Path = f.Label
		f.Label, f.Value = labelled(last, f.Value)
	}
	return f
}

// labelled returns the words for a name and its value with the unit that the name ends in.
func labelled(name, value string) (label, shown string) {
	base, inUSD := strings.CutSuffix(name, "_usd")
	if amount, ok := wording.Amount(value); inUSD && ok {
		name, value = base, amount+" USD"
	}
	return wording.Label(name), value
}

// Author says who wrote an argument of the call, or proposed its value if that is no text; "" if it is not known.
func Author(argument string, isText bool, b record.Behind) string {
	if slices.Contains(b.Revised, argument) {
		return wording.WrittenByRule(b.RevisedBy)
	}
	if isText {
		return wording.WrittenBy(b.ProposedBy)
	}
	return wording.ProposedBy(b.ProposedBy)
}

// Result is what one tool returned earlier in the run. It is not checked. The labels are the names of members, as the tool wrote them.
type Result struct {
	Tool  string
	Facts []Fact
}

// Observed returns the first values of the newest result of each tool, at most [maxFacts] in all. left is how many more values these
// results have. The page's details have them all, except those that the record cut.
func Observed(b record.Behind) (list []Result, left int) {
	room, seen := maxFacts, map[string]bool{}
	for _, o := range slices.Backward(b.Observed) {
		if seen[o.Tool] {
			continue
		}
		seen[o.Tool] = true
		r := Result{Tool: wording.Name(o.Tool)}
		left += o.Left
		for _, v := range o.Result {
			last := member(v.Name)
			if last == "" || last == "name" || isID(last) || !scalar(v) || room == 0 {
				left++
				continue
			}
			f := Fact{Value: wording.Visible(v.Text()), Path: wording.Visible(v.Name)}
			_, f.Value = labelled(last, f.Value)
			if f.Label = wording.Name(last); named(o, last) > 1 {
				f.Label, f.Path = f.Path, ""
			}
			r.Facts = append(r.Facts, f)
			room--
		}
		if len(r.Facts) > 0 {
			list = append(list, r)
		}
	}
	return list, left
}

// member returns the name of the member that a pointer ends in.
func member(pointer string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[strings.LastIndexByte(pointer, '/')+1:])
}

// named returns how many values of a result have a name.
func named(o record.Observed, name string) (n int) {
	for _, v := range o.Result {
		if member(v.Name) == name {
			n++
		}
	}
	return n
}

// scalar reports whether a value is a whole number, text or boolean.
func scalar(v record.Argument) bool {
	return len(v.Value) > 0 && v.Value[0] != '{' && v.Value[0] != '['
}

func isID(name string) bool { return name == "id" || strings.HasSuffix(name, "_id") }
