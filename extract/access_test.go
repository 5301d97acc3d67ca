package extract

import (
	"fmt"
	"strings"
	"testing"
)

// adapting is a scripted extractor that asks for access, or says that it does
// not want it after all.
type adapting struct {
	*scripted
	wants bool
}

func (x adapting) WantsContext() bool { return x.wants }

// Whatever the orchestrator sends along, only an adapter that wants access is
// given it, and at each of its turns.
func TestAccessGoesToAnAdapterThatWantsIt(t *testing.T) {
	t.Parallel()
	access := Access{URL: "http://127.0.0.1:8080/api/v1/runs/" + run + "/context", Token: run + ".SECRETWORD"}
	for name, tc := range map[string]struct {
		extractor func(*scripted) Extractor
		want      Access
	}{
		"an adapter":                 {func(x *scripted) Extractor { return adapting{x, true} }, access},
		"an adapter that needs none": {func(x *scripted) Extractor { return adapting{x, false} }, Access{}},
		"another extractor":          {func(x *scripted) Extractor { return x }, Access{}},
	} {
		x := turns(`nonsense`, `{"kind":"a"}`)
		out := ask(t, tc.extractor(x), Input{Recipe: "findings", Run: run, Object: object(t), Access: access})
		if out.Code != "" || len(x.requests) != 2 {
			t.Fatalf("%s: got %q after %d turns", name, out.Code, len(x.requests))
		}
		for _, r := range x.requests {
			if r.Access != tc.want {
				t.Errorf("%s: got %v, want %v", name, r.Access, tc.want)
			}
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if s := fmt.Sprintf(verb, access) + fmt.Sprintf(verb, Request{Access: access}); strings.Contains(s, "SECRETWORD") {
			t.Errorf("%s shows the token: %s", verb, s)
		}
	}
}
