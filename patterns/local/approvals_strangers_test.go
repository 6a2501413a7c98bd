package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// An answer to what a run never asked is taken by nobody: the run must rest all the same, and not be taken up for ever.
func TestAnswerToNothingAsked(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	n := local.Number(q.Question.Run)
	e.Alter(t, `INSERT INTO approvals (ap, n, seq, rule, digest, since, expires, shown, state, answer)
		VALUES (1, ?, 1, 'x', 'x', 1, 1, CAST('{}' AS BLOB), 'answered', CAST('{}' AS BLOB))`, n)
	e.Alter(t, "UPDATE runs SET state = 'ready', epoch = epoch + 1 WHERE n = ?", n)
	if s, _ := e.Operator().Run(q.Question.Run); strings.Contains(s.Current.Doing, "decided") {
		t.Errorf("the run is said to do: %s", s.Current.Doing)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	list, err := e.Operator().Resume(ctx, q.Question.Run)
	if err != nil || len(list) != 1 || list[0].State != patterns.Parked || list[0].Ended.Waiting.Approval != q.ID {
		t.Fatalf("Resume = %+v, %v; want the run to wait for %s", list, err, q.ID)
	}
	if s, _ := e.Operator().Run(q.Question.Run); s.State != patterns.Parked {
		t.Errorf("the run is %s in the file, want %s", s.State, patterns.Parked)
	}
	if got, err := e.Approvals().Decide(say(q, gateway.ChooseReject, nil)); err != nil || got.State != patterns.AskedDecided {
		t.Errorf("Decide = %s, %v", got.State, err)
	}
}

// What a question is about is said by the tool that its call was judged by, not by what stands in the row: who could write
// words or a schema there would have people approve another call than they think.
func TestWordsWrittenByOthers(t *testing.T) {
	t.Parallel()
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	newOutsider(t, path).writes(`UPDATE approvals SET schema = CAST('{"type":"object"}' AS BLOB),
		shown = CAST('{"phase":"human_approval","phrase":"refunding 1.00 USD","effect":"read","args_hash":"000000000000"}' AS BLOB)`)
	got, err := e.Approvals().Approval(q.ID)
	if err != nil || got.Phrase != "refunding 1200.00 USD to user 42" || got.Effect != catalog.Write || got.ArgsHash != q.ArgsHash {
		t.Errorf("it is said to be %q, %s, %s (%v); want it as it was asked", got.Phrase, got.Effect, got.ArgsHash, err)
	}
	if len(got.Schema) > 0 {
		t.Errorf("the schema is %s", got.Schema)
	}
	var bad *patterns.BadEdit
	edit := say(got, gateway.ChooseEdit, object{"user_id": 42.0, "amount_usd": 800.0, "reason": "late", "to": "mallory"})
	if _, err := e.Approvals().Decide(edit); !errors.As(err, &bad) {
		t.Errorf("Decide(arguments that the tool does not take) = %v, want a BadEdit", err)
	}
	for name, c := range map[string]*catalog.Catalog{"none": nil, "another schema": otherRefunds(t)} {
		e.Catalog = c
		if got, err := e.Approvals().Approval(q.ID); err != nil || got.Phrase != "issue_refund" || got.Effect != "" {
			t.Errorf("catalog %s: it is said to be %q, %s, %v; want the tool's name alone", name, got.Phrase, got.Effect, err)
		}
	}
}

// otherRefunds is a catalog whose issue_refund takes something else.
func otherRefunds(t *testing.T) *catalog.Catalog {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"amount_usd":{"type":"number"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(catalog.Tool{
		Name: "issue_refund", Effect: catalog.Read, Input: input, Phrase: "looking at {amount_usd}",
		Do: func(context.Context, catalog.Call) (any, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A row of other types cannot be written: it would be an error to all who list the questions of all runs.
func TestRowsOfOtherTypes(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	o := newOutsider(t, path)
	for name, statement := range map[string]string{
		"approvals": "UPDATE approvals SET digest = x'00'",
		"answers":   "UPDATE approvals SET state = 'answered', answer = '{}'",
		"keys":      "INSERT INTO keys (id, name, public, enrolled, signed_by, nonce, signature) VALUES (x'00', 'n', x'00', 1, '', '', '')",
		"acts":      "INSERT INTO acts VALUES (x'00', 1)",
		"sign-ins":  "INSERT INTO signins VALUES (x'00', 'soon')",
		"state":     "UPDATE state SET id = x'00'",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := o.db.Exec(statement); err == nil {
				t.Errorf("%s was done", statement)
			}
			page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{})
			if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != q.ID {
				t.Errorf("ListApprovals = %+v, %v; want the question", page, err)
			}
		})
	}
}

// A question whose run was cancelled was not left unanswered, however long ago that is.
func TestCancelledQuestionStaysOver(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	if _, err := e.Cancel(t.Context(), "local:1", q.Question.Run, patterns.Note{By: "local:1"}); err != nil {
		t.Fatal(err)
	}
	over(t, e, q.Question.Run)
	e.Ahead(2 * time.Hour)
	if got, err := e.Approvals().Approval(q.ID); err != nil || got.State != patterns.AskedOver {
		t.Errorf("after its expiry the question is %s, %v; want %s", got.State, err, patterns.AskedOver)
	}
}

// What was decided is shown when its run has ended and dropped what it hides, and hides nobody else's questions.
func TestDecisionsOfRunsThatHidValues(t *testing.T) {
	const secret = "the-secret-of-anna"
	path, job := newState(t), inbox(t, "", lookUp, object{"kind": "tool", "name": "issue_refund", "args": object{
		"user_id": 42.0, "amount_usd": 1200.0, "reason": secret}}, final)
	job.Redact = []string{"/args/reason"}
	e := redacting(t, path, jobs{job.Spec.Name: job}, job.Redact)
	e.Go()
	q := waits(t, e, job)
	d := say(q, gateway.ChooseEdit, object{"user_id": 42.0, "amount_usd": 800.0, "reason": secret})
	d.Comment = "she said " + secret
	if _, err := e.Approvals().Decide(d); err != nil {
		t.Fatal(err)
	}
	over(t, e, q.Question.Run)
	got, err := e.Approvals().Approval(q.ID)
	if err != nil || got.State != patterns.AskedDecided || got.Digest != q.Digest || got.Given == nil {
		t.Fatalf("Approval = %+v, %v; want what was decided", got, err)
	}
	g := got.Given
	if g.Choice != gateway.ChooseEdit || g.Assurance != gateway.UserAssurance || g.By != d.By || g.Channel != "cli" || g.Args["amount_usd"] != 800.0 || g.Comment != "" {
		t.Errorf("it was decided %+v", g)
	}
	if text := string(gateway.Question{Args: g.Args}.Object()) + string(got.Question.Object()); strings.Contains(text, secret) {
		t.Errorf("what is hidden is shown: %s", text)
	}
	other := waits(t, e, job)
	page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{All: true})
	if err != nil || len(page.Rows) != 2 || page.Rows[0].ID != other.ID || page.Rows[1].Given == nil {
		t.Errorf("ListApprovals = %+v, %v; want both questions", page, err)
	}
}

// How an answer came is one of our words, whatever somebody wrote into the row.
func TestChannelIsOurWord(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	d := say(q, gateway.ChooseApprove, nil)
	e.AnswerRow(t, q.ID, d.Object(), nil, "")
	e.Alter(t, "UPDATE approvals SET channel = ?", "page, which was \x1b[1mchecked")
	got, err := e.Approvals().Approval(q.ID)
	if err != nil || got.Given == nil || got.Given.Channel != "none" {
		t.Errorf("Approval = %+v, %v; want the channel none", got.Given, err)
	}
}
