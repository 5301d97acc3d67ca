package shape

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// The tag lint: invopop/jsonschema drops what it does not understand without an error, so every keyword of a tag is read
// here by our own rules first, and must then stand in what invopop made of it (see survives).

const (
	mendComma   = `write keyword=value, and escape a comma inside a value as \\,`
	mendKeyword = "use the keywords of this kind: enum for a choice, minimum and maximum for an integer, pattern, minLength and maxLength for a token, text or quote, minItems, maxItems and uniqueItems=true for a list, description for any"
)

// splitTag splits at commas that no backslash precedes, as invopop does.
func splitTag(tag string) []string {
	var parts []string
	part := ""
	for i, s := range strings.Split(tag, ",") {
		if i == 0 {
			part = s
			continue
		}
		if strings.HasSuffix(part, `\`) {
			part = part[:len(part)-1] + "," + s
			continue
		}
		parts = append(parts, part)
		part = s
	}
	return append(parts, part)
}

// tagKeys are the keys of a struct tag by the convention of reflect.StructTag; ok is false where it does not follow it.
func tagKeys(tag reflect.StructTag) (keys []string, ok bool) {
	rest := strings.TrimLeft(string(tag), " ")
	for rest != "" {
		key, after, found := strings.Cut(rest, ":")
		if !found || key == "" || strings.ContainsAny(key, " \"\t\n") {
			return nil, false
		}
		value, err := strconv.QuotedPrefix(after)
		if err != nil || value[0] != '"' {
			return nil, false
		}
		keys = append(keys, key)
		trimmed := strings.TrimLeft(after[len(value):], " ")
		if trimmed != "" && trimmed == after[len(value):] {
			return nil, false
		}
		rest = trimmed
	}
	return keys, true
}

// lintKeys refuses tags that are malformed, repeated or unknown: a slip there loses bounds in silence.
func (b *builder) lintKeys(f reflect.StructField, p place) bool {
	keys, ok := tagKeys(f.Tag)
	if !ok {
		b.add(p, `a struct tag in the form key:"value" with one space between`, "run go vet, and mend the quotes")
		return false
	}
	seen := map[string]bool{}
	for _, k := range keys {
		switch {
		case seen[k]:
			b.add(p, "each tag once: "+printable(k)+" stands twice", "join the two")
			ok = false
		case k != "json" && k != "jsonschema" && k != "jsonschema_description":
			b.add(p, "tags that a shape reads: want json, jsonschema or jsonschema_description, got "+printable(k), "remove the tag, or mend its name")
			ok = false
		}
		seen[k] = true
	}
	return ok
}

// jsonName reads the json tag: the name, and whether the field may be absent.
func (b *builder) jsonName(f reflect.StructField, p place) (name string, omit, ok bool) {
	name, rest, opts := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = f.Name
	}
	ok = true
	if !plainName(name) {
		b.add(p, "a plain JSON name: want a letter, then letters, digits, _ or -, at most 64", "name the field in the json tag")
		ok = false
	}
	if !opts {
		return name, false, ok
	}
	for o := range strings.SplitSeq(rest, ",") {
		switch o {
		case "omitempty", "omitzero":
			omit = true
		default:
			b.add(p, "a json tag with omitempty alone, got the option "+printable(o), "remove the option; inline and string change what crosses")
			ok = false
		}
	}
	return name, omit, ok
}

func plainName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// printable cuts an author's word for an error.
func printable(s string) string {
	return strconv.QuoteToASCII(s[:min(len(s), 64)])
}

// applyTag adds the keywords of a field's tags to those of its type. Both may not say the same thing.
func (b *builder) applyTag(k *keywords, f reflect.StructField, p place) {
	if about, ok := f.Tag.Lookup("jsonschema_description"); ok {
		k.about = about
	} else if k.about != "" {
		k.about = "" // invopop takes the description of a field from its tags alone
	}
	tag, ok := f.Tag.Lookup("jsonschema")
	if !ok || tag == "" {
		return
	}
	seen := map[string]bool{}
	for _, part := range splitTag(tag) {
		name, val, found := strings.Cut(part, "=")
		if !found {
			b.add(p, "a value for each keyword of the tag, got "+printable(part), mendComma)
			continue
		}
		if seen[name] && name != "enum" {
			b.add(p, "each keyword once: "+printable(name)+" stands twice", "remove one")
			continue
		}
		first := !seen[name]
		seen[name] = true
		if missing := k.set(name, val, first); missing != "" {
			b.add(p, missing, mendKeyword)
		}
	}
}

// set adds one keyword and returns what is missing, or nothing. first is false for the second and later label of an enum.
func (k *keywords) set(name, val string, first bool) string {
	if name == "description" {
		k.about = val
		return ""
	}
	if k.typ == "array" {
		switch name {
		case "minItems":
			return setOnce(&k.minItems, val, length, name)
		case "maxItems":
			return setOnce(&k.maxItems, val, length, name)
		case "uniqueItems":
			if val != "true" {
				return `uniqueItems=true: any other value is read as true by some and as false by others`
			}
			k.unique = true
			return ""
		}
		if k.items != nil && k.items.typ != "array" && k.items.typ != "object" {
			return k.items.set(name, val, first)
		}
		return unfit(name, k.typ)
	}
	switch k.typ + " " + name {
	case "string enum":
		if first && k.enum != nil {
			return "one enum: the type has labels of its own"
		}
		k.enum = append(k.enum, val)
		return ""
	case "string pattern":
		if k.pattern != nil {
			return "one pattern: the type has one of its own"
		}
		k.pattern = &val
		return ""
	case "string minLength":
		return setOnce(&k.minLen, val, length, name)
	case "string maxLength":
		return setOnce(&k.maxLen, val, length, name)
	case "integer minimum":
		return setOnce(&k.minimum, val, whole, name)
	case "integer maximum":
		return setOnce(&k.maximum, val, whole, name)
	default:
		return unfit(name, k.typ)
	}
}

func unfit(name, typ string) string {
	return fmt.Sprintf("a keyword that a shape counts for a JSON %s, got %s", typ, printable(name))
}

func setOnce[T any](dst **T, val string, read func(string) (*T, bool), name string) string {
	if *dst != nil {
		return "one " + name + ": the type has one of its own"
	}
	v, ok := read(val)
	if !ok {
		return "a whole number for " + name + ", got " + printable(val)
	}
	*dst = v
	return ""
}
