package emulators

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/stack"
	"decant.dev/recipes/issues"
)

// desk is the stack of the emulator's resources, as a person works with it.
func (c *cloud) desk(t *testing.T) *stack.Stack {
	t.Helper()
	s, err := stack.New(aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: &c.url}, map[string]string{
		"RunsTableName": "Runs", "GrantsTableName": "Grants", "ApprovalsTableName": "Approvals", "ApproveFunctionName": "approve", "StateMachineArn": c.machine,
	}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A person finds the run that waits, is refused unless they are asked, and
// approves just what they were shown.
func TestAPersonAnswersAStacksRun(t *testing.T) {
	testCredentials(t)
	c := open(t)
	s := c.desk(t)
	envelope := c.deliver(t, spam(204))
	id := envelope["run"].(string)
	if a, _ := c.carry(t, envelope); a["status"] != "waiting" {
		t.Fatalf("got %v", a)
	}
	found, err := s.Find(t.Context(), id[:12])
	if err != nil || len(found) != 1 || found[0].Run != id || found[0].Status != pipeline.Waiting {
		t.Fatalf("got %+v, %v", found, err)
	}
	waiting, err := s.Runs(t.Context(), pipeline.Waiting, 100)
	if err != nil || len(waiting) == 0 {
		t.Fatalf("got %d, %v", len(waiting), err)
	}
	q, asked, err := s.Question(t.Context(), id)
	if err != nil || !asked {
		t.Fatalf("got %t, %v", asked, err)
	}
	answer := func(binding, person string) (approval.State, error) {
		return s.Answer(t.Context(), id, binding, person, approval.Approve)
	}
	if _, err := answer(q.Binding, "github:45"); !errors.Is(err, approval.WrongPerson) {
		t.Errorf("a stranger: got %v", err)
	}
	if changed, err := s.Grants().Add(t.Context(), pipeline.Grant{Person: "github:46", Channel: approval.Channel("issues")}); !changed || err != nil {
		t.Fatalf("got %t, %v", changed, err)
	}
	if _, err := answer(issues.Recipe.Digest(), "github:46"); !errors.Is(err, approval.OtherThing) {
		t.Errorf("something else: got %v", err)
	}
	if state, err := answer(q.Binding, "github:46"); state != approval.Approved || err != nil {
		t.Errorf("got %s, %v", state, err)
	}
	if a, _ := c.carry(t, envelope); a["status"] != "done" || len(c.rows(t, id)) != 1 {
		t.Errorf("got %v and %d rows", a, len(c.rows(t, id)))
	}
}

// A paused recipe is refused at its admission, and a pause is no grant.
func TestAStacksRecipeIsPausedAtOnce(t *testing.T) {
	testCredentials(t)
	c := open(t)
	g := c.desk(t).Grants()
	envelope := c.deliver(t, opened(205, 7001, "The exporter crashes", report))
	for _, paused := range []bool{true, false} {
		if err := g.Pause(t.Context(), "issues", paused); err != nil {
			t.Fatal(err)
		}
		want := "ok"
		if paused {
			want = string(pipeline.Paused)
		}
		if a, _ := c.invoke(t, "act", object{"envelope": envelope}); a["verdict"] != want {
			t.Errorf("paused %t: got %v", paused, a)
		}
		all, err := g.List(t.Context())
		for _, one := range all {
			if one.Person == "issues" || one.Channel == "paused" || err != nil {
				t.Errorf("got the grant %+v, %v", one, err)
			}
		}
	}
}

// A run that has ended is started once more, under another name.
func TestAStacksRunIsTriedAgain(t *testing.T) {
	testCredentials(t)
	c := open(t)
	envelope := c.deliver(t, opened(206, 7001, "The exporter crashes", report))
	env, err := pipeline.DecodeEnvelope([]byte(text(t, envelope)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.desk(t).Again(t.Context(), env, issues.Recipe.Digest()); err != nil {
		t.Error(err)
	}
	if err := c.desk(t).Again(t.Context(), pipeline.Envelope{}, ""); err == nil {
		t.Error("an envelope that does not hold is started")
	}
}

func TestAStackOfSomethingElseIsRefusedByWhatItLacks(t *testing.T) {
	t.Parallel()
	if _, err := stack.New(aws.Config{}, map[string]string{"RunsTableName": "Runs"}, time.Now); err == nil {
		t.Error("got none, want an error that names an output")
	}
	for _, bad := range []string{"", "a b", "-x", "a/b"} {
		if _, err := stack.Open(t.Context(), bad, time.Now); err == nil {
			t.Errorf("%q: got none", bad)
		}
	}
}
