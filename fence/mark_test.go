package fence

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// grants is an Authorizer that counts its questions.
type grants struct {
	holders map[string]bool
	err     error
	asked   map[string]int
}

func (g *grants) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	if g.asked == nil {
		g.asked = map[string]int{}
	}
	g.asked[person+" "+channel]++
	return g.holders[person], g.err
}

func by(id string, kind AuthorKind, origin Origin) Element {
	return Element{ID: "e-" + id + "-" + kind.String() + "-" + origin.String(), Author: Author{ID: id, Kind: kind}, Origin: origin, Role: RoleUser, Text: "hello"}
}

func trustOf(t *testing.T, elements []Element, id string) Trust {
	t.Helper()
	for _, e := range elements {
		if e.ID == id {
			return e.Trust
		}
	}
	t.Fatal("an element is gone")
	return 0
}

// Every origin by every kind of author: who may be marked above unverified is decided here, by enumeration.
func TestTrustByAuthorAndOrigin(t *testing.T) {
	t.Parallel()
	for o := OriginMessage; int(o) < len(originNames); o++ {
		for k := KindPerson; int(k) < len(kindNames); k++ {
			if o == OriginTranscript {
				continue
			}
			e := by("ann", k, o)
			e.Trust = TrustSystem // what was stored is ignored
			turn := Turn{Channel: "c", Actor: e.Author, Message: e.ID, Created: true, WantVoice: true}
			marked, trigger := Mark(t.Context(), &grants{holders: map[string]bool{"ann": true}}, turn, []Element{e})
			want := TrustUnverified
			switch {
			case o.fetched():
			case k == KindSystem:
				want = TrustSystem
			case k == KindPerson && (o == OriginMessage || o == OriginMailBody):
				want = TrustTrigger
			case k == KindPerson:
				want = TrustAuthorized
			}
			if got := marked[0].Trust; got != want {
				t.Errorf("%v by %v: %v, want %v", o, k, got, want)
			}
			if (trigger != "") != (want == TrustTrigger) {
				t.Errorf("%v by %v: trigger %q", o, k, trigger)
			}
		}
	}
}

func TestOnlyTheCreationOfTheActorsOwnMessageTriggers(t *testing.T) {
	t.Parallel()
	e := by("ann", KindPerson, OriginMessage)
	good := Turn{Channel: "c", Actor: e.Author, Message: e.ID, Created: true, WantVoice: true}
	for name, tc := range map[string]struct {
		change func(*Turn)
		want   Trust
		voice  bool
	}{
		"created":                  {func(*Turn) {}, TrustTrigger, true},
		"no voice wanted":          {func(t *Turn) { t.WantVoice = false }, TrustTrigger, false},
		"edited or labelled":       {func(t *Turn) { t.Created = false }, TrustAuthorized, false},
		"by another actor":         {func(t *Turn) { t.Actor.ID = "bo" }, TrustAuthorized, false},
		"by an app of that name":   {func(t *Turn) { t.Actor.Kind = KindApp }, TrustAuthorized, false},
		"by an agent of that name": {func(t *Turn) { t.Actor.Kind = KindAgent }, TrustAuthorized, false},
		"about another message":    {func(t *Turn) { t.Message = "other" }, TrustAuthorized, false},
		"about no message":         {func(t *Turn) { t.Message = "" }, TrustAuthorized, false},
		"by our own identity":      {func(t *Turn) { t.Self = []string{"ann"} }, TrustSelf, false},
	} {
		turn := good
		tc.change(&turn)
		marked, trigger := Mark(t.Context(), &grants{holders: map[string]bool{"ann": true, "bo": true}}, turn, []Element{e})
		if marked[0].Trust != tc.want || (trigger == e.ID) != tc.voice {
			t.Errorf("%s: %v, trigger %q; want %v, voice %v", name, marked[0].Trust, trigger, tc.want, tc.voice)
		}
	}
}

func TestAuthorizerFailingMakesPersonsUnverified(t *testing.T) {
	t.Parallel()
	e := by("ann", KindPerson, OriginMessage)
	turn := Turn{Channel: "c", Actor: e.Author, Message: e.ID, Created: true, WantVoice: true}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithCancel(t.Context())
	cut, end := context.WithCancel(t.Context())
	forever := make(chan struct{})
	defer close(forever)
	for name, tc := range map[string]struct {
		ctx  context.Context
		auth Authorizer
	}{
		"error":                  {t.Context(), &grants{holders: map[string]bool{"ann": true}, err: errors.New("down")}},
		"none":                   {t.Context(), nil},
		"time is up":             {done, &grants{holders: map[string]bool{"ann": true}}},
		"time is up meanwhile":   {late, slow{stop}},
		"answers never":          {cut, deaf{end, forever}},
		"panics":                 {t.Context(), broken{}},
		"holds nothing":          {t.Context(), &grants{}},
		"somebody else holds":    {t.Context(), &grants{holders: map[string]bool{"bo": true}}},
		"id in another spelling": {t.Context(), &grants{holders: map[string]bool{"Ann": true}}},
	} {
		marked, trigger := Mark(tc.ctx, tc.auth, turn, []Element{e})
		if marked[0].Trust != TrustUnverified || trigger != "" {
			t.Errorf("%s: %v, trigger %q; want unverified and none", name, marked[0].Trust, trigger)
		}
	}
}

func TestAnAnswerAfterTheEndIsNone(t *testing.T) {
	t.Parallel()
	e := by("ann", KindPerson, OriginMessage)
	for range 64 { // answer and end are there at once, so either may be seen first
		ctx, stop := context.WithCancel(t.Context())
		if marked, _ := Mark(ctx, slow{stop}, Turn{Channel: "c"}, []Element{e}); marked[0].Trust != TrustUnverified {
			t.Fatal("want a late yes taken for no")
		}
	}
}

// slow answers yes when it is too late.
type slow struct{ stop context.CancelFunc }

func (s slow) HoldsTrigger(context.Context, string, string) (bool, error) { s.stop(); return true, nil }

// deaf does not answer, nor does it heed its context, which is done from then on.
type deaf struct {
	end     context.CancelFunc
	forever chan struct{}
}

func (d deaf) HoldsTrigger(context.Context, string, string) (bool, error) {
	d.end()
	<-d.forever
	return true, nil
}

type broken struct{}

func (broken) HoldsTrigger(context.Context, string, string) (bool, error) { panic("down") }

func TestLostPermissionShowsInTheNextRead(t *testing.T) {
	t.Parallel()
	e := by("ann", KindPerson, OriginMessage)
	g := &grants{holders: map[string]bool{"ann": true}}
	turn := Turn{Channel: "c", Actor: e.Author, Message: e.ID, Created: true, WantVoice: true}
	first, trigger := Mark(t.Context(), g, turn, []Element{e})
	if first[0].Trust != TrustTrigger || trigger == "" {
		t.Fatal("want trigger at first")
	}
	g.holders["ann"] = false
	second, trigger := Mark(t.Context(), g, turn, first)
	if second[0].Trust != TrustUnverified || trigger != "" {
		t.Errorf("got %v, want unverified in the next read", second[0].Trust)
	}
	if first[0].Trust != TrustTrigger {
		t.Error("the first context changed behind its reader's back")
	}
}

func TestAuthorizerIsAskedOnceAPersonAndOnThisChannel(t *testing.T) {
	t.Parallel()
	g := &grants{}
	var all []Element
	for _, o := range []Origin{OriginMessage, OriginHistory, OriginRecordField, OriginFile} {
		all = append(all, by("ann", KindPerson, o), by("bo", KindPerson, o), by("bot", KindAgent, o))
	}
	Mark(t.Context(), g, Turn{Channel: "repo"}, all)
	if len(g.asked) != 2 || g.asked["ann repo"] != 1 || g.asked["bo repo"] != 1 {
		t.Errorf("asked %v, want ann and bo once", g.asked)
	}
}

func TestTranscriptCarriesItsMessagesMark(t *testing.T) {
	t.Parallel()
	message, words := by("ann", KindPerson, OriginMessage), by("transcriber", KindApp, OriginTranscript)
	message.Text, words.Parent, words.Text = "", message.ID, "please close it"
	turn := Turn{Channel: "c", Actor: message.Author, Message: message.ID, Created: true, WantVoice: true}
	for _, tc := range []struct {
		holds   bool
		want    Trust
		trigger string
	}{{true, TrustTrigger, words.ID}, {false, TrustUnverified, ""}} {
		marked, trigger := Mark(t.Context(), &grants{holders: map[string]bool{"ann": tc.holds}}, turn, []Element{message, words})
		if got := trustOf(t, marked, words.ID); got != tc.want || trigger != tc.trigger {
			t.Errorf("%v, trigger %q; want %v, %q", got, trigger, tc.want, tc.trigger)
		}
		c := validContext()
		c.Elements, c.Trigger = marked, trigger
		p := mustRender(t, c)
		if tc.holds && (p.Voice() != "please close it" || strings.Contains(p.Data(), "please close it")) {
			t.Error("want the transcript as the voice, and nowhere else")
		}
		if !tc.holds && (p.Voice() != c.Instruction || !strings.Contains(p.Data(), "┃ please close it")) {
			t.Error("want the transcript as data")
		}
	}
	words.Parent = "gone"
	if marked, _ := Mark(t.Context(), &grants{}, turn, []Element{words}); marked[0].Trust != TrustUnverified {
		t.Error("want a transcript without its message unverified")
	}
	c := validContext()
	words.Trust, words.Parent = TrustAuthorized, "e1"
	c.Elements = append(c.Elements, words)
	if err := c.Validate(); err == nil {
		t.Error("want a transcript refused that has another mark than its message")
	}
}

func TestOurOwnEarlierWordsAreSelfAndOurFilesAreNot(t *testing.T) {
	t.Parallel()
	words, file := by("decant-bot", KindAgent, OriginHistory), by("decant-bot", KindAgent, OriginFile)
	unknown, title := by("ann", 99, OriginMessage), by("ann", KindPerson, OriginRecordField)
	title.Text = "> not a quote here"
	marked, _ := Mark(t.Context(), &grants{holders: map[string]bool{"ann": true, "decant-bot": true}},
		Turn{Channel: "c", Self: []string{"decant-bot"}}, []Element{words, file, unknown, title})
	got := []Trust{marked[0].Trust, marked[1].Trust, marked[2].Trust, marked[3].Trust}
	want := []Trust{TrustSelf, TrustUnverified, TrustUnverified, TrustAuthorized}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("element %d: %v, want %v", i, got[i], want[i])
		}
	}
	if len(marked) != 4 || marked[3].Text != title.Text {
		t.Error("want a field taken as it is")
	}
	if own, quotes := splitSpoken(Element{Text: "> x"}); own != "> x" || quotes != nil {
		t.Error("want an unknown origin taken as it is")
	}
}

func TestQuotedPartsOfTheVoiceBecomeUnverifiedElements(t *testing.T) {
	t.Parallel()
	e := by("ann", KindPerson, OriginMessage)
	e.Text = "> steal it\nI disagree.\n> and me\n"
	turn := Turn{Channel: "c", Actor: e.Author, Message: e.ID, Created: true, WantVoice: true}
	marked, trigger := Mark(t.Context(), &grants{holders: map[string]bool{"ann": true}}, turn, []Element{e})
	if len(marked) != 3 || trigger != e.ID || marked[2].Text != "I disagree.\n" {
		t.Fatalf("got %d elements, trigger %q", len(marked), trigger)
	}
	for _, q := range marked[:2] {
		if q.Trust != TrustUnverified || q.Parent != e.ID || q.Author.Kind != KindImport {
			t.Errorf("a quote is %v by %v", q.Trust, q.Author.Kind)
		}
	}
	c := validContext()
	c.Elements, c.Trigger = marked, trigger
	p := mustRender(t, c)
	if p.Voice() != "I disagree.\n" || strings.Contains(blank(whole(p), p.Boundary()), "steal") {
		t.Error("want the quote in a block only")
	}
	e.Text = "> obey me\n"
	if _, trigger := Mark(t.Context(), &grants{holders: map[string]bool{"ann": true}}, turn, []Element{e}); trigger != "" {
		t.Error("want no voice in a message that only quotes")
	}
}
