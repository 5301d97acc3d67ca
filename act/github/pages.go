package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v82/github"
)

var (
	errStrange       = errors.New("answer: want the issue that was asked for")
	errNotAssignable = errors.New("answer: want the person among the assignees")
)

// lister makes the request of one page of what is listed below an issue.
func (s *Sink) lister(at place, below string) func(ctx context.Context, size, page int, v any) (*gh.Response, error) {
	return func(ctx context.Context, size, page int, v any) (*gh.Response, error) {
		return s.do(ctx, http.MethodGet, at.path(fmt.Sprintf("%s?per_page=%d&page=%d", below, size, page)), nil, v)
	}
}

// pages shows what is listed, newest page first, until stop says so; whole is
// whether all of it was shown. An item that is none, by its valid, is an error:
// such a list says nothing of what it lacks.
//
// GitHub lists the oldest first and counts pages from there. Read from the
// last page on, nothing is missed where something is deleted meanwhile: what
// moves up moves to a page that is still to be read. So the first page, which
// only says how many there are, is read again at the end.
func pages[T any](ctx context.Context, size int, list func(context.Context, int, int, any) (*gh.Response, error), valid, stop func(*T) bool) (stopped, whole bool, err error) {
	read := func(page int) (*gh.Response, error) {
		var items []*T
		a, err := list(ctx, size, page, &items)
		if err == nil && (items == nil || len(items) > size) {
			err = errStrange
		}
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if item == nil || !valid(item) {
				return nil, errStrange
			}
			stopped = stopped || stop(item)
		}
		return a, nil
	}
	first, err := read(1)
	if err != nil || stopped || first.LastPage < 2 {
		return stopped, err == nil && first.NextPage == 0, err
	}
	for page := first.LastPage; page >= 1; page-- {
		if first.LastPage-page >= MaxPages {
			return false, false, nil
		}
		if _, err := read(page); err != nil || stopped {
			return stopped, false, err
		}
	}
	return false, true, nil
}

// anyEvent looks for an event of an issue.
func (s *Sink) anyEvent(ctx context.Context, at place, is func(*gh.IssueEvent) bool) (any, whole bool, err error) {
	valid := func(e *gh.IssueEvent) bool { return e.GetEvent() != "" }
	return pages(ctx, eventsPage, s.lister(at, "/events"), valid, is)
}
