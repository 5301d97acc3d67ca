package render

import "strings"

// HTML renders a text as the text of an element, or as an attribute's value
// in quotes of either kind. It is not for an attribute without quotes, for
// one that holds an address or a program, nor for the elements script, style,
// textarea and title.
//
// &, <, >, both quotes, the backtick and = are character references, so that
// a parser gives the text back; what HTML would drop or normalise, and what
// opens an expression for a program that fills pages in the browser, are
// escapes. A reader parses the HTML and calls Undo.
func HTML(s string) string { return references.Replace(visible(s, hiddenOnPage, carries)) }

var references = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "`", "&#96;", "=", "&#61;")
