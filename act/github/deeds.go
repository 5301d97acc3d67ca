package github

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v82/github"

	"decant.dev/act"
)

var (
	found    = act.Answer{Verdict: act.Performed, Word: "found"}
	notThere = act.Answer{Verdict: act.NotPerformed, Word: "not_found"}
)

// issue reads the issue as it stands.
func (s *Sink) issue(ctx context.Context, at place) (*gh.Issue, error) {
	i := new(gh.Issue)
	_, err := s.do(ctx, http.MethodGet, at.path(""), nil, i)
	if err == nil && i.GetNumber() != at.number {
		err = errStrange
	}
	return i, err
}

// standsOr answers of a job that leaves a state: found while it stands;
// certainly not performed where no event of ours made it; and otherwise
// nothing.
func (s *Sink) standsOr(ctx context.Context, at place, stands func(*gh.Issue) bool, made func(*gh.IssueEvent) bool) (act.Answer, error) {
	i, err := s.issue(ctx, at)
	switch {
	case err != nil:
		return act.Answer{}, err
	case stands(i):
		return found, nil
	}
	undone, whole, err := s.anyEvent(ctx, at, made)
	if err != nil || undone || !whole {
		return act.Answer{}, err
	}
	return notThere, nil
}

// ours reports whether one of our identities is behind a user. A user that
// GitHub does not name may have been ours.
func (s *Sink) ours(u *gh.User) bool { return u == nil || slices.Contains(s.Identity, u.GetID()) }

// label is a label's name. GitHub tells names apart without their case, and
// makes a label that the repository lacks.
type label string

func (l label) of(labels []*gh.Label) bool {
	return slices.ContainsFunc(labels, func(o *gh.Label) bool { return strings.EqualFold(o.GetName(), string(l)) })
}

func (l label) send(ctx context.Context, s *Sink, at place) (word, remote string, err error) {
	var labels []*gh.Label
	_, err = s.do(ctx, http.MethodPost, at.path("/labels"), map[string][]string{"labels": {string(l)}}, &labels)
	if err != nil || !l.of(labels) {
		return "", "", err
	}
	return "labelled", "", nil
}

func (l label) find(ctx context.Context, s *Sink, at place) (act.Answer, error) {
	return s.standsOr(ctx, at, func(i *gh.Issue) bool { return l.of(i.Labels) }, func(e *gh.IssueEvent) bool {
		return e.GetEvent() == "labeled" && s.ours(e.Actor) && strings.EqualFold(e.GetLabel().GetName(), string(l))
	})
}

// assign is a person's login.
type assign string

func (a assign) of(users []*gh.User) bool {
	return slices.ContainsFunc(users, func(u *gh.User) bool { return strings.EqualFold(u.GetLogin(), string(a)) })
}

// send assigns. GitHub answers 201 and leaves out in silence whom it cannot
// assign, so an answer that does not name the person is a refusal.
func (a assign) send(ctx context.Context, s *Sink, at place) (word, remote string, err error) {
	i := new(gh.Issue)
	_, err = s.do(ctx, http.MethodPost, at.path("/assignees"), map[string][]string{"assignees": {string(a)}}, i)
	switch {
	case err != nil || i.GetNumber() != at.number || i.Assignees == nil:
		return "", "", err
	case !a.of(i.Assignees):
		return "", "", errNotAssignable
	default:
		return "assigned", "", nil
	}
}

func (a assign) find(ctx context.Context, s *Sink, at place) (act.Answer, error) {
	return s.standsOr(ctx, at, func(i *gh.Issue) bool { return a.of(i.Assignees) }, func(e *gh.IssueEvent) bool {
		return e.GetEvent() == "assigned" && (s.ours(e.Assigner) || s.ours(e.Actor)) && strings.EqualFold(e.GetAssignee().GetLogin(), string(a))
	})
}

// milestone is a milestone's number. Events name it by its title, so that any
// event of ours leaves it open.
type milestone int64

func (m milestone) send(ctx context.Context, s *Sink, at place) (word, remote string, err error) {
	i := new(gh.Issue)
	_, err = s.do(ctx, http.MethodPatch, at.path(""), map[string]int64{"milestone": int64(m)}, i)
	if err != nil || i.GetNumber() != at.number || !m.of(i) {
		return "", "", err
	}
	return "put", strconv.FormatInt(int64(m), 10), nil
}

func (m milestone) of(i *gh.Issue) bool { return int64(i.GetMilestone().GetNumber()) == int64(m) }

func (m milestone) find(ctx context.Context, s *Sink, at place) (act.Answer, error) {
	return s.standsOr(ctx, at, m.of, func(e *gh.IssueEvent) bool { return e.GetEvent() == "milestoned" && s.ours(e.Actor) })
}

// closing is a state reason. An issue that is closed is as the job wants it,
// whoever closed it. One that is open, and that we have closed at some time,
// was opened again: it is not closed a second time.
type closing string

func (c closing) send(ctx context.Context, s *Sink, at place) (word, remote string, err error) {
	i := new(gh.Issue)
	_, err = s.do(ctx, http.MethodPatch, at.path(""), map[string]string{"state": "closed", "state_reason": string(c)}, i)
	if err != nil || i.GetNumber() != at.number || i.GetState() != "closed" {
		return "", "", err
	}
	return "closed", "", nil
}

func (c closing) find(ctx context.Context, s *Sink, at place) (act.Answer, error) {
	return s.standsOr(ctx, at, func(i *gh.Issue) bool { return i.GetState() == "closed" },
		func(e *gh.IssueEvent) bool { return e.GetEvent() == "closed" && s.ours(e.Actor) })
}

// comment is a body, rendered, and its job's key.
type comment struct{ body, key string }

func (c comment) send(ctx context.Context, s *Sink, at place) (word, remote string, err error) {
	made := new(gh.IssueComment)
	_, err = s.do(ctx, http.MethodPost, at.path("/comments"), map[string]string{"body": s.marked(c)}, made)
	if err != nil || made.GetID() < 1 || !s.bears(made.GetBody(), c.key) {
		return "", "", err
	}
	return "commented", strconv.FormatInt(made.GetID(), 10), nil
}

// find looks through the issue's comments for the marker, in those of our own
// identities alone. A comment of ours that somebody changed and that bears no
// marker any more, and one that was deleted, may have been the job's.
func (c comment) find(ctx context.Context, s *Sink, at place) (act.Answer, error) {
	a, lost := act.Answer{}, false
	valid := func(m *gh.IssueComment) bool { return m.GetID() > 0 }
	stopped, whole, err := pages(ctx, commentsPage, s.lister(at, "/comments"), valid, func(m *gh.IssueComment) bool {
		if !s.ours(m.User) {
			return false
		}
		if s.bears(m.GetBody(), c.key) {
			if lost = lost || m.User == nil; lost {
				return true
			}
			a = act.Answer{Verdict: act.Performed, Word: "found", Remote: strconv.FormatInt(m.GetID(), 10)}
			return true
		}
		lost = lost || m.User != nil && !strings.Contains(m.GetBody(), markerHead) && m.GetUpdatedAt().After(m.GetCreatedAt().Time)
		return false
	})
	if err != nil || stopped || lost || !whole {
		return a, err
	}
	deleted, whole, err := s.anyEvent(ctx, at, func(e *gh.IssueEvent) bool { return e.GetEvent() == "comment_deleted" })
	if err != nil || deleted || !whole {
		return act.Answer{}, err
	}
	return notThere, nil
}
