package learned

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestAFileComesBackAndAnswersAlike(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	b := m.Bytes()
	again, err := Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), b) || again.Checksum() != m.Checksum() || len(m.Checksum()) != 64 {
		t.Error("want the same bytes and checksum again")
	}
	p, q := m.Predictor(), again.Predictor()
	for _, row := range tickets(40) {
		a, ca := p.Predict(row.Text, row.Group)
		c, cc := q.Predict(row.Text, row.Group)
		if fmt.Sprint(a, ca) != fmt.Sprint(c, cc) {
			t.Fatalf("want %v %v, got %v %v", a, ca, c, cc)
		}
	}
	text, group := again.Columns()
	if fmt.Sprintf("%v %s %v %v %v", text, group, again.Fields(), again.Choices("kind"), again.Choices("none")) != "[title body] box [kind level urgent] [fault wish talk] []" {
		t.Errorf("got %v %v %v", text, group, again.Fields())
	}
}

func TestAFileWithAnyByteFlippedIsRefused(t *testing.T) {
	t.Parallel()
	b := smallModel(t).Bytes()
	step := max(1, len(b)/400)
	for i := 0; i < len(b); i++ {
		if i > 1500 && i < len(b)-200 && i%step != 0 {
			continue
		}
		c := bytes.Clone(b)
		c[i] ^= 1 << (i % 8)
		if _, err := Read(c); err == nil || i >= len(magic) && !strings.Contains(err.Error(), "checksum") {
			t.Fatalf("byte %d of %d flipped: want an error that says so, got %v", i, len(b), err)
		}
	}
}

func TestATruncatedOrLongerFileIsRefused(t *testing.T) {
	t.Parallel()
	b := smallModel(t).Bytes()
	for n := 0; n < len(b); n += 1 + n/16 {
		if _, err := Read(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes: want an error", n, len(b))
		}
	}
	if _, err := Read(append(bytes.Clone(b), 0)); err == nil {
		t.Error("one byte more: want an error")
	}
	if _, err := Read(make([]byte, MaxFile+1)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a file over the limit: got %v", err)
	}
}

// forge gives a body the checksum that belongs to it: what a forger can do.
func forge(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// parts splits a model's file into its header and what follows it.
func parts(tb testing.TB) (words string, rest []byte) {
	tb.Helper()
	b := smallModel(tb).Bytes()
	n := int(binary.LittleEndian.Uint32(b[len(magic):]))
	at := len(magic) + 4
	return string(b[at : at+n]), b[at+n : len(b)-sha256.Size]
}

func join(words string, rest []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(words)))
	return forge(append(append(b, words...), rest...))
}

// Each of these has a right checksum.
func TestAForgedHeaderIsRefused(t *testing.T) {
	t.Parallel()
	words, rest := parts(t)
	if _, err := Read(join(words, rest)); err != nil {
		t.Fatal(err)
	}
	f := &smallModel(t).fields[0]
	temperature := fmt.Sprintf(`"temperature":"%016x"`, math.Float64bits(f.temperature))
	scale := fmt.Sprintf(`"scale":"%08x"`, math.Float32bits(f.scale))
	hex64 := func(x float64) string { return fmt.Sprintf(`"temperature":"%016x"`, math.Float64bits(x)) }
	hex32 := func(x float64) string { return fmt.Sprintf(`"scale":"%08x"`, math.Float32bits(float32(x))) }
	for name, swap := range map[string][2]string{
		"temperature not a number":  {temperature, hex64(math.NaN())},
		"temperature infinite":      {temperature, hex64(math.Inf(1))},
		"temperature zero":          {temperature, hex64(0)},
		"temperature negative":      {temperature, hex64(-1)},
		"temperature no hex":        {temperature, `"temperature":"SECRETWORD"`},
		"scale not a number":        {scale, hex32(math.NaN())},
		"scale infinite":            {scale, hex32(math.Inf(1))},
		"scale negative":            {scale, hex32(-1)},
		"scale capital hex":         {scale, strings.ToUpper(scale[9:])},
		"choices without digest":    {`"choices":["fault","wish","talk"]`, `"choices":["fault","wish","SECRETWORD"]`},
		"choices in another order":  {`"choices":["fault","wish","talk"]`, `"choices":["wish","fault","talk"]`},
		"a choice never had":        {`"seen":[0,1,2]`, `"seen":[0,1,3]`},
		"choices had twice":         {`"seen":[0,1,2]`, `"seen":[0,1,1]`},
		"choices had below zero":    {`"seen":[0,1,2]`, `"seen":[-1,1,2]`},
		"one choice had":            {`"seen":[0,1,2]`, `"seen":[0]`},
		"no choices":                {`"seen":[0,1,2]`, `"seen":null`},
		"other features":            {featureVersion, "SECRETWORD"},
		"other schema":              {`"learned.v1"`, `"SECRETWORD"`},
		"unknown member":            {`{"schema"`, `{"SECRETWORD":1,"schema"`},
		"duplicate member":          {`{"schema":"learned.v1"`, `{"schema":"learned.v1","schema":"learned.v1"`},
		"other case":                {`"schema"`, `"Schema"`},
		"white space":               {`{"schema"`, `{ "schema"`},
		"trailing":                  {`}]}`, `}]} {}`},
		"no columns":                {`"text":["title","body"]`, `"text":[]`},
		"empty column":              {`"text":["title","body"]`, `"text":["title",""]`},
		"column twice":              {`"text":["title","body"]`, `"text":["title","title"]`},
		"column over its limit":     {`"text":["title","body"]`, `"text":["title","` + strings.Repeat("x", MaxName+1) + `"]`},
		"column that is not UTF-8":  {`"title"`, "\"\xff\""},
		"field twice":               {`"name":"level"`, `"name":"kind"`},
		"group known twice":         {`"known":["`, fmt.Sprintf(`"known":["%016x","`, smallModel(t).known[0])},
		"too many known groups":     {`"known":[`, `"known":["00",` + strings.Repeat(`"00",`, MaxGroups)},
		"known group without digit": {`"known":["`, `"known":["zz`},
	} {
		forged := strings.Replace(words, swap[0], swap[1], 1)
		if forged == words {
			t.Errorf("%s: nothing to change in %s", name, words)
			continue
		}
		switch _, err := Read(join(forged, rest)); {
		case err == nil:
			t.Errorf("%s: want an error", name)
		case strings.Contains(err.Error(), "SECRETWORD"):
			t.Errorf("%s: the error shows what the file says: %v", name, err)
		}
	}
}

// Counts that promise more than there is, or more than a model may hold, cost no memory.
func TestOversizedCountsCostNoMemory(t *testing.T) {
	words, rest := parts(t)
	choices := make([]string, MaxChoices)
	for i := range choices {
		choices[i] = fmt.Sprintf(`"c%02d"`, i)
	}
	plain := make([]string, MaxChoices)
	seen := make([]string, MaxChoices)
	for i := range plain {
		plain[i], seen[i] = fmt.Sprintf("c%02d", i), fmt.Sprint(i)
	}
	var fields []string
	for i := range MaxFields {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","choices":[%s],"digest":"%s","seen":[%s],"scale":"3f800000","temperature":"3ff0000000000000"}`,
			i, strings.Join(choices, ","), digestOf(plain), strings.Join(seen, ",")))
	}
	huge := words[:strings.Index(words, `"fields":`)] + `"fields":[` + strings.Join(fields, ",") + `]}`
	counts := bytes.Clone(rest)
	binary.LittleEndian.PutUint32(counts, math.MaxUint32)
	length := binary.LittleEndian.AppendUint32([]byte(magic), math.MaxUint32)
	skips := binary.AppendUvarint(binary.LittleEndian.AppendUint32(nil, 1), math.MaxUint64)
	skips = append(skips, 1)
	zero := append(binary.LittleEndian.AppendUint32(nil, 1), 0, 1)
	for name, file := range map[string][]byte{
		"header":       forge(append(length, words...)),
		"rows":         join(words, counts),
		"weights":      join(huge, rest),
		"far row":      join(words, skips),
		"row again":    join(words, zero),
		"nothing":      join(words, nil),
		"long uvarint": join(words, append(binary.LittleEndian.AppendUint32(nil, 1), bytes.Repeat([]byte{0x80}, 40)...)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(file)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
			t.Errorf("%s: want at most 16 MiB for a refusal, got %d bytes", name, got)
		}
	}
}

// A row of nothing but zeros, or a uvarint with a needless byte, is another spelling of a model that has one.
func TestAModelHasOneSpelling(t *testing.T) {
	t.Parallel()
	words, rest := parts(t)
	count := binary.LittleEndian.Uint32(rest)
	longer := binary.LittleEndian.AppendUint32(nil, count)
	_, k := binary.Uvarint(rest[4:])
	spelt := bytes.Clone(rest[4 : 4+k])
	spelt[k-1] |= 0x80
	longer = append(append(append(longer, spelt...), 0), rest[4+k:]...)
	if _, err := Read(join(words, longer)); err == nil {
		t.Error("a needless byte of a uvarint: want an error")
	}
	zeroed := bytes.Clone(rest)
	zeroed[4+k] = 0
	if _, err := Read(join(words, zeroed)); err == nil {
		t.Error("a rarity of zero: want an error")
	}
}

// Whatever the bytes, with a right checksum or without, the answer is an error or a model that writes the same bytes.
func FuzzRead(f *testing.F) {
	words, rest := parts(f)
	f.Add([]byte(words), make([]byte, 16), true) // no rows
	f.Add([]byte(words), rest[:100], true)
	f.Add([]byte("{}"), []byte{}, false)
	f.Add([]byte(words), append([]byte{1, 0, 0, 0, 1, 16}, make([]byte, 12)...), true)
	f.Add([]byte(words), append([]byte{1, 0, 0, 0, 1, 16, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6}, make([]byte, 8)...), true)
	f.Fuzz(func(t *testing.T, words, rest []byte, framed bool) {
		file := forge(append([]byte(magic), words...))
		if framed {
			file = join(string(words), rest)
		}
		m, err := Read(file)
		if err != nil {
			return
		}
		if !bytes.Equal(m.Bytes(), file) {
			t.Error("read, but written otherwise")
		}
		labels, chances := m.Predictor().Predict(make([]string, len(m.columns)), "north")
		for i := range labels {
			if labels[i] < 0 || labels[i] >= len(m.fields[i].choices) || !(chances[i] > 0 && chances[i] <= 1) {
				t.Errorf("got label %d with chance %v", labels[i], chances[i])
			}
		}
	})
}

// A header is an error or a model within its bounds, and no error shows what the header says.
func FuzzHeader(f *testing.F) {
	words, _ := parts(f)
	f.Add([]byte(words))
	f.Add([]byte(strings.Replace(words, `"seen":[0,1,2]`, `"seen":[0,2]`, 1)))
	f.Add([]byte(`{"schema":"learned.v1","features":"x","text":[],"group":"","known":[],"fields":[]}`))
	f.Fuzz(func(t *testing.T, words []byte) {
		m, err := readHeader(words)
		if err != nil {
			if len(err.Error()) > 200 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		total := 0
		for i := range m.fields {
			total += len(m.fields[i].seen)
			if tp := m.fields[i].temperature; !(tp >= minTemperature && tp <= maxTemperature) || len(m.fields[i].choices) > MaxChoices {
				t.Errorf("field %d is out of bounds", i)
			}
		}
		if len(m.fields) > MaxFields || total*rows > maxWeights || len(m.known) > MaxGroups {
			t.Errorf("%d fields, %d choices, %d groups", len(m.fields), total, len(m.known))
		}
	})
}
