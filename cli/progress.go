package cli

import (
	"fmt"
	"io"
	"os"
)

// fewFiles are answered so soon that a count would only flicker.
const fewFiles = 20

// progress counts answers on one line of a terminal. On anything else, and
// for few files, it writes nothing.
type progress struct {
	to    io.Writer
	total int
	done  int
}

func newProgress(to io.Writer, total int) *progress {
	p := &progress{to: to, total: total}
	f, ok := to.(*os.File)
	if !ok || total < fewFiles {
		p.to = nil
		return p
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		p.to = nil
	}
	return p
}

// step counts one answer and shows the count.
func (p *progress) step() { p.at(p.done+1, p.total, "events") }

// at shows how many of how many are done.
func (p *progress) at(done, total int, of string) {
	p.done = done
	if p.to != nil {
		fmt.Fprintf(p.to, "\r%d of %d %s", done, total, of)
	}
}

// clear takes the line away, so that what is printed next stands alone.
func (p *progress) clear() {
	if p.to != nil && p.done > 0 {
		fmt.Fprint(p.to, "\r\033[K")
	}
}
