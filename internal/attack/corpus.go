package attack

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// Text is one text of a corpus. It is data, whatever it says.
type Text struct {
	ID    string
	Class string
	Text  []byte // as it stands in the file; not always UTF-8
}

const (
	maxCorpusLine  = 64 << 10
	maxCorpusTexts = 100_000
)

// ReadCorpus reads JSON lines of {"id","text"}, where "b64" may stand for
// "text". Other members are read over. Errors name the line, never its text.
func ReadCorpus(r io.Reader) ([]Text, error) {
	var texts []Text
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxCorpusLine+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var line struct {
			ID    string  `json:"id"`
			Class string  `json:"class"`
			Text  *string `json:"text"`
			B64   []byte  `json:"b64"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.Text == nil && line.B64 == nil {
			return nil, fmt.Errorf(`corpus: line %d: want {"id","text"} or {"id","b64"}`, n)
		}
		t := Text{ID: line.ID, Class: line.Class, Text: line.B64}
		if line.Text != nil {
			t.Text = []byte(*line.Text)
		}
		if texts = append(texts, t); len(texts) > maxCorpusTexts {
			return nil, fmt.Errorf("corpus: want at most %d texts", maxCorpusTexts)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("corpus: want lines of at most %d bytes: %w", maxCorpusLine, err)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("corpus: want at least one text")
	}
	return texts, nil
}
