package english

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is one word of a text: a run of letters and digits.
type Token struct {
	Low        string // in lower case
	Stem       string
	Start, End int // bytes in the text
}

// WordsOf splits a text into words. One letter and a hyphen belong to the word that follows (e-mail is email), and
// don't is one word.
func WordsOf(text string) []Token {
	list := make([]Token, 0, len(text)/4+1) // more than most texts have
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !InWord(r) {
			i += size
			continue
		}
		end := wordEnd(text, i)
		low := lower(text[i:end])
		list = append(list, Token{Low: low, Stem: Stem(low), Start: i, End: end})
		i = end
	}
	return list
}

func InWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordEnd(text string, start int) int {
	end := start
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if InWord(r) {
			end += size
			continue
		}
		rest := text[end+size:]
		switch {
		case r == '-' && end == start+1 && StartsWithLetter(text[start:]) && StartsWithLetter(rest): // e-mail
		case (r == '\'' || r == '’') && strings.HasPrefix(rest, "t") && !StartsWithLetter(rest[1:]): // don't
		default:
			return end
		}
		end += size
	}
	return end
}

func StartsWithLetter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

// lower is the text in lower case without what joins a word's parts.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if InWord(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// NameWords splits a name at underscores, hyphens and capitals inside it: get_boat_costs, getBoatCosts.
func NameWords(name string) []Token {
	var spaced strings.Builder
	previous := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			spaced.WriteByte(' ')
		}
		if r == '-' { // here it parts words
			r = ' '
		}
		spaced.WriteRune(r)
		previous = r
	}
	return WordsOf(spaced.String())
}

// Readable is a name as people write it: "boat costs" for boat_costs.
func Readable(name string) string {
	parts := NameWords(name)
	texts := make([]string, len(parts))
	for i, w := range parts {
		texts[i] = w.Low
	}
	return strings.Join(texts, " ")
}

// suffixes are what is cut off a word, the longest first, with the letters that must be left.
var suffixes = []struct {
	ending string
	left   int
}{
	{"ication", 4}, {"ability", 4}, {"ibility", 4}, {"ation", 4}, {"able", 4}, {"ible", 4}, {"ment", 3}, {"ness", 4},
	{"ing", 3}, {"ion", 3}, {"ed", 3}, {"er", 4}, {"or", 4}, {"ly", 4}, {"al", 4}, {"ic", 5},
}

// Stem brings the forms of an English word together, roughly: deliveries, delivery and delivered are one. It need not be
// a word itself. Words of up to three letters and words of other alphabets stay as they are.
func Stem(low string) string {
	if root, ok := irregular[low]; ok {
		return root
	}
	if len(low) <= 3 || low[len(low)-1] >= utf8.RuneSelf || IsDigits(low) {
		return low
	}
	s := singular(low)
	for range 3 { // cancellations: cancellation, cancell
		shorter := shorten(s)
		if shorter == s {
			break
		}
		s = shorter
	}
	if len(s) >= 4 && s[len(s)-1] == 'e' {
		s = s[:len(s)-1]
	}
	if strings.HasSuffix(s, "ll") {
		s = s[:len(s)-1]
	}
	return s
}

func singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return s[:len(s)-3] + "y"
	case hasEnding(s, "sses", "xes", "ches", "shes", "zes"):
		return s[:len(s)-2]
	case strings.HasSuffix(s, "s") && !hasEnding(s, "ss", "us", "is"):
		return s[:len(s)-1]
	}
	return s
}

func shorten(s string) string {
	for _, x := range suffixes {
		rest, ok := strings.CutSuffix(s, x.ending)
		if !ok || len(rest) < x.left || !strings.ContainsAny(rest, "aeiouy") {
			continue
		}
		if x.ending == "ion" && !hasEnding(rest, "s", "t") {
			continue
		}
		if root, ok := strings.CutSuffix(rest, "i"); ok && x.ending == "ed" { // notified, notify
			return root + "y"
		}
		return undouble(rest)
	}
	if n := len(s); n >= 5 && s[n-1] == 'y' && !strings.ContainsRune("aeiou", rune(s[n-2])) {
		return s[:n-1]
	}
	return s
}

// undouble makes planned and plan one, but leaves full, miss and buzz.
func undouble(s string) string {
	n := len(s)
	if n >= 4 && s[n-1] == s[n-2] && !strings.ContainsRune("aeioulsz", rune(s[n-1])) {
		return s[:n-1]
	}
	return s
}

func hasEnding(s string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}

func IsDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// irregular are forms that endings do not explain, with their stems.
var irregular = map[string]string{
	"bought": "buy", "broke": "break", "broken": "break", "brought": "bring", "children": "child", "daily": "day",
	"drove": "driv", "driven": "driv", "gave": "giv", "given": "giv", "got": "get", "held": "hold", "kept": "keep",
	"lent": "lend", "lost": "los", "made": "mak", "met": "meet", "paid": "pay", "people": "person",
	"sent": "send", "shown": "show", "sick": "sick", "sold": "sel", "spent": "spend", "taken": "tak", "took": "tak",
	"told": "tel", "wrote": "writ", "written": "writ",
}

// Dull are words that say nothing about what is wanted: grammar, courtesy, asking and looking, and parts of dates.
var Dull = SetOf(`a about actually again ago all also am an and any anybody anyone anything anywhere are as asap ask asked asks at
 back be because been before being but by call came can cant come complete could data day days details did do does doing done dont down
 each either else entire every everybody everyone everything evening few fetch find first for from full general get gets give go going good got great had
 has have he hello help her here hers hey hi him his how i id if im in info information instead into is isnt it its just keep
 know last later let like list ll look looking lot make makes many may me month morning much must my name need needs never new
 next no not now number numbers figure figures of off ok on once one only or other our ours out over overall own per please pls pull put quick quickly re really right s
 say second see send sent she short should show so some somebody someone soon still such sure t take tell than thank thanks that the
 their them then there these they thing things this those through time to today together tomorrow tonight too two under until up
 us use using usual ve very via view wait want wants was way we week well went were what whats when where whether which while who whole whom
 whose why will with within without wont would year yes yesterday yet you your
 gbp eur usd chf dollar dollars euro euros pound pounds percent`)

// Broad are the stems of words that ask for the whole picture instead of one thing.
var Broad = StemsOf(`report summary summarise summarize overview briefing recap digest rundown snapshot status state stats`)

// totals ask for the whole picture, too, where no word before them says of what: the numbers, but not sales figures.
var totals = SetOf(`numbers figures`)

// Undertakings name the whole of a business, and no part of it.
var Undertakings = StemsOf(`business company organisation organization operations ops firm`)

// Kin are words of everyday business that are often used for each other; such a word counts for less than the word itself.
var Kin = kinOf(
	`email mail letter message text sms notice notify notification inform remind reminder alert`,
	`customer client user shopper`,
	`revenue sales turnover income earnings`,
	`cost costs price spend expense expenses`,
	`payment pay money cash`,
	`reserve reservation hold`,
	`cancel delete remove terminate`,
	`car vehicle van truck lorry`,
	`stock inventory supply supplies`,
	`bill invoice`,
	`refund reimburse reimbursement repay`,
	`error bug crash failure fault outage incident malfunction`,
	`staff employee personnel colleague worker`,
	`holiday vacation leave`,
	`calendar diary schedule agenda timetable`,
	`medicine medication drug medicament`,
	`fix repair mend`,
	`deliver delivery ship shipment shipping parcel package consignment dispatch`,
	`doctor physician clinician`,
	`change update modify edit amend adjust`,
	`extend renew renewal prolong`,
	`waive forgive`,
	`buy purchase`,
	`risk danger hazard warning`,
	`complaint complain grievance`,
	`login signin password`,
	`meeting appointment`,
	`guest visitor attendee`,
	`quote quotation estimate offer`,
	`available availability free vacant`,
	`address location`,
)

func SetOf(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

func StemsOf(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[Stem(w)] = true
	}
	return set
}

// kinOf gives each stem the name of its family; a word belongs to the first family that lists it.
func kinOf(families ...string) map[string]string {
	of := map[string]string{}
	for _, family := range families {
		head, _, _ := strings.Cut(family, " ")
		for w := range strings.FieldsSeq(family) {
			if _, there := of[Stem(w)]; !there {
				of[Stem(w)] = "~" + head
			}
		}
	}
	return of
}
