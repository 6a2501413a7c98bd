package envelope

import "patterngate/server/sentence"

// Block holds what the policy said about the call at which a run stopped. It has the rule, its text for people, and the
// values that made it true.
type Block struct {
	Tool      string         `json:"tool"`
	Rule      string         `json:"rule,omitempty"`
	Reason    string         `json:"reason"`
	Text      string         `json:"text,omitempty"` // the rule's text for people
	Values    map[string]any `json:"values,omitempty"`
	Need      []string       `json:"need,omitempty"`
	Retryable bool           `json:"retryable,omitempty"` // the same call may be approved later
	Passes    int            `json:"passes,omitempty"`
}

// appendBlocked appends what the policy said about the call at which the run stopped.
func (e *Envelope) appendBlocked(dst []byte) []byte {
	if e.Block == nil {
		return dst
	}
	dst = append(dst, "BLOCK "...)
	at := len(dst)
	dst, _ = AppendJSON(dst, e.Block) // structuredContent has the same value and reports its errors
	return append(revealed(dst, at), '\n')
}

// squeezed returns a copy of the block with short texts and values. It returns nil for nil.
func (b *Block) squeezed(bytes int) *Block {
	if b == nil {
		return nil
	}
	less := *b
	less.Tool, less.Rule = sentence.Short(b.Tool, bytes), sentence.Short(b.Rule, bytes)
	less.Reason, less.Text = sentence.Short(b.Reason, bytes), sentence.Short(b.Text, bytes)
	less.Values = squeezedArgs(b.Values, bytes)
	less.Need = b.Need[:min(len(b.Need), bytes)]
	return &less
}
