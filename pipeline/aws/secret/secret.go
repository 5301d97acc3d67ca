// Package secret reads a webhook's secret from Secrets Manager: the current
// version and, while a rotation lasts, the previous one.
//
// Both are kept for at most a minute, so that a rotation holds soon. A read
// that fails is an error and not an older value: a secret that was taken away
// proves nothing any more.
package secret

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// MaxAge is how long secrets are kept.
const MaxAge = 60 * time.Second

// The stages of a secret's versions
// (docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html).
const (
	current  = "AWSCURRENT"
	previous = "AWSPREVIOUS"
)

// API is the part of Secrets Manager that is used.
type API interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// Cache answers with a secret's two versions. It is safe for concurrent use.
type Cache struct {
	api   API
	arn   string
	clock func() time.Time

	mu   sync.Mutex
	read time.Time
	held events.Secrets
}

// Open makes a cache of one secret. Clock is time.Now.
func Open(region, endpoint, arn string, clock func() time.Time) *Cache {
	return New(secretsmanager.NewFromConfig(client.Config(region, endpoint, client.MaxAnswerBytes)), arn, clock)
}

// New makes a cache over any API.
func New(api API, arn string, clock func() time.Time) *Cache {
	return &Cache{api: api, arn: arn, clock: clock}
}

// Secrets returns the current and the previous secret, read at most MaxAge
// ago. The previous one may be none.
func (c *Cache) Secrets(ctx context.Context) (events.Secrets, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock()
	if age := now.Sub(c.read); !c.read.IsZero() && age >= 0 && age < MaxAge {
		return c.held, nil
	}
	c.read, c.held = time.Time{}, events.Secrets{}
	one, err := c.version(ctx, current)
	if err != nil {
		return events.Secrets{}, err
	}
	if !one.Configured() {
		return events.Secrets{}, pipeline.NoSecret.Error("want a secret of stage %s, found none", current)
	}
	other, err := c.version(ctx, previous)
	if err != nil {
		return events.Secrets{}, err
	}
	c.read, c.held = now, events.Secrets{Current: one, Previous: other}
	return c.held, nil
}

// version returns one version, none where the secret has none of the stage.
func (c *Cache) version(ctx context.Context, stage string) (events.Secret, error) {
	out, err := c.api.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &c.arn, VersionStage: aws.String(stage)})
	var none *types.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return events.Secret{}, nil
	case err != nil:
		return events.Secret{}, client.Fault("get secret", err)
	}
	return events.NewSecret(aws.ToString(out.SecretString)), nil
}
