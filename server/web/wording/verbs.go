package wording

import (
	"strings"
	"sync"
)

// verbs are verbs of business calls by their gerunds. A title needs the verb itself, and English has no safe rule for it: "deleting"
// loses more than "ing", "putting" too, and "adding" does not.
var verbs = sync.OnceValue(func() map[string]string {
	return byGerund(`accept add allow apply approve archive ask assign attach authorize ban block book buy call cancel change charge check
	clear close collect commit confirm copy create credit debit decline delete deliver deploy disable discount download drop edit email
	emit enable enroll escalate estimate exchange execute export extend fetch file fill find finish forward get give grant import increase
	inform insert install invite invoice issue label launch leave list load lock log look make mark merge message move notify open order
	pause pay place post process promote publish pull purchase push put raise read rebook recharge record redeem redirect reduce refund
	register reject release remind remove rename renew reopen repair replace reply report request reschedule reserve reset resolve restart
	restore resume retry return reverse review revoke roll rotate run save schedule search sell send set settle share ship show sign skip
	start stop store submit subscribe suspend switch sync tag terminate test transfer trigger turn unblock unlock unsubscribe update upgrade
	upload validate verify void withdraw write`)
})

// doubled are verbs of which the last letter is written twice before "ing".
var doubled = " ban cancel commit emit get label log put reset run set ship skip stop submit tag transfer "

// byGerund returns verbs by their gerunds.
func byGerund(list string) map[string]string {
	known := map[string]string{}
	for _, verb := range strings.Fields(list) {
		stem := verb
		switch {
		case strings.Contains(doubled, " "+verb+" "):
			known[verb+"ing"] = verb // "canceling" beside "cancelling"
			stem = verb + verb[len(verb)-1:]
		case strings.HasSuffix(verb, "e") && !strings.HasSuffix(verb, "ee"):
			stem = strings.TrimSuffix(verb, "e")
		}
		known[stem+"ing"] = verb
	}
	return known
}
