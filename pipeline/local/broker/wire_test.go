package broker

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

var notRequests = []string{
	"", "null", "[]", "{}", `""`, "\x00", `{"host":"a.example"}`, `{"port":443}`,
	`{"host":"a.example","port":0}`, `{"host":"a.example","port":-1}`, `{"host":"a.example","port":65536}`,
	`{"host":"a.example","port":443.0}`, `{"host":"a.example","port":"443"}`, `{"host":"a.example","port":null}`,
	`{"host":null,"port":443}`, `{"host":"","port":443}`, `{"host":"A.example","port":443}`,
	`{"Host":"a.example","port":443}`, `{"host":"a.example","port":443,"x":1}`,
	`{"host":"a.example","host":"b.example","port":443}`, `{"port":443,"host":"a.example"}`,
	` {"host":"a.example","port":443}`, `{"host":"a.example","port":443} `, `{"host":"a.example","port":443}{}`,
	`{"host":"\u0061.example","port":443}`, `{"host":"a.example\n","port":443}`, `{"host":"a b","port":443}`,
	"{\"host\":\"\xff\",\"port\":443}", `{"host":"a%00.example","port":443}`, `{"host":"` + strings.Repeat("a", 254) + `","port":443}`,
	`{"host":"a.example","port":443}` + strings.Repeat(" ", maxRequest), strings.Repeat("[", maxRequest),
}

func TestDecodeRequestRefusesEveryOtherSpelling(t *testing.T) {
	t.Parallel()
	for _, packet := range notRequests {
		if _, err := decodeRequest([]byte(packet)); !errors.Is(err, Malformed) {
			t.Errorf("%.80q: want %v, got %v", packet, Malformed, err)
		}
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"host":"api.github.com","port":443}`))
	f.Add([]byte(`{"host":"::1","port":65535}`))
	for _, packet := range notRequests {
		f.Add([]byte(packet))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		r, err := decodeRequest(packet)
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil || string(again) != string(packet) {
			t.Fatalf("accepted %q, which is not the one spelling", packet)
		}
		// A host that a declared target could never match is harmless, but one that could must read back the same.
		if back, err := parseTarget(r.target()); err == nil && back != r {
			t.Fatalf("%+v reads back as %+v", r, back)
		}
	})
}

func FuzzDecodeReply(f *testing.F) {
	for _, packet := range []string{`{"ok":true}`, `{"code":"unreachable"}`, `{"ok":false}`, `{"ok":true,"code":"malformed"}`, `{"code":"other"}`, "{}"} {
		f.Add([]byte(packet))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		r, err := decodeReply(packet)
		if err == nil && r.OK == r.Code.Valid() {
			t.Fatalf("accepted %q, which is neither or both", packet)
		}
	})
}

func TestACodeOffTheListIsNotValid(t *testing.T) {
	t.Parallel()
	for _, code := range []Code{"", "other", "Malformed"} {
		if code.Valid() || code.Error() != "broker: unknown code" {
			t.Errorf("%q: want it unknown, got %q", code, code.Error())
		}
	}
}
