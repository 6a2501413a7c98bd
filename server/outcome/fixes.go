package outcome

import (
	"strings"
	"unicode/utf8"

	"patterngate/gateway/document"
	"patterngate/ijson/printable"
	"patterngate/server/sentence"
)

// decisions lists each place that no suggestion can fix, with what to do there. It counts the places that do not fit in the text.
func decisions(problems []document.Problem) string {
	const room = 60
	said := fixThese
	for i, p := range problems {
		next := fixPlace(placeName(p), decision(p))
		if i > 0 && utf8.RuneCountInString(said+next) > sentence.MaxLength-room {
			return said + morePlaces(sentence.Count(len(problems)-i, "place"))
		}
		said += next
	}
	return sentence.AtMost(said, sentence.MaxLength)
}

// placeName names the place of a problem for people.
func placeName(p document.Problem) string {
	if p.Pointer == "" {
		return wholeCall
	}
	return printable.Text(sentence.AtMost(string(p.Pointer), 2*printable.MaxName))
}

// decision returns what to do about one place: the choice that the caller has, or the value that is needed there.
func decision(p document.Problem) string {
	want := printable.Text(strings.TrimSuffix(p.Want, "."))
	switch {
	case p.Choose == "" && want == "":
		return changeOrRemove
	case p.Choose == "":
		return mustBe(sentence.AtMost(want, maxWanted))
	case want == "":
		return p.Choose
	}
	return chooseFrom(p.Choose, sentence.AtMost(want, maxWanted))
}

// maxWanted is how many characters of the needed value a decision shows.
const maxWanted = 160
