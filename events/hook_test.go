package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"decant.dev/pipeline"
)

// standardSecret is "whsec_" and the base64 of its letter, 32 times.
func standardSecret(letter string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

var hookNow = time.Unix(1_700_000_000, 0)

// requestOf is a request with these headers, name and value by turns.
func requestOf(body string, headers ...string) HTTP {
	h := HTTP{header: map[string][]string{}, Body: []byte(body)}
	for i := 0; i < len(headers); i += 2 {
		h.header[headers[i]] = append(h.header[headers[i]], headers[i+1])
	}
	return h
}

func macHex(h func() hash.Hash, key, text string) string {
	m := hmac.New(h, []byte(key))
	m.Write([]byte(text))
	return hex.EncodeToString(m.Sum(nil))
}

func macBase64(h func() hash.Hash, key, text string) string {
	b, _ := hex.DecodeString(macHex(h, key, text))
	return base64.StdEncoding.EncodeToString(b)
}

func stampOf(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// A scheme with a second way to sign a request, written here.
type signing struct {
	scheme Scheme
	key    func(letter string) string // a key that the scheme takes
	sign   func(key, id, stamp, body string) HTTP
	stamps bool // a time is signed
}

func plainKey(letter string) string { return strings.Repeat(letter, 32) }

func signings() map[string]signing {
	standard := func(prefix string) func(key, id, stamp, body string) HTTP {
		return func(key, id, stamp, body string) HTTP {
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whsec_"))
			return requestOf(body, prefix+"id", id, prefix+"timestamp", stamp, prefix+"signature", "v1,"+macBase64(sha256.New, string(raw), id+"."+stamp+"."+body))
		}
	}
	return map[string]signing{
		"standard": {StandardWebhooks{}, standardSecret, standard("webhook-"), true},
		"svix":     {StandardWebhooks{Svix: true}, standardSecret, standard("svix-"), true},
		"hex of the body": {HMAC{Header: "x-sig", Prefix: "sha256=", Encoding: Hex, Hash: SHA256, Signs: SignsBody}, plainKey,
			func(key, _, _, body string) HTTP {
				return requestOf(body, "x-sig", "sha256="+macHex(sha256.New, key, body))
			}, false},
		"base64 of the body": {HMAC{Header: "x-sig", Encoding: Base64, Hash: SHA512, Signs: SignsBody}, plainKey,
			func(key, _, _, body string) HTTP { return requestOf(body, "x-sig", macBase64(sha512.New, key, body)) }, false},
		"dotted": {HMAC{Header: "x-sig", Encoding: Base64, Hash: SHA256, Signs: SignsDotted, Timestamp: "x-time"}, plainKey,
			func(key, _, stamp, body string) HTTP {
				return requestOf(body, "x-time", stamp, "x-sig", macBase64(sha256.New, key, stamp+"."+body))
			}, true},
		"slack": {HMAC{Header: "x-slack-signature", Prefix: "v0=", Encoding: Hex, Hash: SHA256, Signs: SignsSlack, Timestamp: "x-slack-request-timestamp"}, plainKey,
			func(key, _, stamp, body string) HTTP {
				return requestOf(body, "x-slack-request-timestamp", stamp, "x-slack-signature", "v0="+macHex(sha256.New, key, "v0:"+stamp+":"+body))
			}, true},
		"stripe": {HMAC{Header: "stripe-signature", Encoding: Hex, Hash: SHA256, Signs: SignsStripe}, plainKey,
			func(key, _, stamp, body string) HTTP {
				return requestOf(body, "stripe-signature", "t="+stamp+",v1="+macHex(sha256.New, key, stamp+"."+body)+",v0=ignored")
			}, true},
	}
}

func hookOf(s Scheme) Hook {
	return Hook{Name: "shop", Scheme: s, Event: HookEvent{Name: "order.created"}}
}

func secretsOf(current, previous string) Secrets {
	return Secrets{Current: NewSecret(current), Previous: NewSecret(previous)}
}

// What others published of their schemes.
func TestPublishedSignaturesAreProved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		scheme Scheme
		secret string
		at     int64
		h      HTTP
	}{
		"the library of Standard Webhooks": {StandardWebhooks{}, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330,
			requestOf(`{"test": 2432232314}`, "webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp", "1614265330",
				"webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")},
		"Slack": {HMAC{Header: "x-slack-signature", Prefix: "v0=", Encoding: Hex, Hash: SHA256, Signs: SignsSlack, Timestamp: "x-slack-request-timestamp"},
			"8f742231b10e8888abcd99yyyzzz85a5", 1531420618, requestOf("token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"+
				"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J"+
				"%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
				"x-slack-request-timestamp", "1531420618", "x-slack-signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503")},
		"GitHub, as a generic hook": {HMAC{Header: "x-hub-signature-256", Prefix: "sha256=", Encoding: Hex, Hash: SHA256, Signs: SignsBody},
			"It's a Secret to Everybody", 0, requestOf("Hello, World!", "x-hub-signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matched, err := tc.scheme.verify(tc.h, secretsOf(tc.secret, ""), time.Unix(tc.at, 0))
			if err != nil || matched != MatchedCurrent {
				t.Errorf("got %v, %v", matched, err)
			}
		})
	}
}

func TestASignedDeliveryIsWhatItsHookSays(t *testing.T) {
	t.Parallel()
	for name, s := range signings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const body = `{"a":"\u003c♥",  "b":1}` // octokit/webhooks.js#1155: the bytes as received
			h := s.sign(s.key("a"), "msg_1", stampOf(hookNow), body)
			d, matched, err := ReceiveHook(h, hookOf(s.scheme), secretsOf(s.key("a"), ""), hookNow)
			if err != nil || matched != MatchedCurrent {
				t.Fatalf("got %v, %v", matched, err)
			}
			if d.Source != "shop" || d.Event != "order.created" || string(d.Body) != body || d.Actor != (pipeline.Actor{ID: "hook:shop", Kind: pipeline.System}) ||
				d.Channel != "hook:shop" || d.Target != (pipeline.Target{Event: "order.created"}) {
				t.Errorf("got %+v", d)
			}
			env := pipeline.NewEnvelope("orders", strings.Repeat("ab", 32), d.Source, d.Body, d.Actor, d.Channel, d.Target, hookNow)
			if err := env.Check(); err != nil {
				t.Error(err)
			}
			if again := "{\"a\":\"<\u2665\",\"b\":1}"; true {
				h.Body = []byte(again)
				_, _, err := ReceiveHook(h, hookOf(s.scheme), secretsOf(s.key("a"), ""), hookNow)
				want(t, err, pipeline.BadSignature, "msg_1")
			}
		})
	}
}

// webhooks.js#770, probot#1974: the old and the new secret by turns, and which
// of them matched.
func TestHookSecretsRotate(t *testing.T) {
	t.Parallel()
	for name, s := range signings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook, both := hookOf(s.scheme), secretsOf(s.key("n"), s.key("o"))
			for key, matched := range map[string]Matched{"n": MatchedCurrent, "o": MatchedPrevious, "x": MatchedNone} {
				_, got, err := ReceiveHook(s.sign(s.key(key), "m", stampOf(hookNow), "{}"), hook, both, hookNow)
				if got != matched || (err == nil) != (matched != MatchedNone) {
					t.Errorf("signed with %s: got %v, %v", key, got, err)
				}
			}
			_, got, err := ReceiveHook(s.sign(s.key("o"), "m", stampOf(hookNow), "{}"), hook, secretsOf("", s.key("o")), hookNow)
			if got != MatchedPrevious || err != nil {
				t.Errorf("the previous alone: got %v, %v", got, err)
			}
		})
	}
}

// n8n#29480: no secret is no proof, and nor is one of another form.
func TestAHookWithoutASecretTakesNothing(t *testing.T) {
	t.Parallel()
	for name, s := range signings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := hookOf(s.scheme)
			for _, key := range []string{"", "short", "whsec_", "whsec_c2hvcnQ="} {
				for _, secrets := range []Secrets{secretsOf(key, ""), secretsOf("", key), secretsOf(key, key)} {
					_, matched, err := ReceiveHook(s.sign(key, "m", stampOf(hookNow), "{}"), hook, secrets, hookNow)
					if matched != MatchedNone {
						t.Errorf("%q matched", key)
					}
					want(t, err, pipeline.NoSecret)
					want(t, hook.CheckSecrets(secrets), pipeline.NoSecret, "c2hvcnQ")
				}
			}
			// Beside a good one it changes nothing, but is told of at a start.
			mixed := secretsOf(s.key("a"), "short")
			if _, matched, err := ReceiveHook(s.sign(s.key("a"), "m", stampOf(hookNow), "{}"), hook, mixed, hookNow); matched != MatchedCurrent {
				t.Errorf("got %v, %v", matched, err)
			}
			want(t, hook.CheckSecrets(mixed), pipeline.NoSecret, "short")
			if err := hook.CheckSecrets(secretsOf(s.key("a"), s.key("b"))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheWindowIsFiveMinutesBothWays(t *testing.T) {
	t.Parallel()
	for name, s := range signings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, off := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute, 301 * time.Second, -301 * time.Second, 24 * 365 * time.Hour, -24 * 365 * time.Hour} {
				_, matched, err := ReceiveHook(s.sign(s.key("a"), "m", stampOf(hookNow.Add(off)), "{}"), hookOf(s.scheme), secretsOf(s.key("a"), ""), hookNow)
				inside := !s.stamps || off.Abs() <= 5*time.Minute
				if inside != (err == nil) || inside != (matched == MatchedCurrent) {
					t.Errorf("%s off: got %v, %v", off, matched, err)
				}
				if !inside {
					want(t, err, pipeline.OutsideWindow)
				}
			}
			// A time outside that is not signed is no more than a wrong signature.
			_, _, err := ReceiveHook(s.sign(s.key("b"), "m", stampOf(hookNow.Add(time.Hour)), "{}"), hookOf(s.scheme), secretsOf(s.key("a"), ""), hookNow)
			want(t, err, pipeline.BadSignature)
		})
	}
}

// Any bit of the body, or of a header that the scheme looks at, flipped.
func TestOneFlippedBitIsRefused(t *testing.T) {
	t.Parallel()
	for name, s := range signings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				id := rapid.StringMatching(`[A-Za-z0-9_-]{1,40}`).Draw(rt, "id")
				body := `{"a":"` + rapid.StringMatching(`[a-z<♥ ]{0,40}`).Draw(rt, "text") + `"}`
				h := s.sign(s.key("a"), id, stampOf(hookNow), body)
				hook, secrets := hookOf(s.scheme), secretsOf(s.key("a"), s.key("b"))
				if _, _, err := ReceiveHook(h, hook, secrets, hookNow); err != nil {
					rt.Fatal(err)
				}
				parts := [][]byte{h.Body}
				names := []string{""}
				for name, values := range h.header {
					parts, names = append(parts, []byte(strings.TrimSuffix(values[0], ",v0=ignored"))), append(names, name)
				}
				i := rapid.IntRange(0, len(parts)-1).Draw(rt, "part")
				bit := rapid.IntRange(0, 8*len(parts[i])-1).Draw(rt, "bit")
				parts[i][bit/8] ^= 1 << (bit % 8)
				if names[i] != "" {
					h.header[names[i]] = []string{string(parts[i])}
				}
				_, matched, err := ReceiveHook(h, hook, secrets, hookNow)
				if c := code(t, err); matched != MatchedNone || c != pipeline.BadSignature {
					rt.Errorf("bit %d of %q: got %v, %v", bit, names[i], matched, err)
				}
			})
		})
	}
}

func TestMalformedHeadersOfHooks(t *testing.T) {
	t.Parallel()
	const body = "{}"
	stamp := stampOf(hookNow)
	key := standardSecret("a")
	good := signings()["standard"].sign(key, "msg", stamp, body).header["webhook-signature"][0]
	other := signings()["standard"].sign(standardSecret("z"), "msg", stamp, body).header["webhook-signature"][0]
	standard := func(id, stamp, signature string) HTTP {
		return requestOf(body, "webhook-id", id, "webhook-timestamp", stamp, "webhook-signature", signature)
	}
	stripe := HMAC{Header: "s", Encoding: Hex, Hash: SHA256, Signs: SignsStripe}
	v1 := macHex(sha256.New, plainKey("a"), stamp+"."+body)
	for name, tc := range map[string]struct {
		scheme Scheme
		h      HTTP
		ok     bool
	}{
		"good":                         {StandardWebhooks{}, standard("msg", stamp, good), true},
		"several":                      {StandardWebhooks{}, standard("msg", stamp, other+" "+good), true},
		"several, of another version":  {StandardWebhooks{}, standard("msg", stamp, "v1a,zz9 "+good+" v2,"), true},
		"too many":                     {StandardWebhooks{}, standard("msg", stamp, strings.Repeat(other+" ", maxSignatures)+good), false},
		"another version alone":        {StandardWebhooks{}, standard("msg", stamp, strings.Replace(good, "v1,", "v1a,", 1)), false},
		"no version":                   {StandardWebhooks{}, standard("msg", stamp, good[3:]), false},
		"nothing":                      {StandardWebhooks{}, standard("msg", stamp, ""), false},
		"a version and nothing":        {StandardWebhooks{}, standard("msg", stamp, "v1,"), false},
		"a space at the end":           {StandardWebhooks{}, standard("msg", stamp, good+" "), false},
		"no id":                        {StandardWebhooks{}, requestOf(body, "webhook-timestamp", stamp, "webhook-signature", good), false},
		"two ids":                      {StandardWebhooks{}, requestOf(body, "webhook-id", "msg", "webhook-id", "msg", "webhook-timestamp", stamp, "webhook-signature", good), false},
		"two signature headers":        {StandardWebhooks{}, requestOf(body, "webhook-id", "msg", "webhook-timestamp", stamp, "webhook-signature", good, "webhook-signature", good), false},
		"an id that parts otherwise":   {StandardWebhooks{}, signings()["standard"].sign(key, "msg.1", stamp, body), false},
		"an empty id":                  {StandardWebhooks{}, signings()["standard"].sign(key, "", stamp, body), false},
		"a long id":                    {StandardWebhooks{}, signings()["standard"].sign(key, strings.Repeat("m", 257), stamp, body), false},
		"a control in the id":          {StandardWebhooks{}, signings()["standard"].sign(key, "m\x00", stamp, body), false},
		"a time with a sign":           {StandardWebhooks{}, standard("msg", "+"+stamp, good), false},
		"a time with a zero":           {StandardWebhooks{}, standard("msg", "0"+stamp, good), false},
		"a time with a space":          {StandardWebhooks{}, standard("msg", " "+stamp, good), false},
		"a time of milliseconds":       {StandardWebhooks{}, signings()["standard"].sign(key, "msg", stamp+"000", body), false},
		"a time beyond every clock":    {StandardWebhooks{}, signings()["standard"].sign(key, "msg", strings.Repeat("9", 30), body), false},
		"a negative time":              {StandardWebhooks{}, signings()["standard"].sign(key, "msg", "-1", body), false},
		"a long header":                {StandardWebhooks{}, standard("msg", stamp, good+" v2,"+strings.Repeat("x", maxHeaderBytes)), false},
		"svix's headers, not declared": {StandardWebhooks{}, signings()["svix"].sign(key, "msg", stamp, body), false},
		"stripe":                       {stripe, requestOf(body, "s", "t="+stamp+",v1="+v1), true},
		"stripe, several":              {stripe, requestOf(body, "s", "v1=zz9,t="+stamp+",v1="+v1), true},
		"stripe, another version":      {stripe, requestOf(body, "s", "t="+stamp+",v0="+v1), false},
		"stripe, two times":            {stripe, requestOf(body, "s", "t=1,t="+stamp+",v1="+v1), false},
		"stripe, no time":              {stripe, requestOf(body, "s", "v1="+v1), false},
		"stripe, no list":              {stripe, requestOf(body, "s", v1), false},
		"stripe, capitals":             {stripe, requestOf(body, "s", "t="+stamp+",v1="+strings.ToUpper(v1)), false},
		"stripe, too many":             {stripe, requestOf(body, "s", "t="+stamp+strings.Repeat(",v1=zz9", maxSignatures)+",v1="+v1), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := key
			if _, ok := tc.scheme.(HMAC); ok {
				secret = plainKey("a")
			}
			_, matched, err := ReceiveHook(tc.h, hookOf(tc.scheme), secretsOf(secret, ""), hookNow)
			if tc.ok {
				if err != nil || matched != MatchedCurrent {
					t.Errorf("got %v, %v", matched, err)
				}
				return
			}
			if c := code(t, err); matched != MatchedNone || c != pipeline.BadSignature && c != pipeline.OutsideWindow {
				t.Errorf("got %v, %v", matched, err)
			}
			want(t, err, code(t, err), "zz9", good[3:], "msg.1")
		})
	}
}

// Nothing of a body is looked at before its signature is proved; then it is
// strict JSON within the bounds, and says its event.
func TestTheBodyOfAHook(t *testing.T) {
	t.Parallel()
	s := signings()["standard"]
	byType := HookEvent{Pointer: "/data/0/type", Names: map[string]string{"order.created": "order.created", "Order Paid!": "order.paid"}}
	for name, tc := range map[string]struct {
		event HookEvent
		body  string
		code  pipeline.Code
		is    string
	}{
		"constant":              {HookEvent{Name: "order"}, `{}`, pipeline.OK, "order"},
		"by pointer":            {byType, `{"data":[{"type":"order.created"}]}`, pipeline.OK, "order.created"},
		"mapped":                {byType, `{"data":[{"type":"Order Paid!"}]}`, pipeline.OK, "order.paid"},
		"mapped, escaped":       {byType, `{"data":[{"type":"Order\u0020Paid!"}]}`, pipeline.OK, "order.paid"},
		"not listed":            {byType, `{"data":[{"type":"zz9 order.created"}]}`, pipeline.UnhandledEvent, ""},
		"another case":          {byType, `{"data":[{"type":"ORDER.CREATED"}]}`, pipeline.UnhandledEvent, ""},
		"none":                  {byType, `{"data":[{"kind":"zz9"}]}`, pipeline.BodyMisfit, ""},
		"null":                  {byType, `{"data":[{"type":null}]}`, pipeline.BodyMisfit, ""},
		"a number":              {byType, `{"data":[{"type":1}]}`, pipeline.BodyMisfit, ""},
		"an object":             {byType, `{"data":[{"type":{"type":"order.created"}}]}`, pipeline.BodyMisfit, ""},
		"a list":                {byType, `[{"type":"order.created"}]`, pipeline.MalformedBody, ""},
		"a key twice":           {byType, `{"data":[{"type":"zz9","type":"order.created"}]}`, pipeline.MalformedBody, ""},
		"bad UTF-8":             {byType, "{\"zz9\":\"\xff\"}", pipeline.MalformedBody, ""},
		"lone surrogate":        {byType, `{"zz9":"\ud800"}`, pipeline.MalformedBody, ""},
		"trailing bytes":        {byType, `{} zz9`, pipeline.MalformedBody, ""},
		"a form":                {byType, `zz9=1`, pipeline.MalformedBody, ""},
		"empty":                 {byType, ``, pipeline.MalformedBody, ""},
		"too deep":              {byType, `{"zz9":` + strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1) + `}`, pipeline.MalformedBody, ""},
		"too many keys":         {byType, `{"zz9":[` + strings.Repeat(`{"a":1},`, MaxKeys) + `0]}`, pipeline.MalformedBody, ""},
		"larger than a body is": {byType, `{"zz9":"` + strings.Repeat("x", MaxBodyBytes) + `"}`, pipeline.BodyTooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := Hook{Name: "shop", Scheme: s.scheme, Event: tc.event}
			h := s.sign(s.key("a"), "m", stampOf(hookNow), tc.body)
			d, matched, err := ReceiveHook(h, hook, secretsOf(s.key("a"), ""), hookNow)
			want(t, err, tc.code, "zz9")
			if d.Event != tc.is || matched != MatchedCurrent {
				t.Errorf("got %q, %v", d.Event, matched)
			}
			h.Body = append(h.Body, ' ')
			_, _, err = ReceiveHook(h, hook, secretsOf(s.key("a"), ""), hookNow)
			want(t, err, pipeline.BadSignature, "zz9")
		})
	}
}

func TestNoneWantsToBeSaid(t *testing.T) {
	t.Parallel()
	h := requestOf("{}")
	for _, said := range []string{"", "yes", AnyoneMaySend + "."} {
		hook := hookOf(None{Unsigned: said})
		if err := hook.Check(); err == nil {
			t.Errorf("%q: taken", said)
		}
		_, matched, err := ReceiveHook(h, hook, Secrets{}, hookNow)
		if matched != MatchedNone {
			t.Errorf("%q: got %v", said, matched)
		}
		want(t, err, pipeline.NoSecret)
	}
	hook := hookOf(None{Unsigned: AnyoneMaySend})
	d, matched, err := ReceiveHook(h, hook, Secrets{}, hookNow)
	if err != nil || matched != MatchedUnsigned || matched.String() != "unsigned" || d.Event != "order.created" || !hook.Unsigned() {
		t.Errorf("got %v, %v, %v", d, matched, err)
	}
	want(t, hook.CheckSecrets(secretsOf("a secret for what is not signed", "")), pipeline.NoSecret)
	if !strings.Contains(hook.Scheme.String(), "NOT SIGNED") || !strings.Contains(hook.Scheme.String(), AnyoneMaySend) {
		t.Errorf("got %q", hook.Scheme)
	}
}

func TestCheckOfHooks(t *testing.T) {
	t.Parallel()
	good := HMAC{Header: "x-sig", Encoding: Hex, Hash: SHA256, Signs: SignsDotted, Timestamp: "x-time"}
	change := func(f func(*HMAC)) Scheme { s := good; f(&s); return s }
	event := HookEvent{Name: "order.created"}
	many := map[string]string{}
	for i := range maxHookNames + 1 {
		many[strconv.Itoa(i)] = "order"
	}
	for name, hook := range map[string]Hook{
		"no name": {"", good, event}, "capitals": {"Shop", good, event}, "a path": {"a/b", good, event}, "long": {strings.Repeat("a", 33), good, event},
		"github": {"github", good, event}, "schedule": {"schedule", good, event}, "item": {"item", good, event}, "mail": {"mail", good, event}, "feed": {"feed", good, event},
		"no scheme":           {"shop", nil, event},
		"long window":         {"shop", StandardWebhooks{Tolerance: 2 * time.Hour}, event},
		"no window":           {"shop", StandardWebhooks{Tolerance: -time.Second}, event},
		"no event":            {"shop", good, HookEvent{}},
		"two events":          {"shop", good, HookEvent{Name: "a", Pointer: "/a", Names: map[string]string{"a": "a"}}},
		"a bad event":         {"shop", good, HookEvent{Name: "Order Created"}},
		"names beside":        {"shop", good, HookEvent{Name: "a", Names: map[string]string{"a": "a"}}},
		"bad pointer":         {"shop", good, HookEvent{Pointer: "type", Names: map[string]string{"a": "a"}}},
		"no names":            {"shop", good, HookEvent{Pointer: "/type"}},
		"many names":          {"shop", good, HookEvent{Pointer: "/type", Names: many}},
		"a bad mapping":       {"shop", good, HookEvent{Pointer: "/type", Names: map[string]string{"a": "A"}}},
		"a long value":        {"shop", good, HookEvent{Pointer: "/type", Names: map[string]string{strings.Repeat("a", maxHookName+1): "a"}}},
		"no header":           {"shop", change(func(s *HMAC) { s.Header = "" }), event},
		"header case":         {"shop", change(func(s *HMAC) { s.Header = "X-Sig" }), event},
		"prefix":              {"shop", change(func(s *HMAC) { s.Prefix = "a b" }), event},
		"encoding":            {"shop", change(func(s *HMAC) { s.Encoding = 0 }), event},
		"hash":                {"shop", change(func(s *HMAC) { s.Hash = 3 }), event},
		"signs nothing":       {"shop", change(func(s *HMAC) { s.Signs = 0 }), event},
		"no time":             {"shop", change(func(s *HMAC) { s.Timestamp = "" }), event},
		"one header":          {"shop", change(func(s *HMAC) { s.Timestamp = s.Header }), event},
		"a time unused":       {"shop", change(func(s *HMAC) { s.Signs = SignsBody }), event},
		"a window of nothing": {"shop", change(func(s *HMAC) { s.Signs, s.Timestamp, s.Tolerance = SignsBody, "", time.Minute }), event},
		"a list's prefix":     {"shop", change(func(s *HMAC) { s.Signs, s.Timestamp, s.Prefix = SignsStripe, "", "v1=" }), event},
	} {
		if err := hook.Check(); err == nil {
			t.Errorf("%s: taken", name)
		}
		_, matched, err := ReceiveHook(requestOf("{}"), hook, secretsOf(plainKey("a"), ""), hookNow)
		if matched != MatchedNone {
			t.Errorf("%s: got %v", name, matched)
		}
		want(t, err, pipeline.NoSecret)
	}
	for name, s := range signings() {
		if err := hookOf(s.scheme).Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	hook := Hook{Name: "shop-eu", Scheme: good, Event: HookEvent{Pointer: "/t", Names: map[string]string{"b": "b", "a": "a", "c": "b"}}}
	if got := fmt.Sprint(hook.Events(), hook.Path(), hook.Sender()); got != "[a b]/webhooks/shop-euhook:shop-eu" || hook.Check() != nil {
		t.Errorf("got %s", got)
	}
}

// Whatever the headers say, what has no key proves nothing, and no answer
// repeats them.
func FuzzHookHeaders(f *testing.F) {
	for _, s := range signings() {
		h := s.sign(s.key("b"), "msg_1", stampOf(hookNow), "{}")
		for _, values := range h.header {
			f.Add("msg_1", stampOf(hookNow), values[0], []byte("{}"))
		}
	}
	f.Fuzz(func(t *testing.T, id, stamp, signature string, body []byte) {
		for name, s := range signings() {
			h := HTTP{header: map[string][]string{}, Body: body}
			for _, header := range []string{"webhook-id", "svix-id"} {
				h.header[header] = []string{id}
			}
			for _, header := range []string{"webhook-timestamp", "svix-timestamp", "x-time", "x-slack-request-timestamp"} {
				h.header[header] = []string{stamp}
			}
			for _, header := range []string{"webhook-signature", "svix-signature", "x-sig", "x-slack-signature", "stripe-signature"} {
				h.header[header] = []string{signature}
			}
			_, matched, err := ReceiveHook(h, hookOf(s.scheme), secretsOf(s.key("a"), s.key("c")), hookNow)
			if matched != MatchedNone || code(t, err) != pipeline.BadSignature {
				t.Errorf("%s: got %v, %v", name, matched, err)
			}
			if len(signature) > 20 && strings.Contains(err.Error(), signature) {
				t.Errorf("%s: the error repeats the header", name)
			}
		}
	})
}
