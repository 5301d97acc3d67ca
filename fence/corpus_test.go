package fence

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// places put a foreign text everywhere that foreign text can stand in a context.
var places = map[string]func(text string) RunContext{
	"title":         placeField("title"),
	"field":         placeField("severity"),
	"target field":  placeField("target_field"),
	"selected span": placeField("selected_span"),
	"body":          placeOrigin(OriginMessage),
	"file":          placeOrigin(OriginFile),
	"history":       placeOrigin(OriginHistory),
	"tool result":   placeOrigin(OriginToolResult),
	"denial":        placeOrigin(OriginDenial),
	"clarification": placeOrigin(OriginClarification),
	"feed item":     placeOrigin(OriginFeedItem),
	"mail body":     placeOrigin(OriginMailBody),
	"mail header":   placeOrigin(OriginMailHeader),
	"import":        placeOrigin(OriginImported),
	"transcript": func(text string) RunContext {
		e := element("e2", text)
		e.Origin, e.Parent = OriginTranscript, "e1"
		c := validContext()
		c.Elements = append(c.Elements, e)
		return c
	},
	"author's name": func(text string) RunContext {
		c := validContext()
		c.Elements[0].Author.Name = text
		return c
	},
	"name beside a voice": func(text string) RunContext {
		e := element("e1", "hello")
		e.Author.Name = text
		return speaking("Please look at this.", e)
	},
}

func placeOrigin(o Origin) func(string) RunContext {
	return func(text string) RunContext {
		c := validContext()
		c.Elements[0].Text, c.Elements[0].Origin = text, o
		return c
	}
}

func placeField(name string) func(string) RunContext {
	return func(text string) RunContext {
		c := placeOrigin(OriginRecordField)(text)
		c.Elements[0].Field = name
		return c
	}
}

// blank takes everything from a header's marker to the next marker of the token, which must be a footer, out of a prompt.
func blank(text string, b Boundary) string {
	var out strings.Builder
	tail := " token=" + b.Hex() + "》"
	for {
		at := strings.Index(text, tail)
		if at < 0 {
			return out.String() + text
		}
		start := strings.LastIndex(text[:at], "《DATA ")
		size := strings.Index(text[at+len(tail):], tail)
		if start < 0 || size < 0 {
			return "a marker alone"
		}
		end := at + len(tail) + size
		if foot := strings.LastIndex(text[:end], "《/DATA "); foot < at || text[foot+len("《/DATA "):end] != text[start+len("《DATA "):at] {
			return "a footer of another block"
		}
		out.WriteString(text[:start])
		text = text[end+len(tail):]
	}
}

func whole(p Prompt) string { return strings.Join(append(p.System(), p.User()), "\x00") }

func TestEveryTextInEveryPlaceStaysInsideItsBlock(t *testing.T) {
	t.Parallel()
	samples := append(corpus(t, "payloads.jsonl"), corpus(t, "benign.jsonl")...)
	for place, build := range places {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			empty := mustRender(t, build(""))
			want := blank(whole(empty), empty.Boundary())
			for _, s := range samples {
				c := build(s.Text)
				c.Limits = Limits{MaxLimit, MaxLimit}
				p := mustRender(t, c)
				if got := blank(whole(p), p.Boundary()); got != want {
					t.Fatalf("%s: the prompt outside the blocks depends on the text", s.ID)
				}
				blocks, _ := mustSplit(t, p)
				found := false
				for _, b := range blocks {
					found = found || b.Text == s.Text
				}
				if !found {
					t.Fatalf("%s: no block gives the text back", s.ID)
				}
			}
		})
	}
}

func TestEveryCorpusLineComesBackByteIdentical(t *testing.T) {
	t.Parallel()
	bd := testBoundary(t)
	for _, s := range append(corpus(t, "payloads.jsonl"), corpus(t, "benign.jsonl")...) {
		checkRoundTrip(t, bd, s.Text)
	}
}

var escaped = regexp.MustCompile(`⟦(U\+[0-9A-F]+|0x[0-9A-F]{2})⟧`)

func TestNoAttackLeavesHiddenTextOrALookAlikeMarker(t *testing.T) {
	t.Parallel()
	bd := testBoundary(t)
	closing := regexp.MustCompile(`(?i)[《⟪︽]\s*/\s*d\s*a\s*t\s*a`)
	for _, s := range corpus(t, "payloads.jsonl") {
		out := string(AppendLine(nil, 1, bd, s.Text))
		body := strings.TrimSuffix(strings.TrimPrefix(out, "《DATA 1 token="+bd.Hex()+"》"), "《/DATA 1 token="+bd.Hex()+"》")
		if closing.MatchString(body) {
			t.Errorf("%s: a marker is left", s.ID)
		}
		if !utf8.ValidString(body) {
			t.Errorf("%s: invalid bytes are left", s.ID)
		}
		for _, r := range body {
			if 0xE0000 <= r && r <= 0xE0FFF || r < 0x20 && r != '\t' || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 {
				t.Errorf("%s: U+%04X is left", s.ID, r)
			}
		}
	}
}

func TestBenignTextsKeepAllButTheListedCharacters(t *testing.T) {
	t.Parallel()
	bd := testBoundary(t)
	var got strings.Builder
	for _, s := range corpus(t, "benign.jsonl") {
		var codes []string
		for _, m := range escaped.FindAllStringSubmatch(string(AppendBlock(nil, 1, bd, benchAttributes, s.Text)), -1) {
			codes = append(codes, m[1])
		}
		if codes != nil {
			fmt.Fprintf(&got, "%s %s\n", s.ID, strings.Join(codes, " "))
		}
	}
	golden := filepath.Join("testdata", "benign_escapes.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("escaped characters of honest texts changed; -update and review\ngot:\n%s\nwant:\n%s", got.String(), want)
	}
}
