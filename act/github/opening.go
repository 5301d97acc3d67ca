package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v82/github"

	"decant.dev/act"
)

const issuesPage = 30 // each issue may have a body of 65,536 characters

// maxTitle is how many characters GitHub takes in a title.
const maxTitle = 256

// opening is an issue's title and body, rendered, and its job's key.
type opening struct{ title, body, key string }

func (o opening) valid() bool {
	return strings.TrimSpace(o.title) != "" && !strings.ContainsAny(o.title, "\r\n") && strings.TrimSpace(o.body) != "" && len(o.key) == 32
}

func (o opening) send(ctx context.Context, s *Sink, at place) (word, remote string, err error) {
	made := new(gh.Issue)
	_, err = s.do(ctx, http.MethodPost, at.issues(), map[string]string{"title": o.title, "body": s.marked(comment{o.body, o.key})}, made)
	if err != nil || made.GetNumber() < 1 || !s.bears(made.GetBody(), o.key) {
		return "", "", err
	}
	return "opened", strconv.Itoa(made.GetNumber()), nil
}

// find looks through the repository's issues for the marker, in those that our
// own identities opened. Where it is in none nobody can say: an issue that was
// deleted, or moved to another repository, leaves nothing.
func (o opening) find(ctx context.Context, s *Sink, at place) (act.Answer, error) {
	a, lost := act.Answer{}, false
	list := func(ctx context.Context, size, page int, v any) (*gh.Response, error) {
		return s.do(ctx, http.MethodGet, at.issues()+fmt.Sprintf("?state=all&sort=created&direction=asc&per_page=%d&page=%d", size, page), nil, v)
	}
	valid := func(i *gh.Issue) bool { return i.GetNumber() > 0 }
	_, _, err := pages(ctx, issuesPage, list, valid, func(i *gh.Issue) bool {
		if !s.ours(i.User) || !s.bears(i.GetBody(), o.key) {
			return false
		}
		if lost = i.User == nil; !lost {
			a = act.Answer{Verdict: act.Performed, Word: "found", Remote: strconv.Itoa(i.GetNumber())}
		}
		return true
	})
	return a, err
}

func (p place) issues() string { return fmt.Sprintf("repos/%s/%s/issues", p.owner, p.name) }
