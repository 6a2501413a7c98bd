package journal

import (
	"bytes"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxBody is how long a body may be that is read back, in bytes.
const maxBody = 64 << 20

// Decode reads what replay needs of a stored body. Nil is none of it.
func Decode(kind patterns.EventKind, text []byte) (any, error) {
	if kind == patterns.LateEvent || kind == patterns.JudgedEvent && !bytes.Contains(text, []byte(`"`+WindowsMember+`":`)) {
		return nil, nil
	}
	v, err := DecodeTrusted(text)
	if err != nil {
		return nil, err
	}
	obj, _ := v.(map[string]any)
	word := func(name string) string { s, _ := obj[name].(string); return s }
	switch kind {
	case patterns.StartEvent:
		b := StartBody{RunID: word("run_id"), Pattern: word("pattern"), Kind: word("pattern_kind"), Principal: word("principal"), Config: word("config")}
		b.Arguments, _ = obj["arguments"].(map[string]any)
		client, _ := obj["client"].(map[string]any)
		b.Client, _ = client["name"].(string)
		b.ClientVersion, _ = client["version"].(string)
		b.Era, _ = client["era"].(string)
		b.Parent = decodeParent(obj["parent"])
		code, _ := obj["code"].(float64)
		b.Code = int(code)
		return b, nil
	case patterns.IntentEvent:
		b := IntentBody{Kind: patterns.EffectKind(word("effect_kind")), Name: word("name"), Once: word("idempotency_key"), Effect: word("effect")}
		if input, ok := obj["input"]; ok {
			b.Input = ijson.Canonical(input)
		}
		b.Grant, b.Share = word("grant"), word("share")
		if asked, ok := obj["object"].(map[string]any); ok {
			until, _ := asked["expires"].(string)
			b.Until, _ = time.Parse(time.RFC3339, until)
			least, _ := asked["assurance"].(string)
			b.Assurance = gateway.Assurance(least)
		}
		return b, nil
	case patterns.OutcomeEvent:
		return DecodeOutcome(obj), nil
	case patterns.JudgedEvent:
		return JudgedBody(obj), nil
	case patterns.NoteEvent:
		return NoteBody{What: word("what")}, nil
	case patterns.EndEvent:
		b := EndBody{Status: word("status"), StopReason: word("stop_reason"), Phase: word("phase")}
		if envelope, ok := obj["envelope"]; ok {
			b.Envelope = ijson.Canonical(envelope)
		}
		return b, nil
	}
	return nil, nil
}

func decodeParent(v any) *patterns.Parent {
	obj, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	p := &patterns.Parent{Share: patterns.ReadShare(obj["share"])}
	p.RunID, _ = obj["run_id"].(string)
	p.Key, _ = obj["key"].(string)
	names, _ := obj["within"].([]any)
	for _, v := range names {
		name, _ := v.(string)
		p.Within = append(p.Within, name)
	}
	return p
}

func DecodeOutcome(obj map[string]any) OutcomeBody {
	word := func(v any) string { s, _ := v.(string); return s }
	b := OutcomeBody{State: patterns.State(word(obj["state"])), Reason: word(obj["reason"]), Output: obj["output"]}
	b.Again, _ = obj["again"].(bool)
	b.Child = word(obj["child_run_id"])
	if calls, ok := obj["calls"].(float64); ok {
		b.Calls = int(calls)
	}
	if after, ok := obj["after_seconds"].(float64); ok {
		b.After = time.Duration(after * float64(time.Second))
	}
	if b.Output != nil {
		b.Bytes = ExtentOf(b.Output, len(ijson.Canonical(b.Output)))
	}
	if usage, ok := obj["usage"].(map[string]any); ok {
		b.Usage = decodeUsage(usage)
		models, _ := usage["models"].([]any)
		for _, v := range models {
			row, _ := v.(map[string]any)
			b.Models = append(b.Models, patterns.ModelUsage{Model: word(row["model"]), Usage: decodeUsage(row)})
		}
	}
	return b
}

func decodeUsage(v map[string]any) patterns.Usage {
	count := func(name string) int { n, _ := v[name].(float64); return int(n) }
	cost, _ := v["cost_usd"].(float64)
	return patterns.Usage{Requests: count("llm_calls"), InputTokens: count("input_tokens"), OutputTokens: count("output_tokens"), CostUSD: cost}
}

// ExtentOf is how many bytes an observation's whole text has of which this is recorded: what the mark of a beginning says, also
// where another than this program made it, and never less than it has itself.
func ExtentOf(observation any, own int) int {
	said, _, _ := patterns.Beginning(observation)
	return max(own, said)
}
