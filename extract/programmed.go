package extract

// Programmed is implemented by extractors that run a program of another
// runtime. The engine of one machine lets the extract phase run these and read
// them, under a weaker sandbox than an extractor's that runs none, and starts
// that phase anew for each run.
type Programmed interface {
	// Programs lists absolute paths of files and directories: a runtime, its
	// libraries, an adapter.
	Programs() []string
}

// ProgramsOf lists what an extractor and its parts run: nothing unless they say
// so.
func ProgramsOf(x Extractor) []string {
	return each(x, func(part Extractor) []string {
		if p, ok := part.(Programmed); ok {
			return p.Programs()
		}
		return nil
	})
}
