package fence

import (
	"errors"
	"strings"
	"testing"
)

func TestValidateRefusesWhatBreaksARule(t *testing.T) {
	t.Parallel()
	if err := richContext().Validate(); err != nil {
		t.Fatal(err)
	}
	first := func(change func(*Element)) func(*RunContext) { return func(c *RunContext) { change(&c.Elements[0]) } }
	last := func(change func(*Element)) func(*RunContext) {
		return func(c *RunContext) { change(&c.Elements[len(c.Elements)-1]) }
	}
	for name, tc := range map[string]struct {
		change func(*RunContext)
		kind   error
	}{
		"no run":              {func(c *RunContext) { c.Run = "" }, ErrContext},
		"recipe with a slash": {func(c *RunContext) { c.Recipe = "a/b" }, ErrContext},
		"no profile":          {func(c *RunContext) { c.Profile = 0 }, ErrContext},
		"unknown placement":   {func(c *RunContext) { c.Placement = 9 }, ErrContext},
		"zero limit":          {func(c *RunContext) { c.Limits.ContextMaxBytes = 0 }, ErrContext},
		"negative limit":      {func(c *RunContext) { c.Limits.MessageMaxBytes = -1 }, ErrContext},
		"long instruction":    {func(c *RunContext) { c.Instruction = strings.Repeat("x", MaxScaffoldBytes+1) }, ErrContext},
		"bytes as scaffold":   {func(c *RunContext) { c.Scaffold = "\xff" }, ErrContext},
		"too many elements":   {func(c *RunContext) { c.Elements = make([]Element, MaxElements+1) }, ErrContext},
		"id twice":            {first(func(e *Element) { e.ID = "e2" }), ErrContext},
		"unknown trigger":     {func(c *RunContext) { c.Trigger = "e9" }, ErrContext},
		"unverified trigger":  {func(c *RunContext) { c.Trigger = "e4" }, ErrContext},
		"two of trust trigger": {func(c *RunContext) {
			e := c.Elements[3]
			e.ID, e.Trust = "e9", TrustTrigger
			c.Elements = append(c.Elements, e)
		}, ErrContext},
		"no voice":               {func(c *RunContext) { c.Trigger, c.Instruction = "", "" }, ErrContext},
		"blank instruction":      {func(c *RunContext) { c.Trigger, c.Instruction = "", " \n\u200b\t" }, ErrContext},
		"empty voice":            {last(func(e *Element) { e.Text = "" }), ErrContext},
		"invisible voice":        {last(func(e *Element) { e.Text = "\u200b \u2060\n" }), ErrContext},
		"bytes as voice":         {last(func(e *Element) { e.Text = "a\xff" }), ErrContext},
		"large voice":            {last(func(e *Element) { e.Text = strings.Repeat("x", MaxTriggerBytes+1) }), ErrTriggerTooLarge},
		"file as trigger":        {last(func(e *Element) { e.Origin = OriginFile }), ErrElement},
		"app as trigger":         {last(func(e *Element) { e.Author.Kind = KindApp }), ErrElement},
		"agent authorized":       {first(func(e *Element) { e.Author.Kind, e.Trust = KindAgent, TrustAuthorized }), ErrElement},
		"no element id":          {first(func(e *Element) { e.ID = "" }), ErrElement},
		"element id with spaces": {first(func(e *Element) { e.ID = "a b" }), ErrElement},
		"author id with bracket": {first(func(e *Element) { e.Author.ID = "a》" }), ErrElement},
		"no kind":                {first(func(e *Element) { e.Author.Kind = 0 }), ErrElement},
		"no origin":              {first(func(e *Element) { e.Origin = 0 }), ErrElement},
		"no role":                {first(func(e *Element) { e.Role = 0 }), ErrElement},
		"no trust":               {first(func(e *Element) { e.Trust = 0 }), ErrElement},
		"media type with a line": {first(func(e *Element) { e.MediaType = "a/b\n" }), ErrElement},
		"field without name":     {first(func(e *Element) { e.Field = "" }), ErrElement},
		"field name with marks":  {first(func(e *Element) { e.Field = "title: 《" }), ErrElement},
		"field on a message":     {last(func(e *Element) { e.Field = "title" }), ErrElement},
		"negative truncation":    {first(func(e *Element) { e.TruncatedBytes = -1 }), ErrElement},
		"parent with spaces":     {first(func(e *Element) { e.Parent = "a b" }), ErrElement},
		"parent of no one":       {first(func(e *Element) { e.Parent = "e9" }), ErrContext},
		"its own parent":         {first(func(e *Element) { e.Parent = "e1" }), ErrContext},
		"orphan transcript":      {func(c *RunContext) { c.Elements[2].Parent = "" }, ErrElement},
		"transcript of another":  {func(c *RunContext) { c.Elements[2].Trust = TrustAuthorized }, ErrContext},
		"transcript of transcript": {func(c *RunContext) {
			e := c.Elements[2]
			e.ID, e.Parent = "e9", "e3"
			c.Elements = append(c.Elements, e)
		}, ErrContext},
	} {
		c := richContext()
		tc.change(&c)
		if err := c.Validate(); !errors.Is(err, tc.kind) {
			t.Errorf("%s: got %v, want %v", name, err, tc.kind)
		}
		if _, err := Render(c, &counter{}); !errors.Is(err, tc.kind) {
			t.Errorf("%s: Render gave %v, want %v", name, err, tc.kind)
		}
		if _, err := c.Encode(); !errors.Is(err, tc.kind) {
			t.Errorf("%s: Encode gave %v, want %v", name, err, tc.kind)
		}
	}
}
