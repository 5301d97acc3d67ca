package fetch

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/fence"
	"decant.dev/internal/pointer"
	"decant.dev/pipeline"
)

// MaxJSONFields bounds the fields that an intake reads of a document.
const MaxJSONFields = 64

// JSONField is one value that an intake reads of a JSON document. Nothing that
// no field names is read.
type JSONField struct {
	Pointer   jsontext.Pointer // of a string, a number, true or false (RFC 6901), as "/data/note"
	Name      string           // what it is called in a prompt: 1 to 64 of A-Z a-z 0-9 _ . -, each once
	Optional  bool             // it may be missing or null
	MediaType string           // of a string; empty is text/plain
}

// JSON makes the elements of a document: a record_field for each of the
// fields, in their order, of an author whom nobody trusts, the hook or other
// source that passed them on. A string is its text, any other value its digits
// or word as they stand.
//
// A document that is not one strict JSON value, or in which a field is missing
// that is not optional, is an object or a list, is [pipeline.Unreadable]; so is
// one that has none of the fields. JSON panics on fields that no document could
// fill, as they are the recipe author's own.
func JSON(fields ...JSONField) func(pipeline.Envelope, []byte) (Bundle, error) {
	if err := checkJSON(fields); err != nil {
		panic(err)
	}
	return func(env pipeline.Envelope, body []byte) (Bundle, error) {
		if !jsontext.Value(body).IsValid() {
			return Bundle{}, pipeline.Unreadable.Error("body of %d bytes: want one strict JSON value", len(body))
		}
		var b bundler
		author := fence.Author{ID: importID(env), Kind: fence.KindImport}
		for _, f := range fields {
			text, found, err := f.text(body)
			if err != nil {
				return Bundle{}, err
			}
			if !found {
				continue
			}
			b.add(fence.Element{
				Author: author, Origin: fence.OriginRecordField, Role: fence.RoleUser,
				MediaType: f.mediaType(), Field: f.Name, Text: text,
			})
		}
		if len(b.elements) == 0 {
			return Bundle{}, pipeline.Unreadable.Error("want one of the fields, got none")
		}
		return Bundle{Elements: b.elements}, nil
	}
}

func checkJSON(fields []JSONField) error {
	if len(fields) == 0 || len(fields) > MaxJSONFields {
		return fmt.Errorf("fields of JSON: want 1 to %d fields, got %d", MaxJSONFields, len(fields))
	}
	seen := map[string]bool{}
	for _, f := range fields {
		switch {
		case !f.Pointer.IsValid():
			return fmt.Errorf("fields of JSON: field %.64q: want a Pointer of RFC 6901", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("fields of JSON: field %.64q: want each name once", f.Name)
		case !isFieldName(f.Name):
			return fmt.Errorf("fields of JSON: field %.64q: want a Name of 1 to 64 of A-Z a-z 0-9 _ . -", f.Name)
		case !strings.Contains(f.mediaType(), "/"):
			return fmt.Errorf("fields of JSON: field %.64q: want a MediaType as text/plain", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

func isFieldName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
}

func (f JSONField) mediaType() string {
	if f.MediaType == "" {
		return "text/plain"
	}
	return f.MediaType
}

// text reads the field of a document, which is strict JSON.
func (f JSONField) text(body []byte) (text string, found bool, err error) {
	value, ok := pointer.Find(body, f.Pointer)
	switch kind := value.Kind(); {
	case !ok, kind == 'n':
		if f.Optional {
			return "", false, nil
		}
		return "", false, pipeline.Unreadable.Error("field %s: want a value, got none", f.Name)
	case kind == '"':
		b, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return "", false, pipeline.Unreadable.Error("field %s: want a string of strict JSON", f.Name)
		}
		return string(b), true, nil
	case kind == '{', kind == '[':
		return "", false, pipeline.Unreadable.Error("field %s: want a string, a number, true or false, got an object or a list", f.Name)
	default:
		return string(value), true, nil
	}
}

// importID is who passed a document on: the hook that sent it, or where else it
// came from. Neither wrote what it says.
func importID(env pipeline.Envelope) string {
	if hook := "hook:" + env.Source; env.Channel == hook {
		return hook
	}
	return "import:" + env.Source
}
