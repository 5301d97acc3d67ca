package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"decant.dev/events"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/server"
)

// hookVariable is where a hook's secret stands: DECANT_WEBHOOK_SECRET_SHOP_EU
// of shop-eu. A hook's name has no underscore, so each has its own.
func hookVariable(name string) string {
	return "DECANT_WEBHOOK_SECRET_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// hookSecrets reads the secrets of a hook.
func (a *App) hookSecrets(k events.Hook) events.Secrets {
	return a.webhookSecrets(hookVariable(k.Name))
}

// webhookSecrets reads a secret that deliveries are verified with, and the one
// before it while it is rotated.
func (a *App) webhookSecrets(variable string) events.Secrets {
	return events.Secrets{Current: events.NewSecret(a.Getenv(variable)), Previous: events.NewSecret(a.Getenv(variable + previous))}
}

// hooks lists the hooks of the recipes.
func (a *App) hooks() ([]events.Hook, error) {
	hooks, err := local.Hooks(a.Pipelines...)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return hooks, nil
}

// servedHooks are the hooks with their secrets, each of the form that its
// scheme has.
func (a *App) servedHooks() ([]server.Hook, error) {
	hooks, err := a.hooks()
	if err != nil {
		return nil, err
	}
	served := make([]server.Hook, len(hooks))
	for i, k := range hooks {
		served[i] = server.Hook{Hook: k, Secrets: a.hookSecrets(k)}
		if err := k.CheckSecrets(served[i].Secrets); err != nil {
			return nil, usagef("serve: %s: %v", hookVariable(k.Name), err)
		}
	}
	return served, nil
}

// warnUnsigned says of each hook that proves nothing that it does.
func (a *App) warnUnsigned(served []server.Hook, at string) {
	for _, k := range served {
		if k.Hook.Unsigned() {
			fmt.Fprintf(a.Stderr, "decant: WARNING: %s%s is %s\n", at, k.Hook.Path(), k.Hook.Scheme)
		}
	}
}

// takesGitHub reports whether a recipe is started by GitHub's deliveries.
func (a *App) takesGitHub() bool {
	return slices.ContainsFunc(a.Pipelines, func(p Pipeline) bool { return p.Intake.Source == events.GitHub })
}

// tally prints how often each word was counted, in the words' order.
func (a *App) tally(what string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	var words []string
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[word], word))
	}
	fmt.Fprintf(a.Stderr, "decant: %s: %s\n", what, strings.Join(words, ", "))
}
