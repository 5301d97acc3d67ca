package rules

import (
	"testing"

	"decant.dev/fence"
)

func TestFeatures(t *testing.T) {
	t.Parallel()
	long := "It stops after a while and we do not know at all why that would be so, since nothing was changed. "
	tests := []struct {
		name string
		f    Feature
		yes  []string
		no   []string
	}{
		{"code block", CodeBlock, []string{"```\nx\n```", "a\n\n    x"}, []string{"`x`", ""}},
		{"stack trace", StackTrace, []string{
			"```\nTraceback (most recent call last):\n  File \"a.py\", line 1\n```",
			"\tat com.example.Main.run(Main.java:12)", "panic: nil map", "```\ngoroutine 1 [running]:\n```", "#0  0x0000 in main ()",
			"    at foo (/srv/a.js:1:2)\n", "Caused by: java.io.IOException: x", "Exception in thread \"main\" x", "thread 'main' panicked at src/main.rs:2",
		}, []string{"at the office", "we met at noon (12:00)", "#1 is better", "> at a.b(C.java:1)"}},
		{"numbered list", NumberedList, []string{"1. open\n2. close", "1) open it\n2) close it"}, []string{"1. \n2. ", "1. open", "2.13.0 is new\n2.14.0 too"}},
		{"image", Image, []string{"![shot](https://example.com/a.png)", "<img src=x>"}, []string{"[a](b)", "wow!"}},
		{"asks", Asks, []string{"Can it work?", "Really (yes)?\nok", "可以吗？"}, []string{"https://example.com/?q=1", "a?b", "`x?`"}},
		{"brief", Brief, []string{"", "short"}, []string{long + long + long, "```\nx\n```"}},
		{"checklist", Checklist, []string{"- [ ] read it", "* [X] read it"}, []string{"- item", "[ ] is empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := &Extractor{sources: []Source{{Origin: fence.OriginMessage}}}
			see := func(body string) bool {
				return x.read([]fence.Element{{ID: "m", Origin: fence.OriginMessage, Text: body}}).features[tt.f]
			}
			for _, body := range tt.yes {
				if !see(body) {
					t.Errorf("%q: want the feature", body)
				}
			}
			for _, body := range tt.no {
				if see(body) {
					t.Errorf("%q: want no such feature", body)
				}
			}
		})
	}
}
