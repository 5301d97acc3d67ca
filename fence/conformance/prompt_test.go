package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"decant.dev/fence"
)

// promptAdapter answers with prompt.v1, changed by m.
func promptAdapter(m func(doc map[string]any, p fence.Prompt)) Func {
	return func(_ context.Context, doc []byte) ([]byte, error) {
		c, err := fence.DecodeRunContext(doc)
		if err != nil {
			return nil, err
		}
		p, err := fence.Render(c, rand.Reader)
		if err != nil {
			return nil, err
		}
		out, err := p.Encode()
		if err != nil {
			return nil, err
		}
		var parts map[string]any
		if err := json.Unmarshal(out, &parts); err != nil {
			return nil, err
		}
		m(parts, p)
		return json.Marshal(parts)
	}
}

// everywhere changes the data in prompt.v1 and in its flat form.
func everywhere(doc map[string]any, old, new string) {
	flat := doc["flat"].(map[string]any)
	doc["data"] = strings.ReplaceAll(doc["data"].(string), old, new)
	flat["user"] = strings.ReplaceAll(flat["user"].(string), old, new)
	for i, s := range flat["system"].([]any)[1:] {
		flat["system"].([]any)[i+1] = strings.ReplaceAll(s.(string), old, new)
	}
}

func TestAPromptIsHeldToWhatItClaims(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		m    func(doc map[string]any, p fence.Prompt)
		want []Rule
	}{
		{"right", func(map[string]any, fence.Prompt) {}, nil},
		{"another voice", func(d map[string]any, _ fence.Prompt) { d["voice"] = "x" }, []Rule{PartsAgree}},
		{"another placement", func(d map[string]any, _ fence.Prompt) {
			d["placement"] = map[any]any{"user": "system", "system": "user"}[d["placement"]]
		}, []Rule{PartsAgree}},
		{"another preamble", func(d map[string]any, _ fence.Prompt) { d["preamble"] = "x" }, []Rule{PartsAgree}},
		{"another digest", func(d map[string]any, _ fence.Prompt) { d["boundary_sha256"] = strings.Repeat("0", 64) }, []Rule{PartsAgree}},
		{"nothing included", func(d map[string]any, _ fence.Prompt) { d["included"] = []any{} }, []Rule{PartsAgree}},
		{"nothing truncated", func(d map[string]any, _ fence.Prompt) { d["truncated"] = []any{} }, []Rule{PartsAgree}},
		{"nothing dropped", func(d map[string]any, _ fence.Prompt) { d["dropped"] = []any{} }, []Rule{PartsAgree}},
		{"other data than in flat", func(d map[string]any, _ fence.Prompt) { d["data"] = "x" + d["data"].(string) }, []Rule{PartsAgree}},
		{"lines without marks", func(d map[string]any, _ fence.Prompt) { everywhere(d, "┃ ", "| ") }, []Rule{BlockForm}},
		{"indentation lost", func(d map[string]any, _ fence.Prompt) { everywhere(d, "┃     ", "┃ ") }, []Rule{BlockForm}},
		{"escapes lost", func(d map[string]any, _ fence.Prompt) { everywhere(d, "⟦U+2028⟧", " ") }, []Rule{BlockForm}},
		{"a block more", func(d map[string]any, p fence.Prompt) {
			everywhere(d, p.Data(), p.Data()+block(p, 99, "more"))
		}, []Rule{BlockForm}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wantBroken(t, brokenBy(t, promptAdapter(tc.m), Options{Seed: seeds()[1]}), slices.Clone(tc.want)...)
		})
	}
}

func TestAnswersAreDecodedStrictly(t *testing.T) {
	t.Parallel()
	for _, good := range []string{`{"schema":"turn.v1","system":[],"user":""}`, ` {"user":"a","system":["b","c"],"schema":"turn.v1"} `} {
		if _, err := decodeAnswer([]byte(good)); err != nil {
			t.Errorf("%v", err)
		}
	}
	for name, bad := range map[string]string{
		"nothing":         "",
		"prose":           "secret",
		"null":            "null",
		"no schema":       `{"system":[],"user":""}`,
		"other schema":    `{"schema":"secret","system":[],"user":""}`,
		"no user":         `{"schema":"turn.v1","system":[]}`,
		"no system":       `{"schema":"turn.v1","user":""}`,
		"null user":       `{"schema":"turn.v1","system":[],"user":null}`,
		"null part":       `{"schema":"turn.v1","system":[null],"user":""}`,
		"part of no text": `{"schema":"turn.v1","system":[1],"user":""}`,
		"unknown key":     `{"schema":"turn.v1","system":[],"user":"","secret":1}`,
		"key twice":       `{"schema":"turn.v1","system":[],"user":"","user":""}`,
		"key in capitals": `{"schema":"turn.v1","system":[],"User":""}`,
		"two documents":   `{"schema":"turn.v1","system":[],"user":""}{}`,
		"bad utf-8":       "{\"schema\":\"turn.v1\",\"system\":[],\"user\":\"secret\xff\"}",
		"many parts":      `{"schema":"turn.v1","system":["","","","","","","","",""],"user":""}`,
		"half a prompt":   `{"schema":"prompt.v1","voice":"secret"}`,
		"too long":        `{"schema":"turn.v1","system":[],"user":"` + strings.Repeat("x", MaxAnswerBytes) + `"}`,
	} {
		if _, err := decodeAnswer([]byte(bad)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: want an error without what came, got %v", name, err)
		}
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte(`{"schema":"turn.v1","system":["a"],"user":"b"}`))
	f.Add([]byte(`{"schema":"prompt.v1"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		a, err := decodeAnswer(doc)
		if err == nil && len(a.parts()) != len(a.system)+1 {
			t.Fatal("want the user message last")
		}
	})
}

func TestTheGuideListsEveryRule(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("\n| rule | what it wants |\n| --- | --- |\n")
	for _, r := range Rules() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", r, r.Sentence())
	}
	if !strings.HasSuffix(string(guide), table.String()) {
		t.Errorf("want docs/adapters.md to end with this table:\n%s", table.String())
	}
}
