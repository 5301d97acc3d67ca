package fence

import (
	"errors"
	"fmt"
	"strings"
)

// Author is who wrote an element, as the source's API names them.
type Author struct {
	ID   string     // 1 to 64 bytes of A-Z a-z 0-9 . _ : @ / -, since it stands in a block's header
	Kind AuthorKind // decides, with the Authorizer, what trust is possible
	Name string     // the display name: content like any other, always fenced; may be empty
}

// Element is one piece of content in a run's context.
type Element struct {
	ID             string // 1 to 128 bytes of the alphabet of Author.ID, one element each
	Author         Author
	Origin         Origin
	Role           Role
	Trust          Trust  // set by Mark when the context is built, never taken from storage
	MediaType      string // type/subtype in lower case, at most 127 bytes; or empty
	Field          string // for OriginRecordField: the recipe author's name of the field, 1 to 64 of A-Z a-z 0-9 _ . -
	Parent         string // for transcripts and files: the element that they belong to; optional elsewhere
	Text           string // whole, as fetched
	TruncatedBytes int    // what fetch itself had to leave out, in bytes
}

const (
	maxAuthorID  = 64
	maxElementID = 128
	maxField     = 64
	maxMediaType = 127
)

// ErrElement is the kind of every error about a single element's values.
var ErrElement = errors.New("invalid element")

func elementError(path, rule string) error { return fmt.Errorf("%w: %s: %s", ErrElement, path, rule) }

// check validates what can be said of e alone. Neither values nor foreign text stand in the error.
func (e Element) check(path string) error {
	switch {
	case !isID(e.ID, maxElementID):
		return elementError(path+".id", "want 1 to 128 of A-Z a-z 0-9 . _ : @ / -")
	case !isID(e.Author.ID, maxAuthorID):
		return elementError(path+".author.id", "want 1 to 64 of A-Z a-z 0-9 . _ : @ / -")
	case !valid(kindNames, e.Author.Kind):
		return elementError(path+".author.kind", "want a known kind")
	case !valid(originNames, e.Origin):
		return elementError(path+".origin", "want a known origin")
	case !valid(roleNames, e.Role):
		return elementError(path+".role", "want a known role")
	case !valid(trustNames, e.Trust):
		return elementError(path+".trust", "want a known trust")
	case !isMediaType(e.MediaType):
		return elementError(path+".media_type", "want type/subtype in lower case, at most 127 bytes")
	case e.Origin == OriginRecordField && !isField(e.Field):
		return elementError(path+".field", "want 1 to 64 of A-Z a-z 0-9 _ . -")
	case e.Origin != OriginRecordField && e.Field != "":
		return elementError(path+".field", "want it on a record_field only")
	case e.Origin == OriginTranscript && e.Parent == "":
		return elementError(path+".parent", "want the message of a transcript")
	case e.Parent != "" && !isID(e.Parent, maxElementID):
		return elementError(path+".parent", "want the id of an element")
	case e.TruncatedBytes < 0 || e.TruncatedBytes > maxInteger:
		return elementError(path+".truncated_bytes", "want 0 to 2^53-1")
	case e.Author.Kind != KindPerson && (e.Trust == TrustTrigger || e.Trust == TrustAuthorized) && e.Origin != OriginTranscript:
		return elementError(path+".trust", "want trigger or authorized for persons only")
	case e.Trust == TrustTrigger && !canSpeak(e.Origin):
		return elementError(path+".trust", "want trigger on a message, a mail body or a transcript only")
	}
	return nil
}

// canSpeak reports whether an element of this origin holds its author's own words, so that it could be the voice. What
// stands in a file, a feed or a tool's result was not said by whoever handed it in.
func canSpeak(o Origin) bool {
	switch o {
	case OriginMessage, OriginMailBody, OriginTranscript:
		return true
	case OriginRecordField, OriginHistory, OriginFile, OriginToolResult, OriginDenial, OriginClarification,
		OriginFeedItem, OriginMailHeader, OriginImported:
		return false
	default:
		return false
	}
}

func isID(s string, limit int) bool { return isWord(s, limit, "._:@/-") }
func isField(s string) bool         { return isWord(s, maxField, "_.-") }
func isRun(s string) bool           { return isWord(s, maxElementID, "._:-") }
func isRecipe(s string) bool        { return isWord(s, maxField, "_-") }
func isWord(s string, n int, extra string) bool {
	if len(s) < 1 || len(s) > n {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !isAlnum(c) && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isMediaType accepts type/subtype of RFC 6838 section 4.2 in lower case, without parameters, or nothing.
func isMediaType(s string) bool {
	if s == "" {
		return true
	}
	kind, sub, ok := strings.Cut(s, "/")
	const extra = "!#$&^_.+-"
	return ok && s == strings.ToLower(s) && isWord(kind, maxMediaType, extra) && isWord(sub, maxMediaType-len(kind)-1, extra)
}
