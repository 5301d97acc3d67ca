package rules

import (
	"context"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// parcel is a shape whose fields a record has.
type parcel struct {
	Code  *shape.Token  `json:"code,omitempty"  jsonschema:"pattern=^[A-Z]{2}-[0-9]{1\\,4}$"`
	Codes []shape.Token `json:"codes"           jsonschema:"maxItems=2,pattern=^[A-Z]{2}-[0-9]{1\\,4}$"`
	Names *shape.Quote  `json:"names,omitempty" jsonschema:"maxLength=12,pattern=^[ -~]{1\\,12}$"`
	Note  *shape.Text   `json:"note,omitempty"  jsonschema:"maxLength=8"`
	Size  string        `json:"size"            jsonschema:"enum=small,enum=large,enum=unknown"`
	Count int           `json:"count"           jsonschema:"minimum=0,maximum=20"`
	Fresh bool          `json:"fresh"`
	Ours  string        `json:"ours"            jsonschema:"enum=yes,enum=perhaps,enum=no"`
}

func parcelSet() Set {
	return Set{
		Sources: []Source{{Origin: fence.OriginRecordField, Field: "text"}},
		Takes: []Take{
			{ID: "code.record", Field: "code", From: "code"},
			{ID: "codes.record", Field: "codes", From: "code"},
			{ID: "names.record", Field: "names", From: "names", Sep: ", "},
			{ID: "note.record", Field: "note", From: "note"},
			{ID: "count.record", Field: "count", From: "count"},
			{ID: "fresh.record", Field: "fresh", From: "fresh"},
			{ID: "size.record", Field: "size", From: "size", Labels: map[string]string{"s": "small", "l": "large", "extra large": "large"}},
		},
		Matches: []Match{{
			ID: "ours.listed", Field: "ours", From: "thing", Hit: "yes", Unsure: "perhaps", Miss: "no",
			Listed: []Listed{{Name: "a thing", Version: "1.5.0"}, {Name: "another"}, {Name: "odd", Version: "today"}},
		}},
		Choices: []Choice{{Field: "count", Default: "0"}, {Field: "fresh", Default: "false"}, {Field: "size", Default: "unknown", Rules: []Rule{Weigh("size.words", "large", 20, Text, Words("heavy"))}}},
	}
}

func recordOf(pairs ...string) (list []fence.Element) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fence.Element{
			ID: "e" + string(rune('1'+i/2)), Author: fence.Author{ID: "i", Kind: fence.KindImport}, Origin: fence.OriginRecordField, Role: fence.RoleUser,
			Trust: fence.TrustUnverified, Field: pairs[i], Text: pairs[i+1],
		})
	}
	return list
}

func TestTakenAsItIs(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[parcel]()
	if err != nil {
		t.Fatal(err)
	}
	x := Must(s, parcelSet())
	const none = `{"codes":[],"count":0,"fresh":false,"ours":"no","size":"unknown"}`
	for _, c := range []struct {
		name  string
		pairs []string
		want  string // canonical
	}{
		{"nothing", nil, none},
		{"a token", []string{"code", "AB-1"}, `{"code":"AB-1","codes":["AB-1"],"count":0,"fresh":false,"ours":"no","size":"unknown"}`},
		{"the first that fits", []string{"code", "x", "code", "AB-2 ", "code", "AB-3"}, `{"code":"AB-3","codes":["AB-3"],"count":0,"fresh":false,"ours":"no","size":"unknown"}`},
		{"each once, up to the bound", []string{"code", "AB-1", "code", "AB-1", "code", "AB-2", "code", "AB-3"}, `{"code":"AB-1","codes":["AB-1","AB-2"],"count":0,"fresh":false,"ours":"no","size":"unknown"}`},
		{"a token in a text is no record", []string{"text", "AB-1", "other", "AB-1"}, none},
		{"a quote", []string{"names", "abc, def"}, `{"codes":[],"count":0,"fresh":false,"names":"abc, def","ours":"no","size":"unknown"}`},
		{"a quote that is too long", []string{"names", "abc, def, ghi"}, `{"codes":[],"count":0,"fresh":false,"names":"abc, def","ours":"no","size":"unknown"}`},
		{"a quote without a part", []string{"names", "abcdefghijklm, n"}, none},
		{"a very long quote", []string{"names", strings.Repeat("a, ", 100_000)}, `{"codes":[],"count":0,"fresh":false,"names":"a, a, a, a","ours":"no","size":"unknown"}`},
		{"a quote of another alphabet", []string{"names", "äb, c"}, none},
		{"a text", []string{"note", "äöü"}, `{"codes":[],"count":0,"fresh":false,"note":"äöü","ours":"no","size":"unknown"}`},
		{"a text that is too long", []string{"note", "a, b, c, d"}, none},
		{"a number and a truth", []string{"count", "21", "count", "07", "count", "7", "fresh", "True", "fresh", "true"}, `{"codes":[],"count":7,"fresh":true,"ours":"no","size":"unknown"}`},
		{"a label", []string{"size", " L\n"}, `{"codes":[],"count":0,"fresh":false,"ours":"no","size":"large"}`},
		{"a label of two words", []string{"size", "XL", "size", "Extra Large"}, `{"codes":[],"count":0,"fresh":false,"ours":"no","size":"large"}`},
		{"a label before words", []string{"size", "s", "text", "it is heavy"}, `{"codes":[],"count":0,"fresh":false,"ours":"no","size":"small"}`},
		{"words where there is no label", []string{"size", "?", "text", "it is heavy"}, `{"codes":[],"count":0,"fresh":false,"ours":"no","size":"large"}`},
		{"listed", []string{"thing", "another\n>=9"}, `{"codes":[],"count":0,"fresh":false,"ours":"yes","size":"unknown"}`},
		{"listed by name alone", []string{"thing", "another"}, `{"codes":[],"count":0,"fresh":false,"ours":"yes","size":"unknown"}`},
		{"in range", []string{"thing", "a thing\n>=1.0.0 <1.2.0 || >=1.4.0 <1.6.0"}, `{"codes":[],"count":0,"fresh":false,"ours":"yes","size":"unknown"}`},
		{"out of range", []string{"thing", "a thing\n>=1.0.0 <1.2.0"}, none},
		{"ranges that are none", []string{"thing", "a thing\nsome"}, `{"codes":[],"count":0,"fresh":false,"ours":"perhaps","size":"unknown"}`},
		{"no ranges", []string{"thing", "a thing"}, `{"codes":[],"count":0,"fresh":false,"ours":"perhaps","size":"unknown"}`},
		{"endless ranges", []string{"thing", "a thing\n" + strings.Repeat(">=1.0.0 ", 10_000)}, `{"codes":[],"count":0,"fresh":false,"ours":"perhaps","size":"unknown"}`},
		{"a version that is none", []string{"thing", "odd\n>=0.0.0-0"}, `{"codes":[],"count":0,"fresh":false,"ours":"perhaps","size":"unknown"}`},
		{"the surest", []string{"thing", "odd\n>=1.0.0", "thing", "another", "thing", "a thing\nsome"}, `{"codes":[],"count":0,"fresh":false,"ours":"yes","size":"unknown"}`},
		{"a name in another case", []string{"thing", "Another"}, none},
		{"a name with more", []string{"thing", "another one"}, none},
	} {
		elements := recordOf(c.pairs...)
		a, err := x.Extract(context.Background(), extract.Request{Context: fence.RunContext{Elements: elements}, Shape: s})
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Decode(a.Candidate)
		if err != nil {
			t.Errorf("%s: candidate %.200s: %v", c.name, a.Candidate, err)
			continue
		}
		if got := string(v.Encode()); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		for i := range elements { // our own words are no record
			elements[i].Trust = fence.TrustSelf
		}
		if a, _ := x.Extract(context.Background(), extract.Request{Context: fence.RunContext{Elements: elements}, Shape: s}); len(c.pairs) > 0 {
			if v, err := s.Decode(a.Candidate); err != nil || string(v.Encode()) != none {
				t.Errorf("%s, of trust self: got %s, %v", c.name, a.Candidate, err)
			}
		}
	}
}

func TestTakesThatCannotBe(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[parcel]()
	if err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Set){
		`field "kind"`:                       func(s *Set) { s.Takes[0].Field = "kind" },
		"taken once":                         func(s *Set) { s.Takes[1].Field = "code" },
		"rule code.record: this id":          func(s *Set) { s.Takes[1].ID = "code.record" },
		"rule code.record: want the name":    func(s *Set) { s.Takes[0].From = "" },
		"rule size.record: want texts":       func(s *Set) { s.Takes[6].Labels = map[string]string{} },
		`"huge" is no value of field size`:   func(s *Set) { s.Takes[6].Labels = map[string]string{"h": "huge"} },
		`text "S": want it in lower case`:    func(s *Set) { s.Takes[6].Labels = map[string]string{"S": "small"} },
		"rule note.record: labels":           func(s *Set) { s.Takes[3].Labels = map[string]string{"a": "b"} },
		"field size: no rule decides it":     func(s *Set) { s.Choices = s.Choices[:2] },
		"field ours: no rule decides it":     func(s *Set) { s.Matches = nil },
		`"maybe" is no value of field ours`:  func(s *Set) { s.Matches[0].Unsure = "maybe" },
		"rule ours.listed: want names":       func(s *Set) { s.Matches[0].Listed = []Listed{{Name: "a\nb"}} },
		"field code: it is of another kind":  func(s *Set) { s.Matches[0].Field = "code" },
		"field code: decided twice":          func(s *Set) { s.Tokens = []Token{{Field: "code", Rules: []TokenRule{{ID: "x", Where: Text}}}} },
		"rule ours.listed: want the name of": func(s *Set) { s.Matches[0].From = "" },
	} {
		set := parcelSet()
		spoil(&set)
		if _, err := New(s, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
