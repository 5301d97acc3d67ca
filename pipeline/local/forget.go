package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"decant.dev/act"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// ErrUnderWay is returned for a run that has not ended.
var ErrUnderWay = errors.New("the run is under way")

// Forget removes what a stranger wrote of a run: its raw body, its prompts and
// its bundles, and from the journal its structure and its actions' parameters.
// How the run ended and its receipts are kept, so that the same event still
// performs nothing twice; it cannot be tried again or replayed.
func (e *Engine) Forget(ctx context.Context, run string) error {
	entries, err := e.journal.Find(ctx, run)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return pipeline.StoreFailed.Error("run %.32s: no run of that id", run)
	}
	for _, entry := range entries {
		if entry.State != store.Ended || entry.Code == pipeline.ApprovalNeeded {
			return ErrUnderWay
		}
	}
	if err := e.forgetText(ctx, run); err != nil {
		return err
	}
	for _, entry := range entries {
		err = errors.Join(err, e.journal.Forget(ctx, run, entry.Mode))
	}
	return err
}

// forgetText deletes from every store of texts, also from those that this
// engine does not use.
func (e *Engine) forgetText(ctx context.Context, run string) error {
	err := e.raw.Delete(ctx, run)
	for _, mode := range []store.Mode{store.StagedMode, store.LiveMode} {
		err = errors.Join(err, e.prompts[mode].Delete(ctx, run), e.forgetBundle(ctx, run, mode))
	}
	return err
}

func (e *Engine) forgetBundle(ctx context.Context, run string, mode store.Mode) error {
	if e.bundles != nil && mode == e.mode {
		return e.bundles.Delete(ctx, run)
	}
	dir := filepath.Join(e.dir, "bundles", string(mode))
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	b, err := store.OpenBundles(dir)
	if err != nil {
		return err
	}
	return errors.Join(b.Delete(ctx, run), b.Close())
}

// forgetAtOnce bounds how many runs one Expire forgets.
const forgetAtOnce = 1000

// Expire forgets the runs that ended and were not touched for Config.Keep, and
// returns how many. Where Keep is zero it forgets none.
func (e *Engine) Expire(ctx context.Context) (int, error) {
	if e.config.Keep <= 0 {
		return 0, nil
	}
	entries, err := e.journal.Before(ctx, e.config.Clock().Add(-e.config.Keep), forgetAtOnce)
	n := 0
	for _, entry := range entries {
		switch fault := e.Forget(ctx, entry.Run); {
		case errors.Is(fault, ErrUnderWay):
		case fault != nil:
			return n, fmt.Errorf("run %s: %w", entry.Run, fault)
		default:
			n++
		}
	}
	return n, err
}

// settleWithin is how long a run whose action could not be settled is tried
// again by itself.
const settleWithin = 24 * time.Hour

// Settle carries on the live runs that ended with an action still to be sent,
// or to be looked for, each at most once a lease.
func (e *Engine) Settle(ctx context.Context) ([]Result, error) {
	if e.mode != store.LiveMode {
		return nil, nil
	}
	now := e.config.Clock()
	entries, err := e.journal.Unsettled(ctx, now.Add(-settleWithin), now.Add(-act.Lease))
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, entry := range entries {
		if entry.Created.Before(now.Add(-settleWithin)) {
			continue // a person's to decide: decant resolve
		}
		r, err := e.resume(ctx, entry)
		if err != nil {
			return results, fmt.Errorf("run %s: %w", entry.Run, err)
		}
		results = append(results, r)
	}
	return results, ctx.Err()
}
