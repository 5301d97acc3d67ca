package feed

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	cvss20 "github.com/pandatix/go-cvss/20"
	cvss30 "github.com/pandatix/go-cvss/30"
	cvss31 "github.com/pandatix/go-cvss/31"
	cvss40 "github.com/pandatix/go-cvss/40"

	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/internal/pointer"
	"decant.dev/pipeline"
)

// advisory is what is read of a record in OSV form
// (https://ossf.github.io/osv-schema/, version 1.7).
type advisory struct {
	ID        string         `json:"id"`
	Summary   string         `json:"summary"`
	Details   string         `json:"details"`
	Published string         `json:"published"`
	Modified  string         `json:"modified"`
	Withdrawn string         `json:"withdrawn"`
	Aliases   []string       `json:"aliases"`
	Severity  []severity     `json:"severity"`
	Affected  []affected     `json:"affected"`
	Specific  jsontext.Value `json:"database_specific"`
	Refs      []struct {
		URL string `json:"url"`
	} `json:"references"`
	Credits []struct {
		Name string `json:"name"`
	} `json:"credits"`
}

type severity struct {
	Type  string `json:"type"`
	Score string `json:"score"`
}

type affected struct {
	Package struct {
		Ecosystem string `json:"ecosystem"`
		Name      string `json:"name"`
	} `json:"package"`
	Severity []severity     `json:"severity"`
	Versions []string       `json:"versions"`
	Specific jsontext.Value `json:"ecosystem_specific"`
	Ranges   []struct {
		Type   string `json:"type"`
		Events []struct {
			Introduced   string `json:"introduced"`
			Fixed        string `json:"fixed"`
			LastAffected string `json:"last_affected"`
		} `json:"events"`
	} `json:"ranges"`
}

// OSVElements makes the elements of an advisory in OSV form. All are record
// fields, the most telling last:
//
//	reference, credit   one each
//	affected            one each package, with its ranges: "Go example.com/m\n>=1.0.0 <1.2.3 || >=2.0.0"
//	published, modified, withdrawn
//	status              withdrawn or published
//	id, alias           one each alias
//	ecosystem           one each, without what follows a colon
//	package, fixed      the names, and the versions that mend, each once, with ", " between
//	severity            one word in lower case: the database's, or the rating of the CVSS score
//	summary, details
//
// What is no such record, lacks an id, holds an empty alias or name, or names
// more than MaxAffected packages is [pipeline.Unreadable].
func OSVElements(_ pipeline.Envelope, raw []byte) (fetch.Bundle, error) {
	unreadable := func(want string) (fetch.Bundle, error) {
		return fetch.Bundle{}, pipeline.Unreadable.Error("advisory of %d bytes: want %s", len(raw), want)
	}
	var a advisory
	if err := json.Unmarshal(raw, &a); err != nil {
		return unreadable("a record in OSV form")
	}
	var ecosystems, names, fixed, refs, credits once
	var ranges []string
	for _, f := range a.Affected {
		if f.Package.Name == "" && f.Package.Ecosystem == "" && len(f.Ranges) > 0 {
			continue // ranges of a repository, of no package
		}
		if f.Package.Name == "" || f.Package.Ecosystem == "" {
			return unreadable("each package with its ecosystem and name")
		}
		if strings.ContainsFunc(f.Package.Ecosystem+f.Package.Name, unicode.IsControl) {
			return unreadable("names of packages on one line")
		}
		ecosystem, _, _ := strings.Cut(f.Package.Ecosystem, ":")
		ecosystems.add(ecosystem)
		names.add(f.Package.Name)
		ranges = append(ranges, ecosystem+" "+f.Package.Name+"\n"+f.constraint())
		for _, r := range f.Ranges {
			for _, e := range r.Events {
				if r.Type != "GIT" {
					fixed.add(e.Fixed)
				}
			}
		}
	}
	for _, r := range a.Refs {
		refs.add(r.URL)
	}
	for _, c := range a.Credits {
		credits.add(c.Name)
	}
	switch {
	case len(ranges) > MaxAffected: // or what is left out might be what matters
		return unreadable("at most 1,024 packages")
	case a.ID == "":
		return unreadable("an id")
	case slices.Contains(a.Aliases, ""):
		return unreadable("aliases that are not empty")
	}
	var e builder
	e.fields("reference", refs.list)
	e.fields("credit", credits.list)
	for _, r := range ranges {
		e.add(fence.OriginRecordField, "affected", r)
	}
	e.field("published", a.Published)
	e.field("modified", a.Modified)
	e.field("withdrawn", a.Withdrawn)
	if a.Withdrawn != "" {
		e.field("status", "withdrawn")
	} else {
		e.field("status", "published")
	}
	e.field("id", a.ID)
	e.fields("alias", a.Aliases)
	e.fields("ecosystem", ecosystems.list)
	e.field("package", strings.Join(names.list, ", "))
	e.field("fixed", strings.Join(fixed.list, ", "))
	e.field("severity", a.rating())
	e.field("summary", a.Summary)
	e.field("details", a.Details)
	return fetch.Bundle{Elements: e.elements}, nil
}

// once is a list of texts, none of them empty and each once.
type once struct {
	list []string
	has  map[string]bool
}

func (o *once) add(s string) {
	if s == "" || o.has[s] {
		return
	}
	if o.has == nil {
		o.has = map[string]bool{}
	}
	o.has[s] = true
	o.list = append(o.list, s)
}

// MaxAffected bounds the packages that an advisory names, each once or more.
const MaxAffected = 1024

// constraint is the ranges of a package as package rules matches them; empty
// where the record gives none that can be compared.
func (f affected) constraint() string {
	var all []string
	for _, r := range f.Ranges {
		if r.Type == "GIT" {
			continue
		}
		open := ""
		for _, e := range r.Events {
			switch {
			case e.Introduced == "0":
				open = ">=0.0.0-0" // before each version, pre-releases too
			case e.Introduced != "":
				open = ">=" + e.Introduced
			case e.Fixed != "" && open != "":
				all, open = append(all, open+" <"+e.Fixed), ""
			case e.LastAffected != "" && open != "":
				all, open = append(all, open+" <="+e.LastAffected), ""
			}
		}
		if open != "" {
			all = append(all, open)
		}
	}
	for _, v := range f.Versions[:min(len(f.Versions), maxEach)] {
		all = append(all, "="+v)
	}
	return strings.Join(all, " || ")
}

// rating is the severity in one word: the database's own, or that of the first
// score, of the record before its packages'.
func (a advisory) rating() string {
	scores := a.Severity
	if word := word(a.Specific); word != "" {
		return word
	}
	for _, f := range a.Affected {
		if word := word(f.Specific); word != "" {
			return word
		}
		scores = append(scores, f.Severity...)
	}
	for _, s := range scores {
		if word := s.rating(); word != "" {
			return word
		}
	}
	return ""
}

// word is the severity that a database says in a word of its own.
func word(specific jsontext.Value) string {
	v, _ := pointer.Find(specific, "/severity")
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return strings.ToLower(s)
}

// rating is FIRST's word for a score, in lower case: none, low, medium, high
// or critical.
func (s severity) rating() string {
	score, err := s.score()
	if err != nil {
		return ""
	}
	rating, err := cvss31.Rating(score)
	if err != nil {
		return ""
	}
	return strings.ToLower(rating)
}

func (s severity) score() (float64, error) {
	switch {
	case strings.HasPrefix(s.Score, "CVSS:4.0/"):
		v, err := cvss40.ParseVector(s.Score)
		if err != nil {
			return 0, err
		}
		return v.Score(), nil
	case strings.HasPrefix(s.Score, "CVSS:3.1/"):
		v, err := cvss31.ParseVector(s.Score)
		if err != nil {
			return 0, err
		}
		return v.BaseScore(), nil
	case strings.HasPrefix(s.Score, "CVSS:3.0/"):
		v, err := cvss30.ParseVector(s.Score)
		if err != nil {
			return 0, err
		}
		return v.BaseScore(), nil
	default:
		v, err := cvss20.ParseVector(s.Score)
		if err != nil {
			return 0, err
		}
		return v.BaseScore(), nil
	}
}
