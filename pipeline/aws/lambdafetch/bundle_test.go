package lambdafetch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/contextapi"
)

// kept is what stands in the stores of a deployment with a context API, in
// the order in which it was put.
type kept struct {
	order  []string
	digest [sha256.Size]byte
	bundle []byte
	token  string
	fail   map[string]error
}

func (k *kept) PutBundle(_ context.Context, run string, d [sha256.Size]byte, b []byte) error {
	k.order, k.digest, k.bundle = append(k.order, "bundle"), d, b
	return k.fail["bundle"]
}

type put struct {
	*kept
	what string
}

func (p put) Put(_ context.Context, run string, b []byte) error {
	p.order = append(p.order, p.what)
	if p.what == "token" {
		p.token = string(b)
	}
	return p.fail[p.what]
}

func withAPI(t *testing.T) (*kept, *Handler, pipeline.Envelope) {
	t.Helper()
	_, h, env := begin(t)
	k := &kept{fail: map[string]error{}}
	c := h.config
	c.Random = rand.Reader
	c.Bundles = k
	c.Tokens = func(string) Prompts { return put{k, "token"} }
	c.Prompts = func(string) Prompts { return put{k, "prompt"} }
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return k, h, env
}

// With a context API the bundle is kept under the digest of a token that was
// minted for it, before extract finds that token, and both before the prompt.
func TestBundleAndTokenComeBeforeThePrompt(t *testing.T) {
	t.Parallel()
	k, h, env := withAPI(t)
	var tokens []string
	for range 2 {
		k.order = nil
		if _, code, err := ask(t, h, env); code != "" || err != nil {
			t.Fatalf("got %s, %v", code, err)
		}
		if !slices.Equal(k.order, []string{"bundle", "token", "prompt"}) {
			t.Errorf("got the order %v", k.order)
		}
		token, err := contextapi.ParseToken(k.token)
		if err != nil || token.Run() != env.Run || token.Digest() != contextapi.Digest(k.digest) {
			t.Errorf("got %v, %v", token, err)
		}
		tokens = append(tokens, k.token)
	}
	if tokens[0] == tokens[1] {
		t.Error("two attempts have one token")
	}
	b, err := fence.DecodeBundle(k.bundle)
	if err != nil || b.Run != env.Run || len(b.Elements) != 2 {
		t.Errorf("got a bundle of %d elements, %v", len(b.Elements), err)
	}
}

// What cannot be kept ends the phase before there is a prompt.
func TestNoPromptWithoutItsToken(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"bundle", "token"} {
		for _, fail := range []error{client.RetryableError{}, pipeline.StoreFailed.Error("zz9")} {
			k, h, env := withAPI(t)
			k.fail[where] = fail
			_, code, err := ask(t, h, env)
			if again := errors.Is(fail, client.RetryableError{}); errors.Is(err, client.RetryableError{}) != again || (code == pipeline.PhaseMisbehave) == again {
				t.Errorf("%s: got %s, %v", where, code, err)
			}
			if slices.Contains(k.order, "prompt") || where == "bundle" && len(k.order) > 1 {
				t.Errorf("%s: got the order %v", where, k.order)
			}
		}
	}
}

func TestWithoutAnAPINothingIsKept(t *testing.T) {
	t.Parallel()
	_, h, env := begin(t)
	if _, code, err := ask(t, h, env); code != "" || err != nil {
		t.Fatalf("got %s, %v", code, err)
	}
	c := h.config
	c.Bundles = &kept{}
	if _, err := New(c); err == nil {
		t.Error("bundles without tokens were taken")
	}
}
