package approvals

import (
	"context"
	"regexp"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/signing"
)

// keyID matches the id of an approver key.
var keyID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// signs reports whether the answer needs a signature: only signed answers count, --key names a key, or the question
// requires one.
func (c *deciding) signs(ring gateway.Ring, asked patterns.Asked) bool {
	return c.key != "" || ring.Counts(console.Now()) || asked.Least == gateway.SignedAssurance
}

// sign asks the person for the passphrase and signs the answer. The prompt shows the call above it, so people sign what
// they see.
func (c *deciding) sign(ctx context.Context, d desk, ring gateway.Ring, asked patterns.Asked, in *patterns.Decided) error {
	verb := map[gateway.Choice]string{gateway.ChooseApprove: "approve ", gateway.ChooseEdit: "approve, with these changes, ", gateway.ChooseReject: "reject "}[in.Choice]
	key, err := c.approvals.OpenKey(ctx, signing.Request{
		What: c.name() + " " + asked.ID, Does: verb + asked.ID + ", " + console.Clip(phraseOf(asked), 2*console.MaxName), Call: d.context(asked, console.Now(), c.approvals.Width()) + c.call(asked, in.Args), Ring: ring,
		Dir: approver.Dir(d.KeyDir), Key: c.key,
	})
	if err != nil {
		return err
	}
	defer key.Close()
	in.At = console.Now()
	in.Answer, in.Signature = approver.Decide(in.Answer, key)
	return nil
}
