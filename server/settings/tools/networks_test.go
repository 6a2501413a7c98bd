package tools_test

import (
	"net/netip"
	"testing"

	"patterngate/server/settings/tools"
)

// What is allowed already stays in the line to write: a list in the file replaces nothing else.
func TestClosedAddressKeepsWhatIsAllowed(t *testing.T) {
	allow := []netip.Prefix{netip.MustParsePrefix("192.168.0.0/16")}
	if closed := tools.ClosedHostOf("http://127.0.0.1/", allow); closed == nil || closed.Remedy(allow) != `write allow_networks: ["192.168.0.0/16", "127.0.0.1/32"] in catalog` {
		t.Errorf("closedHostOf = %+v", closed)
	}
	if closed := tools.ClosedHostOf("http://192.168.3.4/", allow); closed != nil {
		t.Errorf("an allowed address: %+v", closed)
	}
}
