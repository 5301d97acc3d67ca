package github

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v82/github"

	"decant.dev/act"
	"decant.dev/act/internal/wire"
)

// refusals are the answers after which GitHub has done nothing and will not,
// with our word for each. A repository that was renamed or moved is not
// followed: the event named another.
var refusals = map[int]string{
	http.StatusMovedPermanently:           "moved",
	http.StatusFound:                      "moved",
	http.StatusSeeOther:                   "moved",
	http.StatusTemporaryRedirect:          "moved",
	http.StatusPermanentRedirect:          "moved",
	http.StatusBadRequest:                 "malformed",
	http.StatusForbidden:                  "forbidden",
	http.StatusNotFound:                   "not_found", // or not ours to see
	http.StatusGone:                       "gone",
	http.StatusUnprocessableEntity:        "invalid",
	http.StatusLocked:                     "locked",
	http.StatusUnavailableForLegalReasons: "legal",
}

// judge says what a request that failed is certain to have done. begun is
// whether a byte of it may have reached GitHub.
//
// A 401 is a token that was rotated or has expired: nothing was done, and the
// next token may do it, so the job waits for it and is not lost. Every answer
// of 5xx is Unsure, 503 included: a gateway says it of requests that it has
// passed on.
func (s *Sink) judge(err error, begun bool) act.Answer {
	answer, document := answerOf(err)
	if answer == nil {
		if begun {
			return act.Answer{}
		}
		return act.Answer{Verdict: act.NotPerformed, Word: "unreachable"}
	}
	if wait, limited := s.limited(answer, document); limited {
		return act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: wait}
	}
	if answer.StatusCode == http.StatusUnauthorized {
		return act.Answer{Verdict: act.NotPerformed, Word: "unauthorized", After: defaultWait}
	}
	if word := refusals[answer.StatusCode]; word != "" {
		return act.Answer{Verdict: act.Rejected, Word: word}
	}
	return act.Answer{}
}

// answerOf is the answer that the library made an error of, with the texts by
// which GitHub tells a limit from a refusal. They are looked at and not kept.
func answerOf(err error) (*http.Response, string) {
	var (
		plain    *gh.ErrorResponse
		primary  *gh.RateLimitError
		abuse    *gh.AbuseRateLimitError
		moved    *gh.RedirectionError
		twofold  *gh.TwoFactorAuthError
		accepted *gh.AcceptedError
	)
	switch {
	case errors.As(err, &accepted):
		return nil, "" // taken and not done yet: nobody can say
	case errors.As(err, &primary):
		return primary.Response, ""
	case errors.As(err, &abuse):
		return abuse.Response, "secondary-rate-limits"
	case errors.As(err, &moved):
		return moved.Response, ""
	case errors.As(err, &twofold):
		return twofold.Response, ""
	case errors.As(err, &plain):
		return plain.Response, strings.ToLower(plain.DocumentationURL + "\n" + plain.Message)
	default:
		return nil, ""
	}
}

// limited reports that an answer is a rate limit, primary or secondary, and
// how long GitHub asks to wait. A 403 without a sign of one is a refusal.
func (s *Sink) limited(a *http.Response, document string) (time.Duration, bool) {
	if a.StatusCode != http.StatusForbidden && a.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	now := s.Clock()
	if wait, ok := wire.RetryAfter(a.Header, now); ok {
		return wait, true
	}
	if a.Header.Get("X-Ratelimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(a.Header.Get("X-Ratelimit-Reset"), 10, 40); err == nil { // seconds since 1970
			return wire.Until(time.Unix(at, 0), now), true
		}
		return defaultWait, true
	}
	secondary := strings.Contains(document, "secondary-rate-limit") || strings.Contains(document, "secondary rate limit") ||
		strings.Contains(document, "abuse-rate-limit") || strings.Contains(document, "abuse detection")
	return defaultWait, secondary || a.StatusCode == http.StatusTooManyRequests
}
