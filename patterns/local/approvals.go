package local

import (
	"context"
	"errors"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

var errTODO = errors.New("local: not built yet")

// Approvals are the questions that runs of the state put to people. In memory there are none.
func (e *Engine) Approvals() patterns.Approvals { return approvals{e} }

type approvals struct{ *Engine }

func (approvals) ListApprovals(patterns.ApprovalFilter) (patterns.ApprovalPage, error) {
	return patterns.ApprovalPage{}, errTODO
}
func (approvals) WaitingApprovals() (int, error)                  { return 0, errTODO }
func (approvals) Approval(string) (patterns.Asked, error)         { return patterns.Asked{}, errTODO }
func (approvals) FindApproval(string) (string, error)             { return "", errTODO }
func (approvals) Decide(patterns.Decided) (patterns.Asked, error) { return patterns.Asked{}, errTODO }
func (approvals) Keys() (gateway.Ring, error)                     { return gateway.Ring{}, errTODO }
func (approvals) Enroll(gateway.PublicKey) error                  { return errTODO }
func (approvals) RemoveKey(string, gateway.SignedAct) error       { return errTODO }
func (approvals) OfferSignIn([32]byte, time.Time) error           { return errTODO }
func (approvals) SignIn([32]byte) (bool, error)                   { return false, errTODO }
func (approvals) StateID() (string, error)                        { return "", errTODO }

var _ patterns.Owner = Operator{}

// Changed implements [patterns.Owner].
func (o Operator) Changed(ctx context.Context, since uint64) ([]string, uint64) {
	<-ctx.Done()
	return nil, since
}
