package cli

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/extract/shape"
	"decant.dev/internal/pages"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

// links is the page that answers waiting runs, and what tells of them.
type links struct {
	app    *App
	engine *local.Engine
	key    approval.LinkKey
	base   string // of a link, without its path; empty where nobody is told
	notify string // where it is told, an address of ours
	secret []byte

	mu   sync.Mutex
	told map[string]bool // by binding
}

// openLinks reads the key of links, made when it is first wanted, and the
// address that is told of waiting runs.
func (a *App) openLinks(engine *local.Engine) (*links, error) {
	l := &links{app: a, engine: engine, base: strings.TrimSuffix(a.Getenv("DECANT_APPROVAL_URL"), "/"), notify: a.Getenv("DECANT_APPROVAL_NOTIFY"), told: map[string]bool{}}
	if (l.base == "") != (l.notify == "") {
		return nil, usagef("DECANT_APPROVAL_URL and DECANT_APPROVAL_NOTIFY: want both, the address of this server as persons reach it and the one to be told, or neither")
	}
	for name, value := range map[string]string{"DECANT_APPROVAL_URL": l.base, "DECANT_APPROVAL_NOTIFY": l.notify} {
		if value != "" {
			if err := ownAddress(value); err != nil {
				return nil, usagef("%s: %v", name, err)
			}
		}
	}
	if l.notify != "" {
		encoded, found := strings.CutPrefix(a.Getenv("DECANT_APPROVAL_SECRET"), "whsec_")
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !found || err != nil || len(secret) < 24 || len(secret) > 64 {
			return nil, usagef("DECANT_APPROVAL_SECRET: want whsec_ and 24 to 64 bytes in base64, which sign what is told")
		}
		l.secret = secret
	}
	file := filepath.Join(a.dir(), "approve.key")
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		if l.key, b, err = approval.NewLinkKey(); err == nil {
			err = os.WriteFile(file, b, 0o600)
		}
		return l, err
	}
	if err == nil {
		l.key, err = approval.ParseLinkKey(b)
	}
	return l, err
}

// ownAddress refuses an address that is not https, but for this machine's own.
func ownAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return errors.New("want an https address without a user or fragment")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || err != nil || !ip.IsLoopback()) {
		return errors.New("want https, or http to a loopback address")
	}
	return nil
}

// handler serves the links.
func (l *links) handler() http.Handler {
	return &pages.Approvals{Links: l.key, Desk: l, Clock: l.app.Clock}
}

// Card is what a waiting run asks.
func (l *links) Card(ctx context.Context, run string) (pages.Card, approval.Record, bool, error) {
	record, asked, err := l.engine.Question(ctx, run)
	if err != nil || !asked {
		return pages.Card{}, record, false, err
	}
	entry, found, err := l.engine.Journal().Get(ctx, run, store.LiveMode)
	if err != nil || !found {
		return pages.Card{}, record, false, err
	}
	r, err := l.app.resultOf(entry)
	if err != nil {
		return pages.Card{}, record, false, err
	}
	env, err := pipeline.DecodeEnvelope(entry.Envelope)
	if err != nil {
		return pages.Card{}, record, false, err
	}
	card := cardOf(l.app.recipe(entry.Recipe), r)
	card.Target, card.Asked, card.Expires = env.Target.String(), record.Asked, record.Expires
	return card, record, true, nil
}

// cardOf is a result as a person is asked about it. What a structure carries,
// and each parameter that holds such a text, is marked as a stranger's.
func cardOf(recipe *pipeline.Recipe, r local.Result) pages.Card {
	card := pages.Card{Run: r.Run, Recipe: r.Recipe, Label: r.Label.String()}
	var values map[string]jsontext.Value
	_ = json.Unmarshal(r.Structure, &values) // a structure is what it is; of another nothing is shown
	var carried []string
	if recipe != nil && recipe.Shape() != nil {
		for _, f := range recipe.Shape().Fields() {
			v, ok := values[f.Name]
			if !ok {
				continue
			}
			field := pages.Field{Name: f.Name, Value: string(v), Carried: f.Kind != shape.KindChoice}
			var text string
			if json.Unmarshal(v, &text) == nil {
				field.Value = text
				if field.Carried && text != "" {
					carried = append(carried, text)
				}
			}
			card.Fields = append(card.Fields, field)
		}
	}
	for _, x := range r.Actions {
		card.Actions = append(card.Actions, actionCard(x, carried))
	}
	return card
}

func actionCard(x act.Action, carried []string) pages.Action {
	a := pages.Action{Kind: string(x.Kind), Decision: x.Decision.String()}
	for _, reason := range x.Reasons {
		a.Reasons = append(a.Reasons, string(reason))
	}
	for _, name := range sortedKeys(x.Params) {
		value := x.Params[name]
		if value == nil {
			continue
		}
		f := pages.Field{Name: name, Value: fmt.Sprint(value)}
		for _, text := range carried {
			f.Carried = f.Carried || strings.Contains(f.Value, text)
		}
		a.Params = append(a.Params, f)
	}
	return a
}

// Give records an answer. The run is carried on by whoever watches.
func (l *links) Give(ctx context.Context, run, binding, person string, a approval.Answer) (approval.Record, error) {
	return l.engine.Give(ctx, run, binding, person, a)
}

// waits is what is told of a run that waits: approval_waits.v1. A link is for
// the person beside it alone.
type waits struct {
	Schema  string    `json:"schema"`
	Run     string    `json:"run"`
	Recipe  string    `json:"recipe"`
	Target  string    `json:"target"`
	Expires time.Time `json:"expires"`
	Asked   []asked   `json:"asked"`
}

type asked struct {
	Person string `json:"person"`
	Link   string `json:"link"`
}

// tell posts that a run waits, once for each question. It is told again after
// a restart.
func (l *links) tell(ctx context.Context, run string) error {
	if l.notify == "" {
		return nil
	}
	card, record, found, err := l.Card(ctx, run)
	if err != nil || !found || record.Standing(l.app.Clock()) != approval.Waiting {
		return err
	}
	l.mu.Lock()
	before := l.told[record.Binding]
	l.told[record.Binding] = true
	l.mu.Unlock()
	if before {
		return nil
	}
	persons, err := l.engine.Asked(ctx, record)
	if err != nil {
		return err
	}
	w := waits{Schema: "approval_waits.v1", Run: run, Recipe: card.Recipe, Target: card.Target, Expires: record.Expires, Asked: []asked{}}
	for _, p := range persons {
		w.Asked = append(w.Asked, asked{p, l.base + l.key.Path(approval.Link{Run: run, Binding: record.Binding, Person: p, Expires: record.Expires})})
	}
	body, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if err := l.post(ctx, record.Binding[:32], body); err != nil {
		l.mu.Lock()
		delete(l.told, record.Binding)
		l.mu.Unlock()
		return err
	}
	return nil
}

// toldWithin bounds one post, and toldBytes what is read of its answer.
const (
	toldWithin = 10 * time.Second
	toldBytes  = 4 << 10
)

// post signs a body by the Standard Webhooks scheme (standardwebhooks.com) and
// sends it. No redirect is followed.
func (l *links) post(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, toldWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.notify, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address is malformed")
	}
	at := strconv.FormatInt(l.app.Clock().Unix(), 10)
	mac := hmac.New(sha256.New, l.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", at)
	r.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return errors.New("the address did not answer")
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, toldBytes)
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("the address answered %d: want 2xx", answer.StatusCode)
	}
	return nil
}
