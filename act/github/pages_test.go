package github

import (
	"context"
	"testing"

	gh "github.com/google/go-github/v82/github"
)

// pagesOf lists texts in pages, as GitHub does, after before was called.
func pagesOf(t *testing.T, all *[]string, before func()) func(context.Context, int, int, any) (*gh.Response, error) {
	t.Helper()
	return func(_ context.Context, size, page int, v any) (*gh.Response, error) {
		before()
		items := []*string{}
		for i := (page - 1) * size; i < min(page*size, len(*all)); i++ {
			items = append(items, &(*all)[i])
		}
		*v.(*[]*string) = items
		a := &gh.Response{}
		if last := (len(*all) + size - 1) / size; page < last {
			a.NextPage, a.LastPage = page+1, last
		}
		return a, nil
	}
}
