package shape

import (
	"bytes"
	"encoding/json"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
)

// kilobyte is a structure of about 1 KB: an order with lines, notes and choices.
type kilobyte struct {
	Kind  string `json:"kind" jsonschema:"enum=bug,enum=feature,enum=question,enum=spam"`
	Level int    `json:"level" jsonschema:"minimum=0,maximum=9"`
	Known bool   `json:"known"`
	Areas []area `json:"areas" jsonschema:"maxItems=3,uniqueItems=true"`
	Title Text   `json:"title" jsonschema:"maxLength=120"`
	Note  *Quote `json:"note,omitempty" jsonschema:"maxLength=300"`
	Lines []struct {
		ID    Token  `json:"id" jsonschema:"pattern=^CVE-[0-9]{4}-[0-9]{4\\,7}$"`
		State string `json:"state" jsonschema:"enum=open,enum=fixed,enum=ignored"`
		Score int    `json:"score" jsonschema:"minimum=0,maximum=100"`
		Why   *Text  `json:"why,omitempty" jsonschema:"maxLength=80"`
	} `json:"lines" jsonschema:"maxItems=10"`
}

// plainKilobyte is the same for encoding/json.
type plainKilobyte struct {
	Areas []string `json:"areas"`
	Kind  string   `json:"kind"`
	Known bool     `json:"known"`
	Level int      `json:"level"`
	Lines []struct {
		ID    string  `json:"id"`
		Score int     `json:"score"`
		State string  `json:"state"`
		Why   *string `json:"why,omitempty"`
	} `json:"lines"`
	Note  *string `json:"note,omitempty"`
	Title string  `json:"title"`
}

const line = `{"id":"CVE-2024-123456","score":77,"state":"fixed","why":"the parser reads past the end of its buffer"}`

var kilobyteDoc = []byte(`{"areas":["api","docs"],"kind":"bug","known":true,"level":4,"lines":[` +
	line + "," + line + "," + line + "," + line + "," + line + "," + line + `],"note":"` +
	`Since 2.4.1 the service stops after \"reload\" with a long name; it worked in 2.3 — voilà, 日本語 too. Steps: start, send the file, wait.` +
	`","title":"Crash in the reader when a header is longer than the buffer"}`)

func TestBenchmarkReadsTheSameDocument(t *testing.T) {
	t.Parallel()
	s := must[kilobyte](t)
	v, err := s.DecodeCanonical(kilobyteDoc)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Encode(); !bytes.Equal(got, kilobyteDoc) || len(got) < 900 || len(got) > 1100 {
		t.Errorf("got %d bytes", len(got))
	}
	if !accepts(compileOracle(t, s.JSONSchema()), kilobyteDoc) {
		t.Error("the oracle refuses the document")
	}
}

func TestDecodingAllocatesLittle(t *testing.T) {
	s := must[kilobyte](t)
	buf := make([]byte, 0, 2048)
	got := testing.AllocsPerRun(100, func() {
		v, err := s.Decode(kilobyteDoc)
		if err != nil {
			t.Fatal(err)
		}
		buf = v.AppendCanonical(buf[:0])
	})
	if got >= 20 {
		t.Errorf("want fewer than 20 allocations, got %.0f", got)
	}
}

// BenchmarkDecode compares decode, validate and re-encode of one structure of 1 KB, in one run.
func BenchmarkDecode(b *testing.B) {
	s := must[kilobyte](b)
	schema := compileOracle(b, s.JSONSchema())
	b.Run("shape", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(kilobyteDoc)))
		var buf []byte
		for b.Loop() {
			v, err := s.Decode(kilobyteDoc)
			if err != nil {
				b.Fatal(err)
			}
			buf = v.AppendCanonical(buf[:0])
		}
	})
	b.Run("shape-canonical", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(kilobyteDoc)))
		for b.Loop() {
			if _, err := s.DecodeCanonical(kilobyteDoc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json-santhosh", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(kilobyteDoc)))
		for b.Loop() {
			v, err := oracle.UnmarshalJSON(bytes.NewReader(kilobyteDoc))
			if err != nil {
				b.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				b.Fatal(err)
			}
			var x plainKilobyte
			if err := json.Unmarshal(kilobyteDoc, &x); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSkeletons is what an audit pays for one recipe beside its plan.
func BenchmarkSkeletons(b *testing.B) {
	s := must[triage](b)
	b.ReportAllocs()
	for b.Loop() {
		s.Skeletons(func(k Skeleton) bool {
			_, _, err := LiftSkeleton[triage](s, k)
			return err == nil
		})
	}
}

// BenchmarkOf is what a start pays for one recipe.
func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		must[kilobyte](b)
	}
}

// BenchmarkSample is what an attack pays for one hostile structure.
func BenchmarkSample(b *testing.B) {
	s := must[kilobyte](b)
	r := rng(1)
	for b.Loop() {
		s.Sample(r)
	}
}
