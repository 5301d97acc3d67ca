// Package client makes the configuration that every AWS client of a function
// is built from: the role's credentials as Lambda gives them, bounded
// answers, bounded waiting and few retries.
//
// It does not link the SDK's own configuration package, whose other sources
// of credentials (files, metadata, single sign-on) a function has no use for.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// Bounds of one call.
const (
	MaxAttempts  = 3                // the first call and two more, each after a jittered wait
	maxBackoff   = 2 * time.Second  // the longest of these waits
	dialTimeout  = 3 * time.Second  // to connect, and again for TLS
	headTimeout  = 10 * time.Second // until an answer begins
	wholeTimeout = 20 * time.Second // until an answer has been read
)

// MaxAnswerBytes bounds an answer of every service but S3. DynamoDB's largest
// is 16 MB, and ours ask for single items and for one run's receipts.
const MaxAnswerBytes = 4 << 20

// Config makes the configuration of clients whose answers hold at most
// maxAnswer bytes. An empty endpoint stands for each service's own.
func Config(region, endpoint string, maxAnswer int64) aws.Config {
	c := aws.Config{
		Region:      region,
		Credentials: aws.CredentialsProviderFunc(credentials),
		HTTPClient:  &bounded{client: newHTTP(), max: maxAnswer},
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = MaxAttempts
				o.MaxBackoff = maxBackoff
			})
		},
	}
	if endpoint != "" {
		c.BaseEndpoint = aws.String(endpoint)
	}
	return c
}

// credentials reads the role's temporary credentials, which Lambda puts into
// the environment (docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html).
func credentials(context.Context) (aws.Credentials, error) {
	c := aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"), Source: "environment",
	}
	if !c.HasKeys() {
		return aws.Credentials{}, errors.New("credentials: want them in the environment, found none")
	}
	return c, nil
}

func newHTTP() *http.Client {
	return &http.Client{
		Timeout:       wholeTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   dialTimeout,
			ResponseHeaderTimeout: headTimeout,
			IdleConnTimeout:       90 * time.Second,
			MaxIdleConnsPerHost:   8,
			ForceAttemptHTTP2:     true,
			TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		},
	}
}

// bounded is a client whose answers end with an error at the first byte
// beyond max.
type bounded struct {
	client *http.Client
	max    int64
}

var errAnswerTooLarge = errors.New("answer exceeds its limit")

func (b *bounded) Do(r *http.Request) (*http.Response, error) {
	a, err := b.client.Do(r)
	if err != nil {
		return a, err
	}
	a.Body = &boundedBody{body: a.Body, left: b.max}
	return a, nil
}

type boundedBody struct {
	body io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), fmt.Errorf("%w: want at most as many bytes as were asked for", errAnswerTooLarge)
	}
	b.left -= int64(n)
	return n, err
}

func (b *boundedBody) Close() error { return b.body.Close() }
