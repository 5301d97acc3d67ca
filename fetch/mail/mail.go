// Package mail turns a mail, as a server received it (RFC 5322), into elements.
//
// The threat is a mail that shows one thing and says another: hidden text in
// its HTML, an order in a file's name, a header that claims a sender, a nest of
// parts. No header decides here who sent it: each part of the mail is an import
// of nobody, unverified, whatever it claims. What was quoted of others is an
// element of its own.
package mail

import (
	"bytes"
	"mime"
	"strconv"
	"strings"

	"github.com/jhillyerd/enmime/v2"

	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/fetch/htmltext"
	"decant.dev/pipeline"
)

// Bounds of a mail. One beyond them is Unreadable.
const (
	MaxBytes      = 4 << 20 // of a mail, as the ingress bounds it
	maxHeader     = 256 << 10
	maxBoundaries = 200 // that headers declare: how many parts can nest
	maxFiles      = 100 // attachments; how many are beyond it is a field
	maxFile       = 64 << 10
)

// Author is who wrote a mail: nobody that is vouched for.
const Author = "mail:import"

// The fields of a mail that are no header's and no body's text.
const (
	FieldFrom     = "from"              // as the header claims it, decoded
	FieldReplyTo  = "reply_to"          // the same
	FieldFileName = "file_name"         // of an attachment, as the sender named it
	FieldFileSize = "file_bytes"        // of the attachment after it
	FieldLeft     = "files_left_out"    // how many attachments are beyond the bound
	FieldHidden   = "hidden_characters" // how many characters of the HTML a reader would not see; they are left out
)

// builder makes elements in their order.
type builder struct{ elements []fence.Element }

func (b *builder) add(origin fence.Origin, field, media, text string, cut int) string {
	id := "e" + strconv.Itoa(len(b.elements)+1)
	b.elements = append(b.elements, fence.Element{
		ID: id, Author: fence.Author{ID: Author, Kind: fence.KindImport}, Origin: origin, Role: fence.RoleUser,
		Trust: fence.TrustUnverified, MediaType: media, Field: field, Text: text, TruncatedBytes: cut,
	})
	return id
}

func (b *builder) field(name, text string) {
	if text != "" {
		b.add(fence.OriginRecordField, name, "text/plain", text, 0)
	}
}

// Elements makes the elements of a mail: what it claims of its sender, the
// files with their names, what it quotes, its subject as the one mail_header,
// and last its own words as the mail_body. HTML becomes the text that a reader
// would see, where there is no plain text. A file's content is an element where
// it is text, of 64 KiB at most. A mail without subject, text and files is
// pipeline.Unreadable, as is one beyond the bounds.
func Elements(_ pipeline.Envelope, raw []byte) (fetch.Bundle, error) {
	if err := bounded(raw); err != nil {
		return fetch.Bundle{}, err
	}
	parsed, err := enmime.NewParser(enmime.DisableTextConversion(true), enmime.MaxStoredPartErrors(8), enmime.SkipMalformedParts(true)).ReadEnvelope(bytes.NewReader(raw))
	if err != nil {
		return fetch.Bundle{}, pipeline.Unreadable.Error("mail of %d bytes: want the form of RFC 5322", len(raw))
	}
	var b builder
	b.field(FieldFrom, valid(parsed.GetHeader("From")))
	b.field(FieldReplyTo, valid(parsed.GetHeader("Reply-To")))
	b.files(parsed)
	text, hidden := parsed.Text, 0
	if strings.TrimSpace(text) == "" && parsed.HTML != "" {
		text, hidden = htmltext.Text([]byte(parsed.HTML))
	}
	if hidden > 0 {
		b.field(FieldHidden, strconv.Itoa(hidden))
	}
	own, quotes := fence.SplitQuotes(valid(strings.ReplaceAll(text, "\r\n", "\n")))
	for _, q := range quotes {
		b.add(fence.OriginHistory, "", "text/plain", q, 0)
	}
	subject := strings.TrimSpace(valid(parsed.GetHeader("Subject")))
	if subject != "" {
		b.add(fence.OriginMailHeader, "", "text/plain", subject, 0)
	}
	if strings.TrimSpace(own) != "" {
		b.add(fence.OriginMailBody, "", "text/plain", own, 0)
	}
	if subject == "" && strings.TrimSpace(text) == "" && len(parsed.Attachments)+len(parsed.Inlines)+len(parsed.OtherParts) == 0 {
		return fetch.Bundle{}, pipeline.Unreadable.Error("mail of %d bytes: want a subject, a text or a file", len(raw))
	}
	return fetch.Bundle{Elements: b.elements}, nil
}

// bounded refuses what would cost more than it says.
func bounded(raw []byte) error {
	head, _, _ := bytes.Cut(raw, []byte("\n\r\n"))
	if other, _, _ := bytes.Cut(raw, []byte("\n\n")); len(other) < len(head) {
		head = other
	}
	switch {
	case len(raw) > MaxBytes:
		return pipeline.Unreadable.Error("mail of %d bytes: want at most %d", len(raw), MaxBytes)
	case len(head) > maxHeader:
		return pipeline.Unreadable.Error("headers of %d bytes: want at most %d", len(head), maxHeader)
	case bytes.Count(bytes.ToLower(raw), []byte("boundary")) > maxBoundaries:
		return pipeline.Unreadable.Error("want a mail of at most %d parts that nest", maxBoundaries)
	}
	return nil
}

// files adds each attachment's name and size, and the content of a text.
func (b *builder) files(parsed *enmime.Envelope) {
	files := append(append(append([]*enmime.Part(nil), parsed.Attachments...), parsed.Inlines...), parsed.OtherParts...)
	for _, p := range files[:min(len(files), maxFiles)] {
		b.field(FieldFileName, valid(p.FileName))
		b.field(FieldFileSize, strconv.Itoa(len(p.Content)))
		kind, _, err := mime.ParseMediaType(p.ContentType)
		if err != nil || !strings.HasPrefix(kind, "text/") || kind == "text/html" {
			continue
		}
		text := valid(string(p.Content))
		kept := text[:min(len(text), maxFile)]
		for len(kept) > 0 && len(kept) < len(text) && text[len(kept)]&0xc0 == 0x80 { // not within a character
			kept = kept[:len(kept)-1]
		}
		b.add(fence.OriginFile, "", "text/plain", kept, len(text)-len(kept))
	}
	if left := len(files) - maxFiles; left > 0 {
		b.field(FieldLeft, strconv.Itoa(left))
	}
}

// valid makes a text UTF-8: a byte that is none becomes U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
