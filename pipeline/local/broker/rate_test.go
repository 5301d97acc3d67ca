package broker

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestTheSystemClockWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	if err := (systemClock{}).Wait(t.Context(), 0); err != nil {
		t.Errorf("want no error after no time, got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (systemClock{}).Wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}
}
