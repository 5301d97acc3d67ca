package lambdaingress

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"decant.dev/events"
	"decant.dev/examples/orders"
	"decant.dev/examples/orders/source"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/recipes/issues"
)

var hookKey = strings.Repeat("k", 32)

// hookNow is the ingress's now.
var hookNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const message = `{"type":"message.received","data":{"message":"zz9 hello"}}`

// hooked is an ingress of GitHub's deliveries and of two hooks, of which one is
// not signed.
func hooked(t *testing.T, fail map[string]error) (*world, *Handler) {
	t.Helper()
	w, h := build(t, fail)
	open := events.Hook{Name: "open", Scheme: events.None{Unsigned: events.AnyoneMaySend}, Event: events.HookEvent{Name: "opened"}}
	opens := pipeline.Build(pipeline.Spec[struct{}]{Name: "opens", Events: []pipeline.Event{{Name: "opened"}, {Name: "issues.opened"}}})
	key := "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey))
	h, err := New(Config{
		Sources: Sources{Recipes: h.Recipes, Hooks: []Hooked{{source.Hook, []*pipeline.Recipe{orders.Recipe}}, {open, []*pipeline.Recipe{opens}}}},
		Secrets: w, HookSecrets: map[string]Secrets{"shop": keyOf{w, key}}, Raw: h.Raw, Starts: h.Starts, Runs: h.Runs, Batches: h.Batches, Clock: h.Clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, h
}

// keyOf answers with one key.
type keyOf struct {
	*world
	key string
}

func (k keyOf) Secrets(context.Context) (events.Secrets, error) {
	return events.Secrets{Current: events.NewSecret(k.key)}, k.step("hook secrets")
}

// posted is the HTTP event of a delivery to a path, signed for the shop.
func posted(t *testing.T, path, body, key string, at time.Time) []byte {
	t.Helper()
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("msg_1." + stamp + "." + body))
	b, err := json.Marshal(map[string]any{
		"version": "2.0", "rawPath": path, "body": base64.StdEncoding.EncodeToString([]byte(body)), "isBase64Encoded": true, // CUDly#1483
		"headers": map[string]string{"webhook-id": "msg_1", "webhook-timestamp": stamp, "Webhook-Signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A delivery is proved by the secret of the source that its path names, and
// starts that source's recipes and no others.
func TestAPathSaysWhichSecretProves(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		payload []byte
		status  int
		code    string
		recipe  string
		counts  string
	}{
		"the shop":           {posted(t, "/webhooks/shop", message, hookKey, hookNow), 202, "", "orders", "[{HookMatched hook_secret shop current 0}]"},
		"another key":        {posted(t, "/webhooks/shop", message, key, hookNow), 401, "bad_signature", "", "[{HookMatched hook_secret shop none 0}]"},
		"another time":       {posted(t, "/webhooks/shop", message, hookKey, hookNow.Add(-301*time.Second)), 401, "outside_window", "", "[{HookMatched hook_secret shop none 0}]"},
		"another event":      {posted(t, "/webhooks/shop", `{"type":"zz9"}`, hookKey, hookNow), 202, "unhandled_event", "", "[{HookMatched hook_secret shop current 0} {Ignored event shop other 0}]"},
		"at GitHub's path":   {posted(t, "/webhooks/github", message, hookKey, hookNow), 401, "bad_signature", "", "[{SignatureMatched secret none 0}]"},
		"at another path":    {posted(t, "/webhooks/shop/", message, hookKey, hookNow), 401, "bad_signature", "", "[{SignatureMatched secret none 0}]"},
		"in another case":    {posted(t, "/webhooks/Shop", message, hookKey, hookNow), 401, "bad_signature", "", "[{SignatureMatched secret none 0}]"},
		"an event of issues": {posted(t, "/webhooks/open", `{"action":"opened"}`, "", hookNow), 202, "", "opens", "[{HookMatched hook_secret open unsigned 0}]"},
		"GitHub's":           {delivery(t, "issues", opened("t"), key), 202, "", "issues", "[{SignatureMatched secret current 0}]"},
		"GitHub's, ignored":  {delivery(t, "star", `{"action":"created"}`, key), 202, "unhandled_event", "", "[{SignatureMatched secret current 0} {Ignored event github star 0}]"},
		"GitHub's, unknown":  {delivery(t, "zz9", `{"action":"created"}`, key), 202, "unhandled_event", "", "[{SignatureMatched secret current 0} {Ignored event github other 0}]"},
		"at the shop's path": {[]byte(strings.Replace(string(delivery(t, "issues", opened("t"), hookKey)), `{`, `{"rawPath":"/webhooks/shop",`, 1)), 401, "bad_signature", "", "[{HookMatched hook_secret shop none 0}]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h := hooked(t, nil)
			reply, err := h.Handle(t.Context(), tc.payload)
			a, _ := reply.Answer.(response)
			if err != nil {
				a = refuse(codeOf(err)).(response)
			}
			if a.StatusCode != tc.status || tc.code != "" && a.Body != `{"code":"`+tc.code+`"}` || strings.Contains(a.Body, "zz9") {
				t.Errorf("got %+v", a)
			}
			if got := fmt.Sprint(reply.Counts); got != tc.counts {
				t.Errorf("counted %s, want %s", got, tc.counts)
			}
			recipe := ""
			for run, env := range w.started {
				recipe = env.Recipe
				if env.Check() != nil || w.bodies[run] == "" || env.Recipe != "issues" && (env.Actor.Kind != pipeline.System || env.Channel != "hook:"+env.Source) {
					t.Errorf("got %+v", env)
				}
			}
			if recipe != tc.recipe || len(w.started) > 1 || recipe == "" && len(w.bodies)+len(w.markers) > 0 {
				t.Errorf("started %q, did %v", recipe, w.did)
			}
		})
	}
}

func codeOf(err error) pipeline.Code {
	f, ok := err.(*pipeline.Fault)
	if !ok {
		return pipeline.PhaseMisbehave
	}
	return f.Code
}

// A secret that cannot be read is no proof, and is asked for again.
func TestAHooksSecretThatCannotBeReadProvesNothing(t *testing.T) {
	t.Parallel()
	for step, want := range map[error]int{client.RetryableError{}: 503, pipeline.NoSecret.Error("none"): 401} {
		w, h := hooked(t, map[string]error{"hook secrets": step})
		reply, err := h.Handle(t.Context(), posted(t, "/webhooks/shop", message, hookKey, hookNow))
		a, _ := reply.Answer.(response)
		if err != nil {
			a = refuse(codeOf(err)).(response)
		}
		if a.StatusCode != want || len(w.bodies)+len(w.started) != 0 {
			t.Errorf("got %+v, %v, did %v", a, err, w.did)
		}
	}
}

// A message that waited in the queue came when the queue says, and one that is
// outside its window does not come again.
func TestAQueuedDeliveryCameWhenItWasQueued(t *testing.T) {
	t.Parallel()
	sent := hookNow.Add(-time.Hour)
	for name, tc := range map[string]struct {
		queued, signed time.Time
		want           string
	}{
		"waited an hour":            {sent, sent, "[ok]"},
		"signed long before":        {sent, sent.Add(-301 * time.Second), "[outside_window]"},
		"signed after":              {sent, sent.Add(301 * time.Second), "[outside_window]"},
		"queued after now":          {hookNow.Add(time.Hour), hookNow.Add(time.Hour), "[outside_window]"},
		"a queue that says nothing": {time.Time{}, hookNow, "[ok]"},
	} {
		w, h := hooked(t, nil)
		attributes := map[string]string{}
		if !tc.queued.IsZero() {
			attributes["SentTimestamp"] = strconv.FormatInt(tc.queued.UnixMilli(), 10)
		}
		b, err := json.Marshal(map[string]any{"Records": []any{map[string]any{
			"messageId": "1", "body": string(posted(t, "/webhooks/shop", message, hookKey, tc.signed)), "attributes": attributes,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		ids, codes, err := w.failing(t, h, t.Context(), b)
		if err != nil || len(ids) != 0 || fmt.Sprint(codes) != tc.want {
			t.Errorf("%s: got %v, %v, %v, want %s", name, ids, codes, err, tc.want)
		}
	}
}

func TestIngressChecksItsHooks(t *testing.T) {
	t.Parallel()
	good := Hooked{source.Hook, []*pipeline.Recipe{orders.Recipe}}
	open := good
	open.Hook.Scheme = events.None{Unsigned: events.AnyoneMaySend}
	unsaid := good
	unsaid.Hook.Scheme = events.None{}
	w, h := build(t, nil)
	shop := map[string]Secrets{"shop": w}
	for name, tc := range map[string]struct {
		hooks   []Hooked
		secrets map[string]Secrets
		ok      bool
	}{
		"good":             {[]Hooked{good}, shop, true},
		"open":             {[]Hooked{open}, nil, true},
		"none":             {nil, nil, true},
		"no secret":        {[]Hooked{good}, nil, false}, // n8n#29480
		"open, and signed": {[]Hooked{open}, shop, false},
		"open, not said":   {[]Hooked{unsaid}, nil, false},
		"twice":            {[]Hooked{good, good}, shop, false},
		"a secret of none": {nil, shop, false},
		"no recipe":        {[]Hooked{{source.Hook, nil}}, shop, false},
		"another's recipe": {[]Hooked{{source.Hook, []*pipeline.Recipe{pipeline.Build(pipeline.Spec[struct{}]{Name: "other"})}}}, shop, false},
		"a recipe of two":  {[]Hooked{{source.Hook, []*pipeline.Recipe{orders.Recipe, issues.Recipe}}}, shop, false},
		"no hook's name":   {[]Hooked{{events.Hook{Name: "github", Scheme: source.Hook.Scheme, Event: source.Hook.Event}, good.Recipes}}, map[string]Secrets{"github": w}, false},
	} {
		_, err := New(Config{Sources: Sources{Recipes: h.Recipes, Hooks: tc.hooks}, Secrets: w, HookSecrets: tc.secrets,
			Raw: h.Raw, Starts: h.Starts, Runs: h.Runs, Batches: h.Batches, Clock: h.Clock})
		if (err == nil) != tc.ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
