// Package openai asks a language model behind an OpenAI-compatible server. Its [Client] is a [patterns.Model]: it takes a
// question and returns the text that the model wrote, which only the gateway reads.
//
//	Question ──▶ prompt and payload ──▶ POST {base}/chat/completions ──▶ Answer{Text, Usage}
//	                                       │ again on 429, 5xx and broken connections,
//	                                       │ within the run's time and requests
//	                                       └──────────────────────────▶ *ModelFault{Reason}
//
// A [Chain] asks the next model where one cannot be reached; a [Team] has one model decide and another one write texts.
//
// A model that gives no answer says why with one word of a closed list (spec patterns.md section 0, "Model faults"):
// llm_timeout, llm_unreachable, llm_error:auth, rate_limit, server, bad_request, refused or no_choices. No error holds
// a key. A fault's cause is for the log and may quote the first 300 bytes of what a server said.
//
// Read openai.go first.
package openai
