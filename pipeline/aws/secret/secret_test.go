package secret

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/smithy-go"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// versions answers with a value for each stage; one without is not found.
type versions struct {
	values map[string]string
	fail   error
	asked  int
}

func (v *versions) GetSecretValue(_ context.Context, in *secretsmanager.GetSecretValueInput, _ ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	v.asked++
	if v.fail != nil {
		return nil, v.fail
	}
	value, ok := v.values[*in.VersionStage]
	if !ok {
		return nil, &types.ResourceNotFoundException{}
	}
	return &secretsmanager.GetSecretValueOutput{SecretString: &value}, nil
}

type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func begin(v *versions) (*Cache, *clock) {
	c := &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	return New(v, "arn", c.read), c
}

// verifies reports which secret proves a body that was signed with key.
func verifies(t *testing.T, s events.Secrets) [2]bool {
	t.Helper()
	return [2]bool{s.Current.Configured(), s.Previous.Configured()}
}

func TestBothVersionsAreReadAndKeptForAMinute(t *testing.T) {
	t.Parallel()
	v := &versions{values: map[string]string{"AWSCURRENT": "new", "AWSPREVIOUS": "old"}}
	c, now := begin(v)
	for _, tc := range []struct {
		after time.Duration
		asked int
	}{{0, 2}, {59 * time.Second, 2}, {time.Second, 4}, {time.Minute, 6}, {-time.Hour, 8}} {
		now.now = now.now.Add(tc.after)
		s, err := c.Secrets(t.Context())
		if err != nil || verifies(t, s) != [2]bool{true, true} || v.asked != tc.asked {
			t.Errorf("after %s: got %v, %v, asked %d times, want %d", tc.after, s, err, v.asked, tc.asked)
		}
	}
}

func TestASecretWithoutPreviousHasOne(t *testing.T) {
	t.Parallel()
	c, _ := begin(&versions{values: map[string]string{"AWSCURRENT": "new"}})
	if s, err := c.Secrets(t.Context()); err != nil || verifies(t, s) != [2]bool{true, false} {
		t.Errorf("got %v, %v", s, err)
	}
}

// A secret that was taken away, or that cannot be read, is not answered from
// what was known.
func TestAFailedReadIsNoSecret(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		spoil func(*versions)
		again bool
		code  pipeline.Code
	}{
		{"deleted", func(v *versions) { delete(v.values, "AWSCURRENT") }, false, pipeline.NoSecret},
		{"empty", func(v *versions) { v.values["AWSCURRENT"] = "" }, false, pipeline.NoSecret},
		{"denied", func(v *versions) { v.fail = &smithy.GenericAPIError{Code: "AccessDeniedException"} }, false, pipeline.StoreFailed},
		{"throttled", func(v *versions) { v.fail = &smithy.GenericAPIError{Code: "ThrottlingException"} }, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := &versions{values: map[string]string{"AWSCURRENT": "new", "AWSPREVIOUS": "old"}}
			c, now := begin(v)
			if _, err := c.Secrets(t.Context()); err != nil {
				t.Fatal(err)
			}
			tc.spoil(v)
			for range 2 {
				now.now = now.now.Add(MaxAge)
				s, err := c.Secrets(t.Context())
				var again client.RetryableError
				var fault *pipeline.Fault
				if verifies(t, s) != [2]bool{} || errors.As(err, &again) != tc.again || !tc.again && (!errors.As(err, &fault) || fault.Code != tc.code) {
					t.Errorf("got %v, %v; want no secret and %q", s, err, tc.code)
				}
			}
		})
	}
}
