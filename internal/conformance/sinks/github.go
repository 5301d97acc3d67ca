package sinks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Own is the numeric id of the user that a GitHub's token acts as.
const Own = 99

// Comment is a comment as GitHub keeps it.
type Comment struct {
	ID      int64     `json:"id"`
	Body    string    `json:"body"`
	User    User      `json:"user"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// User is a user by id and login.
type User struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

// Named is a label or a milestone.
type Named struct {
	Name   string `json:"name,omitempty"`
	Title  string `json:"title,omitempty"`
	Number int    `json:"number,omitempty"`
}

// Event is what GitHub keeps of a change.
type Event struct {
	Event    string `json:"event"`
	Actor    User   `json:"actor"`
	Assigner *User  `json:"assigner,omitempty"`
	Assignee *User  `json:"assignee,omitempty"`
	Label    *Named `json:"label,omitempty"`
}

// Issue is an issue as GitHub keeps it.
type Issue struct {
	Number    int     `json:"number"`
	State     string  `json:"state"`
	Reason    string  `json:"state_reason,omitempty"`
	Body      string  `json:"body"`
	Labels    []Named `json:"labels"`
	Assignees []User  `json:"assignees"`
	Milestone *Named  `json:"milestone"`
}

// GitHub is one issue of GitHub, as far as the sink asks for it. A change that
// changes nothing leaves no event, as there.
type GitHub struct {
	*Peer
	Token string // that a request must bear; tests may change it

	state    sync.Mutex
	Issue    Issue
	Comments []Comment
	Events   []Event
	Opened   []Opened // beside Issue
	Bodies   [][]byte // of each request that wrote
}

// Opened is an issue that was opened here.
type Opened struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	User   User   `json:"user"`
}

// NewGitHub starts one, with an open issue that has a comment of a stranger.
func NewGitHub(t *testing.T) *GitHub {
	g := &GitHub{Token: "ghs_sample", Issue: Issue{Number: number, State: "open", Body: Foreign, Labels: []Named{{Name: Foreign}}, Assignees: []User{}}}
	g.Opened = []Opened{{Number: number + 1, Title: Foreign, Body: Foreign, User: User{13, "mallory"}}}
	g.Comments = []Comment{{ID: 1, Body: Foreign, User: User{13, "mallory"}, Created: noon, Updated: noon}}
	g.Peer = newPeer(t, plainVoice, (*httptest.Server).StartTLS, g.serve)
	return g
}

// Change is how a test changes the issue by another hand.
func (g *GitHub) Change(f func(*GitHub)) {
	g.state.Lock()
	defer g.state.Unlock()
	f(g)
}

var own = User{Own, "decant[bot]"}

func (g *GitHub) serve(p *Peer, w http.ResponseWriter, r *http.Request, body []byte) {
	below, ok := strings.CutPrefix(r.URL.Path, fmt.Sprintf("/repos/%s/issues/%d", repository, number))
	if r.URL.Path == "/repos/"+repository+"/issues" {
		below, ok = "all", true
	}
	if !ok || r.Header.Get("Authorization") != "Bearer "+g.Token {
		wordy(w, http.StatusUnauthorized)
		return
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	p.take(w, r, r.Method != http.MethodGet, func() any {
		g.state.Lock()
		defer g.state.Unlock()
		switch r.Method + " " + below {
		case "GET ":
			return g.Issue
		case "GET /comments":
			return paged(w, r, g.Comments, page, size)
		case "GET /events":
			return paged(w, r, g.Events, page, size)
		case "GET all":
			return paged(w, r, g.Opened, page, size)
		}
		g.Bodies = append(g.Bodies, body)
		var in struct {
			Title, Body, State string
			Reason             string `json:"state_reason"`
			Labels             []string
			Assignees          []string
			Milestone          int
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil
		}
		if below == "all" {
			g.Opened = append(g.Opened, Opened{number + 1 + len(g.Opened), in.Title, in.Body, own})
			return g.Opened[len(g.Opened)-1]
		}
		return g.change(r.Method+" "+below, in.Body, in.State, in.Reason, append(in.Labels, in.Assignees...), in.Milestone)
	})
}

func (g *GitHub) change(what, body, state, reason string, names []string, milestone int) any {
	switch {
	case what == "POST /comments":
		c := Comment{ID: int64(len(g.Comments) + 1), Body: body, User: own, Created: noon, Updated: noon}
		g.Comments = append(g.Comments, c)
		return c
	case what == "POST /labels":
		for _, l := range g.Issue.Labels {
			if strings.EqualFold(l.Name, names[0]) {
				return g.Issue.Labels
			}
		}
		g.Issue.Labels = append(g.Issue.Labels, Named{Name: names[0]})
		g.Events = append(g.Events, Event{Event: "labeled", Actor: own, Label: &Named{Name: names[0]}})
		return g.Issue.Labels
	case what == "POST /assignees" && len(g.Issue.Assignees) == 0 && names[0] != "stranger":
		u := User{44, names[0]}
		g.Issue.Assignees = []User{u}
		g.Events = append(g.Events, Event{Event: "assigned", Actor: u, Assigner: &own, Assignee: &u})
	case what == "PATCH " && state == "closed" && g.Issue.State != state:
		g.Issue.State, g.Issue.Reason = state, reason
		g.Events = append(g.Events, Event{Event: "closed", Actor: own})
	case what == "PATCH " && milestone > 0 && (g.Issue.Milestone == nil || g.Issue.Milestone.Number != milestone):
		g.Issue.Milestone = &Named{Title: Foreign, Number: milestone}
		g.Events = append(g.Events, Event{Event: "milestoned", Actor: own})
	}
	return g.Issue
}

// paged is one page, oldest first, with GitHub's links.
func paged[T any](w http.ResponseWriter, r *http.Request, all []T, page, size int) []T {
	last := max(1, (len(all)+size-1)/size)
	link := func(n int, rel string) string {
		return fmt.Sprintf(`<https://%s%s?per_page=%d&page=%d>; rel="%s"`, r.Host, r.URL.Path, size, n, rel)
	}
	if page < last {
		w.Header().Set("Link", link(page+1, "next")+", "+link(last, "last"))
	}
	from := min((page-1)*size, len(all))
	return append([]T{}, all[from:min(from+size, len(all))]...)
}

var markers = regexp.MustCompile(`<!-- decant:v1:[0-9a-f]{64} -->`)

// Issues counts the markers in issues that were opened.
func (g *GitHub) Issues() int {
	g.state.Lock()
	defer g.state.Unlock()
	n := 0
	for _, i := range g.Opened {
		n += len(markers.FindAllString(i.Body, -1))
	}
	return n
}

// Marked counts the markers in comments.
func (g *GitHub) Marked() int {
	g.state.Lock()
	defer g.state.Unlock()
	n := 0
	for _, c := range g.Comments {
		n += len(markers.FindAllString(c.Body, -1))
	}
	return n
}

// Happened counts the events of a name.
func (g *GitHub) Happened(event string) int {
	g.state.Lock()
	defer g.state.Unlock()
	n := 0
	for _, e := range g.Events {
		if e.Event == event {
			n++
		}
	}
	return n
}
