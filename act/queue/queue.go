// Package queue is the sink of queues on one machine: one file of JSON lines a
// queue, that other programs read.
//
// Each line is one message. Lines are only ever appended, each is on disk
// before the job is said to be performed, and a line that a crash left without
// its end is taken away by the next writer: a reader takes what ends in a line
// feed and nothing behind the last. A key stands in a queue once.
//
// A file that has grown is put away by renaming it from NAME.jsonl to
// NAME.ANYTHING.jsonl in the same directory, where Find still reads it. What
// is moved elsewhere is not found any more, and a job that is unknown then
// would be written again: move it once no run is unknown.
package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"decant.dev/act"
	"decant.dev/act/message"
	"decant.dev/act/plan"
)

const (
	// DefaultLimit bounds one Send or Find.
	DefaultLimit = 10 * time.Second
	// MaxFile is how large a file may grow. Then its jobs wait until it is put
	// away.
	MaxFile = 256 << 20
	suffix  = ".jsonl"
	fullFor = time.Minute
)

// Sink performs plan.KindQueueSend. It is safe for concurrent use, by several
// processes too where the system locks files.
type Sink struct {
	root  *os.Root
	limit time.Duration
	max   int64
	lock  func(context.Context, *os.File) error
	write func(*os.File, []byte) (int, error)
	flush func(*os.File) error
}

var _ act.Sink = (*Sink)(nil)

// Open makes the directory, for its owner alone, and its sink.
func Open(directory string) (*Sink, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("queue: directory: %w", err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("queue: directory: %w", err)
	}
	return &Sink{root: root, limit: DefaultLimit, max: MaxFile, lock: lock, write: (*os.File).Write, flush: (*os.File).Sync}, nil
}

// Close lets go of the directory.
func (s *Sink) Close() error { return s.root.Close() }

// Limit is how long one Send or Find takes at most.
func (s *Sink) Limit() time.Duration { return s.limit }

// Send appends a job's line, unless the file holds it already.
func (s *Sink) Send(ctx context.Context, j act.Job) act.Answer {
	name, line, err := message.Encode(j, "queue")
	if err != nil || j.Kind != plan.KindQueueSend {
		return act.Answer{Verdict: act.Rejected, Word: "bad_parameters"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	f, err := s.take(ctx, name+suffix)
	if err != nil {
		return act.Answer{Verdict: act.NotPerformed, Word: "no_file"} // nothing was written
	}
	defer f.Close()
	there, end, err := search(ctx, f, j.Key)
	switch {
	case err != nil:
		return act.Answer{Verdict: act.NotPerformed, Word: "unreadable"}
	case there && s.flush(f) != nil:
		return act.Answer{}
	case there:
		return act.Answer{Verdict: act.Performed, Word: "found"}
	case end+int64(len(line))+1 > s.max:
		return act.Answer{Verdict: act.NotPerformed, Word: "full", After: fullFor}
	case f.Truncate(end) != nil: // what a crash left without a line end was nobody's
		return act.Answer{Verdict: act.NotPerformed, Word: "no_file"}
	}
	if n, err := s.write(f, append(line, '\n')); err != nil || n != len(line)+1 {
		if f.Truncate(end) != nil || s.flush(f) != nil {
			return act.Answer{}
		}
		return act.Answer{Verdict: act.NotPerformed, Word: "no_space", After: fullFor}
	}
	if s.flush(f) != nil || end == 0 && s.flushDirectory() != nil {
		return act.Answer{} // it is in the file, and may not outlast a crash
	}
	return act.Answer{Verdict: act.Performed, Word: "appended"}
}

// Find reads the queue's file, and those that were put away.
func (s *Sink) Find(ctx context.Context, j act.Job) act.Answer {
	name, _, err := message.Encode(j, "queue")
	if err != nil || j.Kind != plan.KindQueueSend {
		return act.Answer{Verdict: act.Rejected, Word: "bad_parameters"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	current, err := s.take(ctx, name+suffix) // until all are read, nobody writes or begins another file
	if err != nil {
		return act.Answer{}
	}
	defer current.Close()
	files, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return act.Answer{}
	}
	for _, file := range files {
		if away := file.Name(); strings.HasPrefix(away, name+".") && strings.HasSuffix(away, suffix) && away != name+suffix {
			if there, err := s.findIn(ctx, away, j.Key); err != nil || there {
				return answerFound(there && err == nil)
			}
		}
	}
	there, _, err := search(ctx, current, j.Key)
	switch {
	case err != nil || there && s.flush(current) != nil:
		return act.Answer{}
	case there:
		return answerFound(true)
	default:
		return act.Answer{Verdict: act.NotPerformed, Word: "not_found"}
	}
}

func answerFound(there bool) act.Answer {
	if !there {
		return act.Answer{}
	}
	return act.Answer{Verdict: act.Performed, Word: "found"}
}

// findIn looks for a key's line in a file that was put away, and makes sure
// that it stays.
func (s *Sink) findIn(ctx context.Context, name, key string) (bool, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return false, err
	}
	there, _, err := search(ctx, f, key)
	if there && err == nil {
		err = s.flush(f)
	}
	return there, errors.Join(err, f.Close())
}

// take opens a queue's file for this call alone: made where there is none, and
// opened again where it was put away meanwhile.
func (s *Sink) take(ctx context.Context, name string) (*os.File, error) {
	for {
		f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		if err := s.lock(ctx, f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		now, err := s.root.Stat(name)
		if err == nil && os.SameFile(mine, now) {
			return f, nil
		}
		if err := errors.Join(f.Close(), ctx.Err()); err != nil {
			return nil, err
		}
	}
}

func (s *Sink) flushDirectory() error {
	d, err := s.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(s.flush(d), d.Close())
}

// search reads a file from its beginning: whether a whole line of the key is
// there, and where the last whole line ends.
func search(ctx context.Context, f *os.File, key string) (there bool, end int64, err error) {
	begins := message.Begins(key)
	at := int64(0)
	lines := make([]byte, 0, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return false, 0, err
		}
		n, err := f.ReadAt(lines[len(lines):cap(lines)], at+int64(len(lines)))
		if err != nil && !errors.Is(err, io.EOF) {
			return false, 0, err
		}
		lines = lines[:len(lines)+n]
		whole := bytes.LastIndexByte(lines, '\n') + 1
		there = there || bytes.HasPrefix(lines[:whole], begins) || bytes.Contains(lines[:whole], append([]byte("\n"), begins...))
		at += int64(whole)
		lines = lines[:copy(lines, lines[whole:])]
		if errors.Is(err, io.EOF) {
			return there, at, nil
		}
		if len(lines) == cap(lines) {
			return false, 0, errors.New("line that has no end: want lines of a message each")
		}
	}
}
