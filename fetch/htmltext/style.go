package htmltext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/andybalholm/cascadia"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// style is what of an element's computed style decides whether its text is
// seen.
type style struct {
	gone    bool    // it and all in it: not displayed, clipped, or off the screen
	hidden  bool    // visibility
	opacity float64 // of it and what it stands in
	size    float64 // of the font, px
	color   colour
	behind  colour // what is painted behind it
	painted bool   // by a picture: no colour is known of it
	pre     bool   // white space is kept
}

// The bounds of what a reader sees.
const (
	minOpacity  = 0.1
	minSize     = 4.0  // px
	minContrast = 1.15 // as WCAG 2 reckons it; 21 is black on white
	offScreen   = -200 // px from where it would stand
)

// initial is the style of a document without any.
var initial = style{opacity: 1, size: 16, color: black, behind: white}

func (s style) unseen() bool {
	return s.gone || s.hidden || s.opacity < minOpacity || s.size < minSize ||
		!s.painted && contrast(s.color.over(s.behind), s.behind) < minContrast
}

// declarations are properties with their values, both in lower case.
type declarations map[string]string

// followed are the properties that are looked at.
var followed = []string{
	"display", "visibility", "opacity", "font-size", "font", "color", "background", "background-color", "background-image",
	"position", "left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top", "width", "height", "max-width", "max-height",
	"overflow", "overflow-x", "overflow-y", "clip", "clip-path", "transform", "white-space", "content-visibility", "filter", "mso-hide",
}

// rule is one selector of a sheet with what it declares.
type rule struct {
	parts  []part // right to left
	weight cascadia.Specificity
	normal declarations
	strong declarations // !important
}

// part is one compound selector, and whether it is the parent's.
type part struct {
	is     cascadia.Sel
	parent bool
}

// sheet is the rules of a document in the order in which they apply.
type sheet struct {
	rules []rule
	work  int // how many more selectors are tried
}

// maxWork bounds what matching costs: about half a second.
const maxWork = 4_000_000

// sheetOf reads the style elements of a document.
func sheetOf(root *html.Node) sheet {
	s := sheet{work: maxWork}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == atom.Style && shown(attribute(n, "media")) {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				s.read(c.Data)
			}
		}
	}
	slices.SortStableFunc(s.rules, func(a, b rule) int {
		switch {
		case a.weight.Less(b.weight):
			return -1
		case b.weight.Less(a.weight):
			return 1
		}
		return 0
	})
	return s
}

// read adds the rules of a style sheet. What it does not understand says
// nothing, as in a browser.
func (s *sheet) read(text string) {
	p := css.NewParser(parse.NewInputString(text), false)
	var selectors [][]css.Token
	var open []bool // at-rules: whether they apply
	var normal, strong declarations
	for {
		grammar, _, data := p.Next()
		switch grammar {
		case css.ErrorGrammar:
			if p.HasParseError() {
				continue
			}
			return
		case css.BeginAtRuleGrammar:
			open = append(open, strings.EqualFold(string(data), "@media") && shown(join(p.Values())) || strings.EqualFold(string(data), "@layer") || strings.EqualFold(string(data), "@supports"))
		case css.EndAtRuleGrammar:
			open = open[:max(0, len(open)-1)]
		case css.QualifiedRuleGrammar:
			selectors = append(selectors, list(p.Values())...)
		case css.BeginRulesetGrammar:
			selectors = append(selectors, list(p.Values())...)
			normal, strong = declarations{}, declarations{}
		case css.DeclarationGrammar:
			declare(string(data), p.Values(), normal, strong)
		case css.EndRulesetGrammar:
			if len(normal)+len(strong) > 0 && !slices.Contains(open, false) {
				for _, tokens := range selectors {
					if parts, weight, ok := selector(tokens); ok {
						s.rules = append(s.rules, rule{parts, weight, normal, strong})
					}
				}
			}
			selectors = nil
		}
	}
}

// list is the selectors of a list with commas between.
func list(tokens []css.Token) (selectors [][]css.Token) {
	from := 0
	for i, t := range tokens {
		if t.TokenType == css.CommaToken {
			selectors = append(selectors, slices.Clone(tokens[from:i]))
			from = i + 1
		}
	}
	return append(selectors, slices.Clone(tokens[from:]))
}

// shown reports whether a media query is for a screen of ordinary width.
func shown(query string) bool {
	query = strings.ToLower(query)
	for one := range strings.SplitSeq(query, ",") {
		ok := true
		for term := range strings.SplitSeq(strings.ReplaceAll(one, " and ", "&"), "&") {
			switch term = strings.Trim(strings.TrimPrefix(strings.TrimSpace(term), "only "), " ()"); {
			case term == "" || term == "screen" || term == "all":
			case strings.HasPrefix(term, "min-width:"):
				w, known := length(strings.TrimSpace(term[len("min-width:"):]), initial.size)
				ok = ok && known && w <= width
			case strings.HasPrefix(term, "max-width:"):
				w, known := length(strings.TrimSpace(term[len("max-width:"):]), initial.size)
				ok = ok && known && w >= width
			default:
				ok = false
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// width is that of the screen, px.
const width = 1024

// declare adds one declaration to those that it counts among.
func declare(name string, values []css.Token, normal, strong declarations) {
	name = strings.ToLower(unescape(name))
	if !slices.Contains(followed, name) || normal == nil {
		return
	}
	value := strings.ToLower(unescape(join(values)))
	if before, ok := strings.CutSuffix(strings.ReplaceAll(value, " ", ""), "!important"); ok {
		value = strings.TrimSpace(value[:strings.LastIndexByte(value, '!')])
		if before != "" {
			strong[name] = value
		}
		return
	}
	normal[name] = value
}

// escape is an escape of CSS Syntax 3, section 4.3.7.
var escape = regexp.MustCompile(`\\([0-9A-Fa-f]{1,6})[ \t\n]?|\\([^0-9A-Fa-f\n])`)

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		if v, err := strconv.ParseUint(strings.TrimRight(e[1:], " \t\n"), 16, 32); err == nil {
			return string(rune(min(v, utf8.MaxRune)))
		}
		return e[1:]
	})
}

func join(tokens []css.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.Write(t.Data)
	}
	return strings.TrimSpace(b.String())
}

// selector reads one selector: compounds of tags, classes, ids and attributes,
// within another or the child of another. Others select nothing.
func selector(tokens []css.Token) (parts []part, weight cascadia.Specificity, ok bool) {
	var compound strings.Builder
	parent := false
	end := func() bool {
		if compound.Len() == 0 {
			return true
		}
		is, err := cascadia.Parse(compound.String())
		if err != nil {
			return false
		}
		weight = weight.Add(is.Specificity())
		parts = append(parts, part{is, parent})
		compound.Reset()
		parent = false
		return true
	}
	bracket := false
	for _, t := range tokens {
		switch {
		case bracket || t.TokenType == css.LeftBracketToken:
			bracket = t.TokenType != css.RightBracketToken
			compound.Write(t.Data)
		case t.TokenType == css.WhitespaceToken:
			if !end() {
				return nil, weight, false
			}
		case t.TokenType == css.DelimToken && string(t.Data) == ">":
			if !end() || len(parts) == 0 {
				return nil, weight, false
			}
			parent = true
		case t.TokenType == css.ColonToken || t.TokenType == css.FunctionToken,
			t.TokenType == css.DelimToken && (string(t.Data) == "+" || string(t.Data) == "~"):
			return nil, weight, false
		default:
			compound.Write(t.Data)
		}
	}
	if !end() || len(parts) == 0 {
		return nil, weight, false
	}
	// "a > b" was read as a, then b whose parent is meant: the mark belongs to
	// the one that is looked for next, from the right.
	slices.Reverse(parts)
	for i := len(parts) - 1; i > 0; i-- {
		parts[i].parent = parts[i-1].parent
	}
	parts[0].parent = false
	return parts, weight, true
}

// matches reports whether a rule selects an element. An ancestor that fits is
// the nearest that does.
func (s *sheet) matches(r *rule, n *html.Node) bool {
	for i, p := range r.parts {
		if i > 0 {
			n = n.Parent
			for !p.parent && n != nil && !(n.Type == html.ElementNode && p.is.Match(n)) {
				n = n.Parent
				s.work--
			}
		}
		if s.work--; n == nil || n.Type != html.ElementNode || !p.is.Match(n) {
			return false
		}
	}
	return true
}

// of computes the style of an element from that of what it stands in.
func (s *sheet) of(n *html.Node, parent style) style {
	var d declarations
	apply := func(more declarations) {
		for name, value := range more {
			if d == nil {
				d = declarations{}
			}
			switch name { // a shorthand resets what it stands for
			case "background":
				delete(d, "background-color")
				delete(d, "background-image")
			case "font":
				delete(d, "font-size")
			}
			d[name] = value
		}
	}
	var strong []declarations
	for i := range s.rules {
		if s.work <= 0 {
			break
		}
		if r := &s.rules[i]; s.matches(r, n) {
			apply(r.normal)
			strong = append(strong, r.strong)
		}
	}
	var own, ownStrong declarations
	if inline := attribute(n, "style"); inline != "" {
		own, ownStrong = inlined(inline)
		apply(own)
	}
	for _, more := range append(strong, ownStrong) {
		apply(more)
	}
	return compute(n, parent, d)
}

// inlined reads a style attribute.
func inlined(text string) (normal, strong declarations) {
	normal, strong = declarations{}, declarations{}
	p := css.NewParser(parse.NewInputString(text), true)
	for {
		switch grammar, _, data := p.Next(); grammar {
		case css.ErrorGrammar:
			if !p.HasParseError() {
				return normal, strong
			}
		case css.DeclarationGrammar:
			declare(string(data), p.Values(), normal, strong)
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name && a.Namespace == "" })
}

// compute is the cascade's end: what an element's declarations, with the
// attributes of HTML that style, make of its parent's style.
func compute(n *html.Node, s style, d declarations) style {
	s.pre = s.pre || n.DataAtom == atom.Pre || n.DataAtom == atom.Textarea || n.DataAtom == atom.Xmp || n.DataAtom == atom.Plaintext
	if has(n, "hidden") && d["display"] == "" || strings.EqualFold(attribute(n, "aria-hidden"), "true") ||
		n.DataAtom == atom.Dialog && !has(n, "open") {
		s.gone = true
	}
	if c, ok := parseColour(attribute(n, "bgcolor")); ok {
		s.behind, s.painted = c.over(s.behind), false
	}
	if attribute(n, "background") != "" {
		s.painted = true
	}
	if n.DataAtom == atom.Font {
		if c, ok := parseColour(attribute(n, "color")); ok {
			s.color = c
		}
	}
	if n.DataAtom == atom.Body {
		if c, ok := parseColour(attribute(n, "text")); ok {
			s.color = c
		}
	}
	if d == nil {
		return s
	}
	if v, ok := d["white-space"]; ok {
		s.pre = strings.HasPrefix(v, "pre") || v == "break-spaces"
	}
	if d["display"] == "none" || d["content-visibility"] == "hidden" || d["mso-hide"] == "all" {
		s.gone = true
	}
	switch d["visibility"] {
	case "hidden", "collapse":
		s.hidden = true
	case "visible", "initial":
		s.hidden = false
	}
	if v, ok := fraction(d["opacity"]); ok {
		s.opacity *= min(max(v, 0), 1)
	}
	if inner, ok := strings.CutPrefix(d["filter"], "opacity("); ok {
		if v, ok := fraction(strings.TrimSuffix(inner, ")")); ok {
			s.opacity *= min(max(v, 0), 1)
		}
	}
	size := d["font-size"]
	for _, word := range strings.FieldsFunc(d["font"], func(r rune) bool { return r == ' ' || r == '/' }) {
		if _, ok := length(word, s.size); ok && size == "" {
			size = word
		}
	}
	if v, ok := length(size, s.size); ok {
		s.size = v
	}
	if c, ok := parseColour(d["color"]); ok {
		s.color = c
	}
	s.paint(d)
	s.place(d)
	return s
}

// paint is what stands behind the text.
func (s *style) paint(d declarations) {
	for _, v := range []string{d["background"], d["background-image"]} {
		if strings.Contains(v, "url(") || strings.Contains(v, "gradient(") {
			s.painted = true
			return
		}
	}
	v := d["background-color"]
	if v == "" {
		v = d["background"]
	}
	c, ok := parseColour(v)
	for _, word := range strings.Fields(v) {
		if !ok {
			c, ok = parseColour(word)
		}
	}
	if ok && c.alpha > 0 {
		s.behind = c.over(s.behind)
		s.painted = s.painted && c.alpha < 1
	}
}

// place is where the text stands, and in how large a box.
func (s *style) place(d declarations) {
	px := func(name string) (float64, bool) { return length(d[name], s.size) }
	less := func(name string, bound float64) bool { v, ok := px(name); return ok && v <= bound }
	moved := d["position"] == "absolute" || d["position"] == "fixed" || d["position"] == "relative"
	cut := false
	for _, name := range []string{"overflow", "overflow-x", "overflow-y"} {
		cut = cut || strings.HasPrefix(d[name], "hidden") || strings.HasPrefix(d[name], "clip")
	}
	for _, name := range []string{"left", "top", "right", "bottom"} {
		s.gone = s.gone || moved && (less(name, offScreen) || beyond(px(name)))
	}
	for _, name := range []string{"text-indent", "margin-left", "margin-top"} {
		s.gone = s.gone || less(name, offScreen)
	}
	s.gone = s.gone || beyond(px("text-indent"))
	for _, name := range []string{"width", "height", "max-width", "max-height"} {
		s.gone = s.gone || cut && less(name, 1)
	}
	if inner, ok := strings.CutPrefix(d["clip"], "rect("); ok && moved && d["position"] != "relative" {
		s.gone = s.gone || empty(inner)
	}
	if inner, ok := strings.CutPrefix(d["clip-path"], "inset("); ok {
		if v, ok := fraction(strings.TrimRight(strings.Fields(inner + " )")[0], ")")); ok && v >= 0.5 && strings.Contains(inner, "%") {
			s.gone = true
		}
	}
	if strings.HasPrefix(d["clip-path"], "circle(0") {
		s.gone = true
	}
	for _, zero := range []string{"scale(0)", "scale(0,0)", "scalex(0)", "scaley(0)", "scale3d(0,0,0)"} {
		s.gone = s.gone || strings.Contains(strings.ReplaceAll(d["transform"], " ", ""), zero)
	}
	for _, name := range []string{"translate(", "translatex(", "translatey("} {
		if _, inner, ok := strings.Cut(d["transform"], name); ok {
			first, _, _ := strings.Cut(inner, ")")
			first, _, _ = strings.Cut(first, ",")
			v, known := length(first, s.size)
			s.gone = s.gone || known && v <= offScreen
		}
	}
}

// beyond is a shift that no screen reaches.
func beyond(v float64, ok bool) bool { return ok && v >= 5000 }

// empty is a rectangle of four equal sides, as rect(0,0,0,0).
func empty(inner string) bool {
	sides := strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' || r == ')' })
	if len(sides) != 4 {
		return false
	}
	for _, side := range sides {
		if v, ok := length(side, initial.size); !ok || v > 1 {
			return false
		}
	}
	return true
}

// units are lengths in px. Those of the screen are reckoned for one of 1024
// by 768.
var units = []struct {
	name string
	px   float64
}{{"px", 1}, {"pt", 4. / 3}, {"pc", 16}, {"in", 96}, {"cm", 96 / 2.54}, {"mm", 9.6 / 2.54}, {"rem", 16}, {"vw", 10.24}, {"vh", 7.68}}

// relative are lengths as parts of the font's size.
var relative = map[string]float64{"em": 1, "ex": 0.5, "ch": 0.5, "%": 0.01}

// sizes are font sizes by name.
var sizes = map[string]float64{
	"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48,
}

// length reads a length in px; em and % are of the font's size.
func length(s string, size float64) (float64, bool) {
	if s = strings.TrimSpace(s); s == "" {
		return 0, false
	}
	if v, ok := sizes[s]; ok {
		return v, true
	}
	number := func(unit string, factor float64) (float64, bool) {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok {
			return 0, false
		}
		v, err := strconv.ParseFloat(digits, 64)
		return v * factor, err == nil
	}
	for _, u := range units {
		if v, ok := number(u.name, u.px); ok {
			return v, true
		}
	}
	for unit, factor := range relative {
		if v, ok := number(unit, factor*size); ok {
			return v, true
		}
	}
	return number("", 1)
}

// fraction reads a number or a percentage.
func fraction(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	factor := 1.0
	if digits, ok := strings.CutSuffix(s, "%"); ok {
		s, factor = digits, 0.01
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * factor, err == nil
}
