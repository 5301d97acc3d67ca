package pipeline

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// forms pairs each form, as an error shows it, with the code that decides.
var forms = map[string]struct {
	form string
	is   func(string) bool
	like []string // from here the neighbourhood is explored
}{
	"hex":        {hexForm, IsDigest, []string{strings.Repeat("0af9", 16)}},
	"run":        {runForm, IsRunID, []string{strings.Repeat("0af9", 8)}},
	"name":       {nameForm, IsRecipeName, []string{"a", "issues", "a-9", "z" + strings.Repeat("-", 31)}},
	"source":     {nameForm, func(s string) bool { return isName(s, 32) }, []string{"github"}},
	"actor":      {actorForm, func(s string) bool { return isPrefixed(s, actorSet, 64) }, []string{"github:583231", "mail:a.b+c@example.com", "a" + strings.Repeat("-", 15) + ":" + strings.Repeat("_", 64)}},
	"channel":    {channelForm, func(s string) bool { return isPrefixed(s, channelSet, 160) }, []string{"github:octo-org/sample", "mailbox:help@example.com", "x:" + strings.Repeat("/", 160)}},
	"event":      {eventForm, isEvent, []string{"push", "issues.opened", "issue_comment.created", "a" + strings.Repeat("_", 31) + "." + strings.Repeat("_", 31)}},
	"repository": {repoForm, IsRepository, []string{"octo-org/sample", "a_b/.github", strings.Repeat("-", 39) + "/" + strings.Repeat(".", 100)}},
}

// stepsOut reports whether a repository's name is a step in a path, which the
// form cannot say: no regular expression of RE2 leaves two words out briefly.
func stepsOut(form, s string) bool {
	return form == "repository" && (strings.HasSuffix(s, "/.") || strings.HasSuffix(s, "/.."))
}

// What is matched by hand is what the form in the error says.
func TestFormsSayWhatIsMatched(t *testing.T) {
	t.Parallel()
	pieces := []string{"", "a", "z", "A", "Z", "0", "9", "-", "_", ".", ":", "/", "@", "+", "g", "f", " ", "\n", "`", "{", "[", "^", "$", "é", "\x00", "\x7f", "\x80", "\xff", "Ａ", "ａ", "..", "::", "//"}
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			re := regexp.MustCompile(f.form)
			agree := func(t interface {
				Helper()
				Fatalf(string, ...any)
			}, s string) {
				t.Helper()
				want := re.MatchString(s) && !stepsOut(name, s)
				if f.is(s) != want {
					t.Fatalf("%q: matched %t, and %s says %t", s, f.is(s), f.form, want)
				}
			}
			for _, s := range f.like {
				if !f.is(s) {
					t.Fatalf("%q is refused", s)
				}
				for i := range len(s) + 1 {
					for _, p := range pieces {
						agree(t, s[:i]+p+s[i:])
						if i < len(s) {
							agree(t, s[:i]+p+s[i+1:])
						}
					}
					agree(t, s[:i])
					agree(t, s[i:])
				}
			}
			near := rapid.Custom(func(t *rapid.T) string {
				s := rapid.SampledFrom(append([]string{""}, f.like...)).Draw(t, "base")
				for range rapid.IntRange(0, 4).Draw(t, "edits") {
					i := rapid.IntRange(0, len(s)).Draw(t, "at")
					j := rapid.IntRange(i, min(len(s), i+3)).Draw(t, "to")
					s = s[:i] + strings.Repeat(rapid.SampledFrom(pieces).Draw(t, "piece"), rapid.SampledFrom([]int{1, 1, 1, 2, 40, 161}).Draw(t, "times")) + s[j:]
				}
				return s
			})
			rapid.Check(t, func(t *rapid.T) {
				agree(t, rapid.OneOf(near, rapid.String(), rapid.StringMatching(f.form)).Draw(t, "text"))
			})
		})
	}
}
