package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func parse(t *testing.T, s string) map[string]jsontext.Value {
	t.Helper()
	all := map[string]jsontext.Value{}
	if err := json.Unmarshal([]byte(s), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestConfigurationIsRefusedWithItsPlaceNamed(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"decant:stages":{"dev":{"lives":true}}}`:                                     "dev",
		`{"decant:stages":{"dev":{"live":"yes"}}}`:                                     "dev",
		`{"decant:stages":{"dev":{"Live":true}}}`:                                      "dev",
		`{"decant:stages":{"dev":{},"dev":{}}}`:                                        "decant:stages",
		`{"decant:stages":["dev"]}`:                                                    "decant:stages",
		`{"decant:stage":7}`:                                                           "decant:stage",
		`{"decant:stage":"test","decant:stages":{"dev":{},"prod":{}}}`:                 "dev, prod",
		`{"decant:stag":"dev"}`:                                                        "decant:stag",
		`{"decant:stage":"Dev"}`:                                                       "Stage",
		`{"decant:stages":{"dev":{"textDays":0.5}}}`:                                   "TextDays",
		`{"decant:stages":{"dev":{"approvalHours":-1}}}`:                               "approvalHours",
		`{"decant:stages":{"dev":{"approvalHours":169}}}`:                              "approvalHours",
		`{"decant:stages":{"dev":{"reservedConcurrency":{"extract":1}}}}`:              "ReservedConcurrency",
		`{"decant:stages":{"dev":{"schedules":{"nightly":"rate(1 hour)"}}}}`:           "schedules",
		`{"decant:stages":{"dev":{"schedules":[{"name":"a","when":"rate(1 hour)"}]}}}`: "when",
		`{"decant:stages":{"dev":{"schedules":[{"name":"a","recipe":"r","expression":"rate(1 hour)","timeZone":"Mars/Base"}]}}}`: "Schedules[0].TimeZone",
		`{"decant:stages":{"dev":{"hooks":[{"name":"Shop"}]}}}`:                                                                  "Hooks: Name",
		`{"decant:stages":{"dev":{"hooks":[{"name":"shop","signed":false}]}}}`:                                                   "signed",
		`{"decant:stages":{"dev":{"deliveryQueue":"yes"}}}`:                                                                      "deliveryQueue",
		`{"decant:stages":{"dev":{"batchItems":1001}}}`:                                                                          "items of a batch",
		`{"decant:stages":{"dev":{"model":{"id":"example.some-model"}}}}`:                                                        "Model.Invoke",
		`{"decant:stages":{"dev":{"model":{"id":"m","invoke":["arn:aws:bedrock:*::foundation-model/*"]}}}}`:                      "Model.Invoke",
		`{"decant:stages":{"dev":{"network":"isolated","modelEndpoint":"sagemaker"}}}`:                                           "modelEndpoint",
	} {
		var err error
		all := map[string]jsontext.Value{}
		if err = json.Unmarshal([]byte(given), &all, jsontext.AllowDuplicateNames(true)); err != nil {
			t.Fatal(err)
		}
		if _, err = configure(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one that names %s", given, err, want)
		}
	}
}

func TestConfigurationOfAStage(t *testing.T) {
	t.Parallel()
	c, err := configure(parse(t, `{"@aws-cdk/core:x":true,"decant:stage":"prod","decant:stages":{"dev":{},"prod":{
		"live":true,"ownIdentities":["github:1"],"reservedConcurrency":{"act":3},"approvalHours":24,"deliveryQueue":true,"batchConcurrency":5,
		"schedules":[{"name":"nightly","recipe":"feeds","expression":"rate(1 day)"}],"region":"eu-central-1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	p := c.props()
	if p.Stage != "prod" || !p.Live || p.ReservedConcurrency["act"] != 3 || p.Limits.Approval.Hours() != 24 || !p.DeliveryQueue || p.Batches.Concurrency != 5 || len(p.Schedules) != 1 || p.Schedules[0].Recipe != "feeds" || c.stage.Region != "eu-central-1" {
		t.Errorf("got %+v", p)
	}
	bare, err := configure(nil)
	if err != nil || bare.name != "dev" || bare.props().Live {
		t.Errorf("without context: got %+v, %v; want a staged dev", bare, err)
	}
}

func TestContextIsTheCommandsOrThatOfTheFile(t *testing.T) {
	t.Parallel()
	dir := fstest.MapFS{"cdk.json": {Data: []byte(`{"app":"x","context":{"from":"file"}}`)}}
	none := func(string) (string, bool) { return "", false }
	command := func(name string) (string, bool) { return `{"from":"command"}`, name == "CDK_CONTEXT_JSON" }
	for want, lookup := range map[string]func(string) (string, bool){"file": none, "command": command} {
		got, err := context(lookup, dir)
		if err != nil || string(got["from"]) != `"`+want+`"` {
			t.Errorf("got %s, %v; want that of the %s", got["from"], err, want)
		}
	}
	if _, err := context(none, fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "cdk.json") {
		t.Errorf("without the file: got %v", err)
	}
	if _, err := context(none, fstest.MapFS{"cdk.json": {Data: []byte(`{`)}}); err == nil {
		t.Error("a broken file is accepted")
	}
}

func TestEveryStageOfTheRepositoryIsSound(t *testing.T) {
	t.Parallel()
	all, err := context(func(string) (string, bool) { return "", false }, os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]jsontext.Value{}
	if err := json.Unmarshal(all[stagesKey], &stages); err != nil {
		t.Fatal(err)
	}
	for name := range stages {
		all[stageKey] = jsontext.Value(`"` + name + `"`)
		if _, err := configure(all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(stages) < 2 {
		t.Errorf("got %d stages, want dev and prod", len(stages))
	}
}
