package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// speakers is which kinds other people read, written a second time: a new
// kind does not pass without a decision.
var speakers = map[Kind]bool{
	"github.assign": true, "github.close": true, "github.comment": true, "github.issue": true, "github.label": true, "github.milestone": true,
	"queue.send": false, "table.row": false, "webhook.post": true,
}

func TestEveryKindIsDeclaredWhole(t *testing.T) {
	t.Parallel()
	kinds := AllKinds()
	if len(kinds) != len(traits) || len(kinds) != len(speakers) || !slices.IsSorted(kinds) {
		t.Fatalf("kinds %v: want %d, sorted", kinds, len(speakers))
	}
	seen := map[reflect.Type]bool{}
	for _, k := range kinds {
		speaks, ok := speakers[k]
		trait := k.Trait()
		if !ok || trait.Speaks != speaks || !k.Known() {
			t.Errorf("%s: speaks %t, known %t", k, trait.Speaks, k.Known())
		}
		a := trait.New()
		if a.Kind() != k {
			t.Errorf("%s makes actions of kind %s", k, a.Kind())
		}
		typ := reflect.TypeOf(a)
		if seen[typ] || !actionTypes[typ] {
			t.Errorf("%s: type %s is another kind's, or not of the list", k, typ)
		}
		seen[typ] = true
	}
	if len(actionTypes) != len(kinds) {
		t.Errorf("%d types of action for %d kinds", len(actionTypes), len(kinds))
	}
}

func TestEveryFieldOfEveryKindHasAPlaceAndAPlainName(t *testing.T) {
	t.Parallel()
	for _, k := range AllKinds() {
		typ := reflect.TypeOf(k.Trait().New())
		if typ.Kind() != reflect.Struct || typ.NumField() == 0 {
			t.Errorf("%s is a %s of %d fields: want a struct with parameters", k, typ.Kind(), typ.NumField())
			continue
		}
		names := map[string]bool{}
		addresses := 0
		for i := range typ.NumField() {
			f := typ.Field(i)
			address, isAddress := f.Tag.Lookup("address")
			content, isContent := f.Tag.Lookup("content")
			if isAddress == isContent || !f.IsExported() || f.Anonymous {
				t.Errorf("%s: field %s: want exported, with one of the tags address and content", k, f.Name)
			}
			if isAddress {
				addresses++
			}
			name := address + content
			if !IsName(name) || names[name] {
				t.Errorf("%s: parameter %q: want a plain name, once", k, name)
			}
			names[name] = true
		}
		if addresses == 0 {
			t.Errorf("%s has no address", k)
		}
	}
}

// A sink is told every field of the action: none is left out of the
// parameters, and each stands in the place that its tag names.
func TestEveryFieldBecomesAParameterInItsPlace(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	for _, k := range AllKinds() {
		v := reflect.New(reflect.TypeOf(k.Trait().New())).Elem()
		want := map[string]Place{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			place, name := Content, f.Tag.Get("content")
			if a, ok := f.Tag.Lookup("address"); ok {
				place, name = Address, a
			}
			switch v.Field(i).Interface().(type) {
			case Ref:
				v.Field(i).Set(reflect.ValueOf(target()))
			case Template:
				v.Field(i).Set(reflect.ValueOf(Say("hello ", n.Quote)))
			case []Column:
				v.Field(i).Set(reflect.ValueOf([]Column{Text("one", "x"), Quote("two", n.Quote)}))
				want["one"], want["two"] = place, place
				continue
			case string:
				v.Field(i).SetString("word")
				if f.Name == "Repository" {
					v.Field(i).SetString("octo-org/sample")
				}
			case int:
				v.Field(i).SetInt(7)
			default:
				t.Fatalf("%s: field %s of type %s: teach this test its values", k, f.Name, f.Type)
			}
			want[name] = place
		}
		params, err := Params(v.Interface().(Action))
		if err != nil {
			t.Errorf("%s: %v", k, err)
			continue
		}
		got := map[string]Place{}
		for _, p := range params {
			got[p.Name] = p.Place
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: parameters %v: want %v", k, got, want)
		}
		if !slices.IsSortedFunc(params, func(a, b Param) int {
			if a.Place != b.Place {
				return int(a.Place) - int(b.Place)
			}
			return strings.Compare(a.Name, b.Name)
		}) {
			t.Errorf("%s: parameters %v: want addresses first, each place by name", k, params)
		}
	}
}

func TestAnUnknownKindSpeaks(t *testing.T) {
	t.Parallel()
	for _, k := range []Kind{"", "mail.send", "table.Row", "table.row "} {
		if k.Known() || !k.Trait().Speaks || k.Trait().New != nil {
			t.Errorf("kind %q: known %t, trait %+v: want unknown and speaking", k, k.Known(), k.Trait())
		}
	}
}

func TestKindsAreReadFromAList(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": 0, "table.row": 1, "table.row,github.close": 2, "table.row,table.row": -1, "table.row,": -1, ",": -1, " table.row": -1, "no.such": -1} {
		kinds, err := ParseKinds(s)
		if (err != nil) != (want < 0) || err == nil && len(kinds) != want {
			t.Errorf("%q: got %v, %v", s, kinds, err)
		}
	}
}
