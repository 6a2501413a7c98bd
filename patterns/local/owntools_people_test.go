package local_test

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A person may change what is proposed of a call, and not what the configuration sets, which they see beside it.
func TestPeopleEditBesideWhatIsFixed(t *testing.T) {
	var sent []map[string]any
	s := &service{turns: []func(context.Context, catalog.Call) (any, error){func(_ context.Context, c catalog.Call) (any, error) {
		sent = append(sent, c.Args)
		return object{"id": "1"}, nil
	}}}
	job := s.ownJob(t, gateway.Call, func(own *catalog.Tool) {
		own.Effect = catalog.Write
		own.Fixed = map[string]any{"account": "main", "token": "***"}
		own.Input = compiledUpstream(t, `{"type":"object","properties":{"n":{"type":"integer"},"to":{"type":"string","pattern":"^(?!x)"}},"additionalProperties":false}`)
	})
	job.Spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
	})
	job.Spec.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
	e := opened(t, newState(t), jobs{job.Spec.Name: job})
	e.Catalog = job.Spec.Catalog
	e.Go()
	q := waits(t, e, job)
	changed := func(name string, v any) map[string]any {
		args := maps.Clone(q.Question.Args)
		args[name] = v
		return args
	}
	for name, v := range map[string]any{"account": "other", "token": "mine", "more": 1.0, "n": "2"} {
		_, err := e.Approvals().Decide(say(q, gateway.ChooseEdit, changed(name, v)))
		if bad, ok := errors.AsType[*patterns.BadEdit](err); !ok || !hasPointer(bad.Problems, "/args/"+name) || len(bad.Problems) != 1 {
			t.Errorf("another %s: Decide gave %+v, want one problem there", name, err)
		}
	}
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseEdit, changed("n", 2.0))); err != nil {
		bad, _ := errors.AsType[*patterns.BadEdit](err)
		t.Fatalf("another n: %v %+v", err, bad)
	}
	if r := over(t, e, q.Question.Run).Result; !r.OK() || len(sent) != 1 || sent[0]["n"] != 2.0 || sent[0]["account"] != "main" {
		t.Errorf("the run stopped for %s, and sent %v", r.StopReason, sent)
	}
}

func compiledUpstream(t testing.TB, text string) *catalog.Schema {
	t.Helper()
	schema, err := catalog.CompileUpstream([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

var argsHashes = regexp.MustCompile(`"args_hash": ?"([^"]*)"`)

// What traces and histories call the arguments is what was judged and made: defaults put in, nothing that is fixed.
func TestArgsHashIsThatOfTheCall(t *testing.T) {
	want := ijson.ArgsHash(object{"n": 1.0, "m": 5.0})
	for _, kind := range ownKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := &service{}
			job := s.ownJob(t, kind, func(own *catalog.Tool) {
				own.Input = compiledUpstream(t, `{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"integer","default":5}},"additionalProperties":false}`)
				own.Defaults, own.Fixed = map[string]any{"m": 5.0}, map[string]any{"account": "main"}
			})
			r := livedOut(t, job, &local.Engine{})
			found := argsHashes.FindAllStringSubmatch(asJSON(t, r), -1)
			if !r.OK() || len(found) == 0 {
				t.Fatalf("it ended by %s: %s", r.StopReason, asJSON(t, r))
			}
			for _, m := range found {
				if m[1] != want {
					t.Errorf("an args_hash is %s, want %s, in %s", m[1], want, asJSON(t, r))
				}
			}
		})
	}
}
