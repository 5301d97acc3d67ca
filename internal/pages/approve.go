// Package pages is what a person is shown in a browser.
//
// A page loads nothing, runs no script and is framed by nobody. What strangers
// wrote stands in it as text, inside a block that says so. A GET or HEAD shows;
// only a POST decides.
package pages

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"decant.dev/pipeline/approval"
)

// Card is what a person is asked: an outcome as it would be performed.
type Card struct {
	Run, Recipe, Target string
	Label               string
	Fields              []Field // of the structure
	Actions             []Action
	Asked, Expires      time.Time
}

// Field is one field of the structure. Carried fields were written by a
// stranger.
type Field struct {
	Name, Value string
	Carried     bool
}

// Action is one action of the outcome.
type Action struct {
	Kind, Decision string
	Reasons        []string
	Params         []Field
}

// Desk has the questions and takes the answers.
type Desk interface {
	// Card returns what a run asks, and the record that it asks by; false where
	// it asks nothing.
	Card(ctx context.Context, run string) (Card, approval.Record, bool, error)
	// Give takes an answer. The error is an approval.Refusal where it is not
	// taken.
	Give(ctx context.Context, run, binding, person string, a approval.Answer) (approval.Record, error)
}

// Approvals serves the links of approval.LinkPath.
type Approvals struct {
	Links approval.LinkKey
	Desk  Desk
	Clock func() time.Time
}

//go:embed approve.html
var approveHTML string

var approvePage = template.Must(template.New("approve").Funcs(template.FuncMap{
	"when": func(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") },
	"join": func(words []string) string { return strings.Join(words, ", ") },
}).Parse(approveHTML))

// view is what the template is given. Refused is why nothing can be answered.
type view struct {
	Title   string
	Refused string
	Done    string
	Card    Card
	Person  string
	Wanted  int
	Given   int
}

// maxFormBytes bounds a POST: it says approve or deny.
const maxFormBytes = 1 << 10

// policy lets a page style itself and post to where it came from, and nothing
// else (www.w3.org/TR/CSP3).
const policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP shows a question, or takes its answer.
func (a *Approvals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Type", "text/html; charset=utf-8")
	status, v := a.serve(w, r)
	var page bytes.Buffer
	if err := approvePage.Execute(&page, v); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(page.Bytes())
	}
}

func refused(status int, why string) (int, view) { return status, view{Title: "decant", Refused: why} }

func (a *Approvals) serve(w http.ResponseWriter, r *http.Request) (int, view) {
	link, err := a.Links.Verify(strings.TrimPrefix(r.URL.Path, approval.LinkPath), r.URL.Query(), a.Clock())
	switch {
	case errors.Is(err, approval.ErrOld):
		return refused(http.StatusGone, "This link has expired.")
	case err != nil:
		return refused(http.StatusForbidden, "This link is not one of ours, or it was changed on its way.")
	}
	card, record, found, err := a.Desk.Card(r.Context(), link.Run)
	switch {
	case err != nil:
		return refused(http.StatusServiceUnavailable, "The question could not be read. Try again.")
	case !found:
		return refused(http.StatusNotFound, "The run does not wait for an answer.")
	case record.Binding != link.Binding:
		return refused(http.StatusConflict, "What is asked has changed since this link was sent. A new link shows what is asked now.")
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		return a.answer(w, r, link)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		return refused(http.StatusMethodNotAllowed, "This page is read, or answered.")
	}
	switch record.Standing(a.Clock()) {
	case approval.Waiting:
	case approval.Expired:
		return refused(http.StatusGone, "Nobody answered in time: the run is refused.")
	default:
		return refused(http.StatusGone, "The question has its answer.")
	}
	return http.StatusOK, view{
		Title: card.Recipe + " asks", Card: card, Person: link.Person, Wanted: record.Wanted, Given: len(record.Answers),
	}
}

func (a *Approvals) answer(w http.ResponseWriter, r *http.Request, link approval.Link) (int, view) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "The answer could not be read: want one of the two buttons.")
	}
	said := approval.Answer(r.PostForm.Get("answer"))
	if said != approval.Approve && said != approval.Deny {
		return refused(http.StatusBadRequest, "The answer could not be read: want one of the two buttons.")
	}
	record, err := a.Desk.Give(r.Context(), link.Run, link.Binding, link.Person, said)
	var why approval.Refusal
	switch {
	case errors.As(err, &why):
		status := map[approval.Refusal]int{
			approval.NotAsked: http.StatusNotFound, approval.OtherThing: http.StatusConflict, approval.TooLate: http.StatusGone,
			approval.Answered: http.StatusGone, approval.WrongPerson: http.StatusForbidden, approval.SamePerson: http.StatusConflict,
		}[why]
		return refused(max(status, http.StatusBadRequest), "Your answer was not taken: "+why.Error()+".")
	case err != nil:
		return refused(http.StatusServiceUnavailable, "Your answer could not be recorded. Try again.")
	}
	v := view{Title: "decant"}
	switch record.State {
	case approval.Approved:
		v.Done = "Approved. What was shown is performed now."
	case approval.Denied:
		v.Done = "Denied. Nothing is performed."
	default:
		v.Done = "Your approval is recorded. The recipe wants another person's too."
	}
	return http.StatusOK, v
}
