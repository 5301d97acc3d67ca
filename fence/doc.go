// Package fence shows foreign text to a model as marked data, with exactly one un-fenced voice.
//
// A [RunContext] lists the elements of a run: what was written, by whom, where it came from and how far its author is
// trusted at this moment ([Mark] sets that). [Render] turns it into a [Prompt]: a constant preamble that carries the
// data rule, the elements as blocks under a random [Boundary], and the voice.
//
// A block gives its text back byte for byte ([Unfence]): nothing is deleted, and whatever could pass for scaffolding or
// hide from a reader is written as a visible escape. Every line of the text stands behind a mark, so that none can look
// like a header, a footer or a turn of the conversation.
//
// What it does not promise: that a model obeys the data rule. The fence lowers how often an extractor is fooled; the
// shape, the policy and the authority of each phase hold when it is.
//
// The package does no I/O; randomness and the [Authorizer] are handed in.
package fence
