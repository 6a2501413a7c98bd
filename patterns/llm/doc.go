// Package llm holds the models that propose: a language model behind an OpenAI-compatible server, and rules that need
// none. Both are a [patterns.Model]; what they answer is text from outside, which only the gateway reads.
//
//	             ┌─ OpenAI ──▶ POST {base}/chat/completions ──▶ message content
//	Question ────┤     └─ again on 429, 5xx and broken connections, within the run's time and requests
//	             └─ Rules ───▶ goal, schemas, observations ──▶ the same JSON, deterministic, offline
//	             ▼
//	Answer{Text, Usage} or *ModelFault{Reason}
//
// A model that gives no answer says why in one of a closed list of words (spec patterns.md section 0, "Model faults"):
// llm_timeout, llm_unreachable, llm_error:auth, rate_limit, server, bad_request, refused or no_choices. No error holds
// a key; a fault's cause, which is for the log, may quote the first 300 bytes of what a server said.
//
// The prompts are the product's own, one for each pattern's decision and one for each final text; see [PlanPrompt].
package llm
