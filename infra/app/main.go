// App is the CDK program that deploys this module's recipes. It is configured
// by the context in cdk.json and needs no account to synthesize:
//
//	go run ./infra/app                        # into cdk.out
//	npx cdk deploy -c decant:stage=prod
package main

import (
	"fmt"
	"os"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"decant.dev/infra"
)

func main() {
	defer jsii.Close()
	if err := synthesize(); err != nil {
		fmt.Fprintln(os.Stderr, "decant infra:", err)
		jsii.Close()
		os.Exit(1)
	}
}

func synthesize() error {
	given, err := context(os.LookupEnv, os.DirFS("."))
	if err != nil {
		return err
	}
	c, err := configure(given)
	if err != nil {
		return err
	}
	app := cdk.NewApp(&cdk.AppProps{AnalyticsReporting: jsii.Bool(false), Outdir: outdir()})
	props := &cdk.StackProps{
		StackName:   jsii.String("decant-" + c.name),
		Description: jsii.String("decant: acts on text that strangers wrote, without letting it steer"),
	}
	if c.stage.Account != "" || c.stage.Region != "" {
		props.Env = &cdk.Environment{Account: optional(c.stage.Account), Region: optional(c.stage.Region)}
	}
	stack := cdk.NewStack(app, jsii.String("decant-"+c.name), props)
	infra.NewPipeline(stack, "Decant", c.props()).Outputs(stack)
	app.Synth(nil)
	return nil
}

// outdir is where the CDK command wants the assembly, or cdk.out.
func outdir() *string {
	if dir := os.Getenv("CDK_OUTDIR"); dir != "" {
		return &dir
	}
	return jsii.String("cdk.out")
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
