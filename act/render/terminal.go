package render

// Terminal renders a text as part of one line of a terminal or a log. What a
// terminal could act on, or what could hide or reorder what a person reads,
// is an escape: every rune that is not printable by Unicode's categories L,
// M, N, P, S and the ASCII space, and every one of these that leaves no mark.
// So are commands to a runner that reads its own log, which a line of decant
// can be part of. Different texts never look the same: Undo gives the text.
func Terminal(s string) string { return visible(s, hiddenOnTerminal, commands) }
