package infra

import (
	"fmt"
	"strings"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"

	"decant.dev/events"
)

// Hook is a webhook beside GitHub's. How it is proved is the program's
// (lambdaingress.Hooked); here it has its path, and a secret of its own.
type Hook struct {
	Name string // as the program declares it
	// Unsigned is events.AnyoneMaySend where the program's scheme is events.None:
	// it then has no secret. Otherwise it is empty.
	Unsigned string
}

// MaxHooks bounds the webhooks of one pipeline: Lambda takes 4 KB of
// environment variables, and the ARN of each secret is in one.
const MaxHooks = 16

// checkHooks reports what is wrong with the hooks.
func (p *Props) checkHooks(fault func(ok bool, name, want string, got any)) {
	fault(len(p.Hooks) <= MaxHooks, "Hooks", fmt.Sprintf("at most %d", MaxHooks), len(p.Hooks))
	seen := map[string]bool{}
	for _, k := range p.Hooks {
		fault(events.IsHookName(k.Name), "Hooks: Name", "a hook's name", k.Name)
		fault(!seen[k.id()], "Hooks: Name", "each once, and more than a hyphen apart", k.Name)
		fault(k.Unsigned == "" || k.Unsigned == events.AnyoneMaySend, "Hooks: Unsigned", fmt.Sprintf("nothing, or %q", events.AnyoneMaySend), k.Unsigned)
		seen[k.id()] = true
	}
}

// id is the hook's part of the ids of its resources.
func (k Hook) id() string { return strings.ReplaceAll(k.Name, "-", "") }

// path is where the hook's deliveries are posted to.
func (k Hook) path() string { return events.HooksPath + k.Name }

// hookSecrets makes the secret of each hook that is signed. A random one is
// valid for each scheme; where the sender thinks it up, a person puts theirs.
func (p *Pipeline) hookSecrets() {
	for _, k := range p.props.Hooks {
		if k.Unsigned != "" {
			continue
		}
		s := awssecretsmanager.NewSecret(p.Construct, str("HookSecret"+k.id()), &awssecretsmanager.SecretProps{
			Description:          str("decant: secret of the webhook " + k.Name),
			GenerateSecretString: &awssecretsmanager.SecretStringGenerator{PasswordLength: num(64), ExcludePunctuation: yes()},
		})
		acknowledge(s, nag{id: "AwsSolutions-SMG4", reason: "The secret is shared with the webhook's sender, which nothing here can tell of a new one; a person rotates both, and the previous version stays accepted meanwhile (docs/deploy.md)."})
		p.HookSecrets[k.Name] = s
	}
}

// secrets are the ARNs of all webhooks' secrets.
func (p *Pipeline) secrets() []*string {
	all := []*string{p.GitHubSecret.SecretArn()}
	for _, k := range p.props.Hooks {
		if s := p.HookSecrets[k.Name]; s != nil {
			all = append(all, s.SecretArn())
		}
	}
	return all
}

// toldHooks is what the ingress is told of the hooks' secrets, nil where there
// are none.
func (p *Pipeline) toldHooks() *string {
	var parts []*string
	for _, k := range p.props.Hooks {
		if s := p.HookSecrets[k.Name]; s != nil {
			parts = append(parts, cdk.Fn_Join(str("="), &[]*string{str(k.Name), s.SecretArn()}))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return cdk.Fn_Join(str(","), &parts)
}

// hookOutputs are what a person needs of the hooks.
func (p *Pipeline) hookOutputs() []output {
	var all []output
	for _, k := range p.props.Hooks {
		all = append(all, output{"HookUrl" + k.id(), "where " + k.Name + " delivers to", cdk.Fn_Join(str(""), &[]*string{p.webhookEndpoint, str(k.path())})})
		if s := p.HookSecrets[k.Name]; s != nil {
			all = append(all, output{"HookSecretArn" + k.id(), "secret to share with the sender of " + k.Name, s.SecretArn()})
		}
	}
	return all
}
