package inbox

import (
	"context"
	"net"
	"strconv"

	"patterngate/server/settings"
)

// pagePorts is how many ports the page tries: its own, and the next ones if the page of another state file uses it.
const pagePorts = 16

// pageAddresses returns the possible addresses of the page, in the order in which they are tried.
func pageAddresses(address string) []string {
	list := []string{address}
	host, text, err := net.SplitHostPort(address)
	port, notNumber := strconv.Atoi(text)
	if err != nil || notNumber != nil || port == 0 {
		return list
	}
	for n := port + 1; n < port+pagePorts && n < 1<<16; n++ {
		list = append(list, net.JoinHostPort(host, strconv.Itoa(n)))
	}
	return list
}

// pagePlace is the address where the page of a state is, or can be.
type pagePlace struct {
	address  string
	listener net.Listener // nil: it cannot be served here
	held     holder       // what uses the address, if listener is nil
	cause    error        // the reason why it cannot be served here
}

// moved reports whether the page is not at the wanted address.
func (p pagePlace) moved(wanted string) bool {
	_, port, _ := net.SplitHostPort(wanted)
	return p.address != wanted && port != "0"
}

// findPage listens at the first free address, or finds the page that another process serves for this state. It skips
// addresses with the page of another state file. The caller closes the listener.
func findPage(ctx context.Context, wanted, state string) (p pagePlace) {
	for i, address := range pageAddresses(wanted) {
		l, had, err := listenHere(ctx, address)
		if err == nil {
			return pagePlace{address: had, listener: l}
		}
		p = pagePlace{address: address, held: whoHolds(ctx, address, state), cause: err}
		if passed := p.held == heldByOther || i > 0 && p.held == heldByStranger && portTaken(err); !passed || ctx.Err() != nil {
			return p
		}
	}
	return p
}

// At returns the page's URL for results of a process that serves no page. It returns "" if no address has this state's
// page. A free address counts, since "patterngate inbox" serves the page there: idle says that nobody serves it now.
func At(ctx context.Context, address string, state func() (string, error)) (url string, idle bool) {
	if address == settings.InboxOff || address == "" {
		return "", false
	}
	id, err := state()
	if err != nil {
		return "", false
	}
	for _, address := range pageAddresses(address) {
		switch whoHolds(ctx, address, id) {
		case heldBySame:
			return "http://" + address, false
		case heldByNobody:
			return "http://" + address, true
		case heldByStranger:
			return "", false
		}
	}
	return "", false
}
