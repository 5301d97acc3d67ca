package feed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
)

func codeOf(err error) pipeline.Code {
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return fault.Code
	}
	if err != nil {
		return "an error without a code"
	}
	return pipeline.OK
}

// TestRealFeeds reads 57 feed documents, valid and odd: all are read, and each
// of their items is elements or quarantined by itself.
func TestRealFeeds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "feeds"), "*.xml"))
	if err != nil || len(files) < 57 {
		t.Fatalf("got %d feeds, %v: want 57", len(files), err)
	}
	total, quarantined := 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		items, err := Items(Syndication, raw)
		status, elements := "read", 0
		if err != nil {
			status = string(codeOf(err))
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		for _, item := range items {
			b, err := ItemElements(pipeline.Envelope{}, item)
			if err != nil {
				status = string(codeOf(err))
				quarantined++
			}
			elements += len(b.Elements)
			check(t, b)
		}
		total += len(items)
		t.Logf("%-70s %-12s %d items, %d elements", filepath.Base(file), status, len(items), elements)
	}
	t.Logf("%d files, %d items, %d quarantined since they say nothing", len(files), total, quarantined)
	if total == 0 || quarantined == total {
		t.Errorf("%d of %d items are quarantined: want some read", quarantined, total)
	}
}

// check holds elements against what fence wants of them.
func check(t testing.TB, b fetch.Bundle) {
	t.Helper()
	for _, e := range b.Elements {
		if e.Author != (fence.Author{ID: Author, Kind: fence.KindImport}) || e.Trust != fence.TrustUnverified || e.Text == "" || !utf8.ValidString(e.Text) {
			t.Errorf("element %s %s: want an import's unverified text", e.ID, e.Field)
		}
	}
	bundle := fence.Bundle{Run: strings.Repeat("0", 32), Recipe: "r", Profile: fence.ProfileIntake, Instruction: "i", Limits: fence.Limits{MessageMaxBytes: 1 << 20, ContextMaxBytes: 1 << 20}, Elements: b.Elements}
	if _, err := bundle.Encode(); err != nil && len(b.Elements) > 0 {
		t.Errorf("elements: %v", err)
	}
}

// fields are a bundle's elements as "field=text", in order.
func fields(b fetch.Bundle) (all []string) {
	for _, e := range b.Elements {
		name := e.Field
		if e.Origin == fence.OriginFeedItem {
			name = "*"
		}
		all = append(all, name+"="+e.Text)
	}
	return all
}

func TestFeedsOfEachFormatBecomeTheSameElements(t *testing.T) {
	t.Parallel()
	want := []string{"link=https://example.com/1", "category=c", "author=Ann <a@example.com>", "title=T & t", "*=one\n\ntwo"}
	for name, doc := range map[string]string{
		"rss": `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>x</title><item><guid>1</guid><title>T &amp;amp; t</title>
			<link>https://example.com/1</link><category>c</category><author>a@example.com (Ann)</author>
			<description>&lt;p&gt;one&lt;p&gt;two&lt;span style="display:none"&gt;secret&lt;/span&gt;</description></item></channel></rss>`,
		"atom": `<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><id>f</id><entry><id>1</id><title type="html">T &amp;amp; t</title>
			<link href="https://example.com/1"/><category term="c"/><author><name>Ann</name><email>a@example.com</email></author>
			<content type="html">&lt;p&gt;one&lt;p&gt;two&lt;span hidden&gt;secret&lt;/span&gt;</content></entry></feed>`,
		"json": `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[{"id":"1","title":"T &amp; t","url":"https://example.com/1","tags":["c"],
			"authors":[{"name":"Ann <a@example.com>"}],"content_html":"<p>one<p>two<!-- secret -->"}]}`,
	} {
		items, err := Items(Syndication, []byte(doc))
		if err != nil || len(items) != 1 {
			t.Errorf("%s: got %d items, %v", name, len(items), err)
			continue
		}
		b, err := ItemElements(pipeline.Envelope{}, items[0])
		check(t, b)
		got := slices.DeleteFunc(fields(b), func(f string) bool { return f == FieldHidden+"=6" })
		if err != nil || !slices.Equal(got, want) || len(got) == len(b.Elements) {
			t.Errorf("%s: got %q, %v; want %q and %s=6", name, fields(b), err, want, FieldHidden)
		}
	}
}

func TestDocumentsOfEachForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		doc   document
		in    string
		items []string
		ids   []string
	}{
		{"one advisory", document{format: OSV}, "\ufeff" + `{"b":1,"id":"A"}`, []string{`{"b":1,"id":"A"}`}, []string{"A"}},
		{"advisories", document{format: OSV}, `[{"id":"A"},{"id":"B"}]`, []string{`{"id":"A"}`, `{"id":"B"}`}, []string{"A", "B"}},
		{"a query's answer", document{format: OSV}, `{"vulns":[{"id":"A"}],"next_page_token":"x"}`, []string{`{"id":"A"}`}, []string{"A"}},
		{"no advisory", document{format: OSV}, `{"vulns":[]}`, nil, nil},
		{"a list", document{format: JSON, id: "/id"}, `[1,"x",{"id":7},null,[]]`, []string{"1", `"x"`, `{"id":7}`, "null", "[]"}, []string{"", "", "7", "", ""}},
		{"a list within", document{format: JSON, pointer: "/a~1b/1/c", id: "/k/0"}, `{"x":[],"a/b":[0,{"c":[{"k":["i"]}]}]}`, []string{`{"k":["i"]}`}, []string{"i"}},
		{"members in another order", document{format: JSON, id: "/id"}, `[{"z":1.50,"id":"a"},{"id":"a","z":1.50}]`, []string{`{"id":"a","z":1.50}`, `{"id":"a","z":1.50}`}, []string{"a", "a"}},
		{"large numbers", document{format: JSON, id: "/id"}, `[{"id":90071992547409931}]`, []string{`{"id":90071992547409931}`}, []string{"90071992547409931"}},
		{"a name twice", document{format: JSON, id: "/id"}, `[{"id":1, "id":2},{"id":3}]`, []string{`{"id":1, "id":2}`, `{"id":3}`}, []string{"", "3"}},
		{"a table", document{format: CSV, id: "/name"}, "name,n\r\na,1\n\"b\nc\",\"\"\"\"\n", []string{`{"n":"1","name":"a"}`, `{"n":"\"","name":"b\nc"}`}, []string{"a", "b\nc"}},
		{"a bad row", document{format: CSV, id: "/name"}, "name,n\na\nb,2,3\nc,3\n", []string{`["a"]`, `["b","2","3"]`, `{"n":"3","name":"c"}`}, []string{"", "", "c"}},
		{"bad bytes", document{format: JSON, id: "/id"}, "[\"\xff\"]", []string{"\"\ufffd\""}, []string{""}},
	} {
		entries, err := c.doc.entries([]byte(c.in))
		var items, ids []string
		for _, e := range entries {
			items, ids = append(items, string(e.raw)), append(ids, e.id)
		}
		if err != nil || !slices.Equal(items, c.items) || !slices.Equal(ids, c.ids) {
			t.Errorf("%s: got %q %q, %v; want %q %q", c.name, items, ids, err, c.items, c.ids)
		}
	}
}

func TestAFileIsReadAsItsSource(t *testing.T) {
	t.Parallel()
	items, err := Config{Format: JSON, Pointer: "/list"}.Items([]byte(`{"list":[{"b":1,"a":2},7]}`))
	if err != nil || len(items) != 2 || string(items[0]) != `{"a":2,"b":1}` || string(items[1]) != "7" {
		t.Errorf("got %q, %v", items, err)
	}
}

func TestWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for _, c := range []struct {
		name string
		doc  document
		in   string
	}{
		{"no format", document{}, "[]"},
		{"no JSON", document{format: OSV}, "{"},
		{"two values", document{format: JSON}, "[] []"},
		{"not a list", document{format: JSON, pointer: "/a"}, `{"a":{}}`},
		{"nothing there", document{format: JSON, pointer: "/b"}, `{"a":[]}`},
		{"an index with a zero", document{format: JSON, pointer: "/01"}, `[0,[]]`},
		{"an index beyond", document{format: JSON, pointer: "/2"}, `[0,[]]`},
		{"no pointer", document{format: JSON, pointer: "a"}, `{"a":[]}`},
		{"nested too deep", document{format: JSON}, deep},
		{"broken off", document{format: JSON, pointer: "/a"}, `{"a":[1],`},
		{"no header", document{format: CSV}, ""},
		{"a header's name twice", document{format: CSV}, "a,a\n1,2"},
		{"no feed", document{format: Syndication}, "<html></html>"},
		{"nothing", document{format: Syndication}, ""},
		{"a feed nested too deep", document{format: Syndication}, "<rss><channel>" + strings.Repeat("<a:b>", 200_000)},
		{"a JSON feed nested too deep", document{format: Syndication}, `{"version":"https://jsonfeed.org/version/1","items":` + deep + "}"},
	} {
		entries, err := c.doc.entries([]byte(c.in))
		if codeOf(err) != pipeline.SourceMalformed || entries != nil {
			t.Errorf("%s: got %d items, %v; want %s", c.name, len(entries), err, pipeline.SourceMalformed)
		}
	}
}

// Of a feed in JSON, as of one in XML, one item that is none is listed as it is.
func TestOneBadItemDoesNotSpoilAFeed(t *testing.T) { // cve-lite-cli#917
	t.Parallel()
	for _, bad := range []string{`null`, `7`, `{"id":"1","title":7}`, `{"id":"1","id":"2"}`, `{"id":"1","authors":{}}`} {
		items, err := Items(Syndication, []byte(`{"version":"https://jsonfeed.org/version/1.1","items":[`+bad+`,{"id":"2","content_text":"a < b\n\nc"}]}`))
		if err != nil || len(items) != 2 {
			t.Errorf("%s: got %d items, %v; want both", bad, len(items), err)
			continue
		}
		if _, err := ItemElements(pipeline.Envelope{}, items[0]); codeOf(err) != pipeline.Unreadable {
			t.Errorf("%s: got %v, want %s", bad, err, pipeline.Unreadable)
		}
		if b, err := ItemElements(pipeline.Envelope{}, items[1]); err != nil || !slices.Equal(fields(b), []string{"*=a < b\n\nc"}) {
			t.Errorf("%s: the other item: got %q, %v", bad, fields(b), err)
		}
	}
}

func TestEntitiesOfADocumentsOwnAreNotFollowed(t *testing.T) {
	t.Parallel()
	bomb := `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>`
	items, err := Items(Syndication, []byte(bomb+`<rss version="2.0"><channel><title>&b;</title><item><title>&b;&x;!</title></item></channel></rss>`))
	if err == nil && (len(items) != 1 || strings.Contains(string(items[0]), "aaa") || strings.Contains(string(items[0]), "root")) {
		t.Errorf("got %q", items)
	}
}

func TestListsOfAnItemAreBounded(t *testing.T) {
	t.Parallel()
	many, err := ItemElements(pipeline.Envelope{}, fmt.Appendf(nil, `{"schema":"feed_item.v1","title":"t","categories":[%s"0"]}`, strings.Repeat(`"1",`, 99)))
	if err != nil || len(many.Elements) != maxEach+2 || fields(many)[maxEach] != "category_left_out=36" {
		t.Errorf("got %d elements, %v; want %d categories and how many are left out", len(many.Elements), err, maxEach)
	}
	for _, bad := range []string{`{}`, `{"schema":"feed_item.v1"}`, `{"schema":"feed_item.v1","title":"a","x":1}`, `{"schema":"feed_item.v2","title":"a"}`, `[]`, `null`} {
		if _, err := ItemElements(pipeline.Envelope{}, []byte(bad)); codeOf(err) != pipeline.Unreadable {
			t.Errorf("%q: got %v, want %s", bad, err, pipeline.Unreadable)
		}
	}
}

// What is read of any bytes is canonical, and read alike again.
func FuzzItems(f *testing.F) {
	for _, seed := range []string{
		`{"id":"GO-1","aliases":["CVE-1"],"affected":[{"package":{"ecosystem":"Go","name":"a"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"1.0.0"}]}]}],"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}]}`,
		`{"vulns":[{"id":null,"aliases":[null]}]}`, `[{"id":1,"id":2}]`, "a,b\n1,\"2", "\ufeffa\n1",
		`<rss version="2.0"><channel><item><guid>1</guid><title>&lt;b&gt;</title></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><content type="xhtml"><div>a</div></content></entry></feed>`,
		`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_text":"x"},null]}`,
	} {
		for format := Syndication; format <= CSV; format++ {
			f.Add(uint8(format), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		entries, err := document{format: Format(format), id: "/id"}.entries(body)
		if err != nil && codeOf(err) != pipeline.SourceMalformed {
			t.Fatalf("got %v", err)
		}
		for _, e := range entries {
			if v := jsontext.Value(e.raw).Clone(); Format(format) != Syndication && v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) == nil && string(v) != string(e.raw) {
				t.Fatalf("item %q: want it canonical, as %q", e.raw, v)
			}
			if v := jsontext.Value(e.raw); !v.IsValid(lenient) {
				t.Fatalf("item %q is no JSON", e.raw)
			}
			for _, read := range []func(pipeline.Envelope, []byte) (fetch.Bundle, error){ItemElements, OSVElements} {
				b, err := read(pipeline.Envelope{}, e.raw)
				if err != nil && codeOf(err) != pipeline.Unreadable {
					t.Fatalf("got %v", err)
				}
				check(t, b)
			}
			if Format(format) == Syndication {
				var i Item
				if json.Unmarshal(e.raw, &i) != nil || i.Schema != ItemSchema {
					continue // listed as it is
				}
				if again, _ := json.Marshal(i); string(again) != string(e.raw) {
					t.Fatalf("item %q is written %q", e.raw, again)
				}
			}
		}
	})
}
