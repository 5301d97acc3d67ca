package cli

import (
	"strconv"
	"strings"

	"decant.dev/act/credential"
	"decant.dev/act/plan"
	"decant.dev/pipeline/local"
)

// The variables that sinks are configured by.
const (
	tokenVariable        = "DECANT_GITHUB_TOKEN"
	usersVariable        = "DECANT_GITHUB_USERS"
	apiVariable          = "DECANT_GITHUB_API"
	markerVariable       = "DECANT_MARKER_KEY"
	queuesVariable       = "DECANT_QUEUES"
	destinationsVariable = "DECANT_DESTINATIONS"
	idempotentVariable   = "DECANT_IDEMPOTENT"
	destinationSecret    = "DECANT_DESTINATION_SECRET_" // and the name in capitals
	previous             = "_PREVIOUS"
)

// sinks reads what actions are performed with. An error names the variable and
// what it wants, and holds no secret.
func (a *App) sinks() (local.Sinks, error) {
	s := local.Sinks{Queues: a.Getenv(queuesVariable)}
	if token := a.Getenv(tokenVariable); token != "" {
		s.GitHub = local.GitHubSink{API: a.Getenv(apiVariable), Token: credential.New(token), Marker: a.rotated(markerVariable)}
		for _, id := range listed(a.Getenv(usersVariable)) {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil || n < 1 {
				return s, usagef("%s: want the numeric user ids that %s acts as, that of today first, with commas between", usersVariable, tokenVariable)
			}
			s.GitHub.Identity = append(s.GitHub.Identity, n)
		}
		switch {
		case len(s.GitHub.Identity) == 0:
			return s, usagef("%s is set: want %s too, the numeric user id that it acts as", tokenVariable, usersVariable)
		case len(s.GitHub.Marker) == 0:
			return s, usagef("%s is set: want %s too, at least 32 random bytes that comments are marked with", tokenVariable, markerVariable)
		}
	}
	idempotent := map[string]bool{}
	for _, name := range listed(a.Getenv(idempotentVariable)) {
		idempotent[name] = true
	}
	for _, one := range listed(a.Getenv(destinationsVariable)) {
		name, url, ok := strings.Cut(one, "=")
		if !ok || !plan.IsName(name) {
			return s, usagef("%s: want NAME=URL with commas between, each name %s", destinationsVariable, plan.NameForm)
		}
		if _, twice := s.Destinations[name]; twice {
			return s, usagef("%s: %s stands there twice", destinationsVariable, name)
		}
		secrets := a.rotated(destinationSecret + strings.ToUpper(name))
		if len(secrets) == 0 {
			return s, usagef("%s names %s: want %s%s too, its whsec_ secret", destinationsVariable, name, destinationSecret, strings.ToUpper(name))
		}
		if s.Destinations == nil {
			s.Destinations = map[string]local.Destination{}
		}
		s.Destinations[name] = local.Destination{URL: url, Secrets: secrets, Idempotent: idempotent[name]}
		delete(idempotent, name)
	}
	if len(idempotent) > 0 {
		return s, usagef("%s: want names of %s", idempotentVariable, destinationsVariable)
	}
	return s, nil
}

// rotated reads a secret, and the one before it while it is rotated.
func (a *App) rotated(variable string) []credential.Secret {
	var all []credential.Secret
	for _, name := range []string{variable, variable + previous} {
		if value := a.Getenv(name); value != "" {
			all = append(all, credential.New(value))
		}
	}
	return all
}

// listed reads what stands between commas.
func listed(value string) []string {
	var all []string
	for _, one := range strings.Split(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}
