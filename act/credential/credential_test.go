package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// Whatever prints a secret, alone or within something, prints none of it.
func TestASecretIsPrintedByNobody(t *testing.T) {
	t.Parallel()
	type config struct {
		Name string
		Key  Secret
		Keys []Secret
		own  Secret
		owns []Secret
	}
	s := New("hunter2")
	c := config{"x", s, []Secret{s}, s, []Secret{s}}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("begun", "secret", s, "config", c)
	slog.New(slog.NewTextHandler(&log, nil)).Info("begun", "secret", s, "config", c)
	said := log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		said += fmt.Sprintf(verb, s) + fmt.Sprintf(verb, c) + fmt.Sprintf(verb, &c)
	}
	for _, v := range []any{s, &s, c} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		said += string(b)
	}
	said += errors.Join(fmt.Errorf("with %v", s)).Error() + s.String()
	if strings.Contains(said, "hunter2") || strings.Contains(said, fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("printed: %s", said)
	}
	if s.Reveal() != "hunter2" || s.Empty() || !(Secret{}).Empty() {
		t.Error("the one place that needs it does not get it")
	}
}
