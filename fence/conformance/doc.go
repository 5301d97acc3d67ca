// Package conformance finds out whether an adapter keeps the rules of the fence. An adapter is whatever stands between a
// run's context and a model: a command in any language, or a function. [Check] hands it generated contexts
// (run_context.v1) and judges what it would send to the model.
//
// An adapter answers each context with one JSON document, in either of two forms:
//
//	{"schema":"turn.v1","system":["preamble","…"],"user":"…"}
//	{"schema":"prompt.v1",…}                                    as decant render answers
//
// turn.v1 is judged by its structure, without knowing how the adapter spells its markers. Each context is answered twice;
// what differs between the answers is the turn's token, and a block is what stands between two occurrences of it. Each
// foreign text carries canaries, fresh random words, that may occur inside of blocks only; the prompt outside of the blocks
// may not depend on the texts at all. From the first answers the markers and the label of the voice are learned, and
// later texts forge them. prompt.v1 claims the form of package fence and is held to that besides.
//
// So an adapter's answer may depend on the context and on its randomness only, blocks may not nest, the token stands in
// markers only, and texts stay legible (no encoding that hides their words). The data rule is looked for in English.
//
// What it does not promise: that a model obeys the fence, or that an adapter that behaves here behaves elsewhere; one
// that recognises the test can pass it. It finds mistakes, not malice.
package conformance
