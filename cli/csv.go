package cli

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"decant.dev/extract/learned"
	"decant.dev/internal/terminal"
)

// maxCSV is the most bytes of a CSV file.
const maxCSV = 1 << 30

// columns are what is read of a CSV file, each by its name in the header.
type columns struct {
	text   []string
	labels []string
	group  string // empty: none
}

// readCSV reads rows. Row numbers in errors are a spreadsheet's: the header is row 1. No error holds text of the file.
func readCSV(path string, want columns) ([]learned.Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: maxCSV + 1}
	in := bufio.NewReader(limited)
	if bom, _ := in.Peek(3); bytes.Equal(bom, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // peeked
	}
	r := csv.NewReader(in)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, badRow(1, err)
	}
	at, err := want.find(header)
	if err != nil {
		return nil, err
	}
	var rows []learned.Row
	for n := 2; ; n++ {
		record, err := r.Read()
		switch {
		case limited.N <= 0:
			return nil, fmt.Errorf("csv: want at most %d bytes", maxCSV)
		case errors.Is(err, io.EOF):
			if len(rows) == 0 {
				return nil, errors.New("csv: want rows below the header, got none")
			}
			return rows, nil
		case err != nil:
			return nil, badRow(n, err)
		case len(rows) == learned.MaxRows:
			return nil, fmt.Errorf("csv: want at most %d rows", learned.MaxRows)
		}
		cells := make([]string, len(at))
		for i, k := range at {
			most := learned.MaxBody // what is longer is not read
			if i >= len(want.text) {
				most = learned.MaxName
			}
			cells[i] = strings.Clone(record[k][:min(len(record[k]), most+1)])
		}
		row := learned.Row{Text: cells[:len(want.text)], Labels: cells[len(want.text) : len(want.text)+len(want.labels)]}
		if want.group != "" {
			row.Group = cells[len(cells)-1]
		}
		rows = append(rows, row)
	}
}

// find gives the place of each wanted column: the texts', the labels', the group's.
func (c columns) find(header []string) ([]int, error) {
	names := slices.Concat(c.text, c.labels)
	if c.group != "" {
		names = append(names, c.group)
	}
	var at []int
	var missing []string
	for _, name := range names {
		k := slices.Index(header, name)
		if k < 0 {
			missing = append(missing, name)
			continue
		}
		if slices.Contains(header[k+1:], name) {
			return nil, fmt.Errorf("csv: row 1: want the column %.64q once, got it twice", name)
		}
		at = append(at, k)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("csv: row 1: want a header with the columns %s; it has no %s", shownList(names), shownList(missing))
	}
	return at, nil
}

// badRow says where a row breaks the format of RFC 4180.
func badRow(n int, err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("csv: want a header, got an empty file")
	case !errors.As(err, &p):
		return err
	case errors.Is(p.Err, csv.ErrFieldCount):
		return fmt.Errorf("csv: row %d (line %d): want as many columns as the header has", n, p.StartLine)
	default:
		return fmt.Errorf("csv: row %d (line %d, byte %d): want a field in double quotes, or one without any", n, p.Line, p.Column)
	}
}

// badLabel says in which row and column of the file a label is wrong.
func badLabel(err error, want columns, fields []string) error {
	var l *learned.LabelError
	if !errors.As(err, &l) {
		return err
	}
	return fmt.Errorf("csv: row %d: column %s: want one of %s", l.Row+2, terminal.Line(want.labels[slices.Index(fields, l.Field)]), shownList(l.Choices))
}

// list splits a flag's names.
func list(flag string) []string {
	if flag == "" {
		return nil
	}
	return strings.Split(flag, ",")
}

// shownList joins names, which a model's file may have made up, for a terminal.
func shownList(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = terminal.Line(name)
	}
	return strings.Join(out, ", ")
}
