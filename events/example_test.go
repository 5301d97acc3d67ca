package events_test

import (
	"errors"
	"fmt"
	"os"

	"decant.dev/events"
	"decant.dev/pipeline"
)

// A delivery is verified over its bytes before anything in it is read.
func ExampleReceiveGitHub() {
	secrets := events.Secrets{Current: events.NewSecret(events.SampleSecret)}
	for _, name := range []string{"github-issue-opened.json", "github-ping.json", "github-bad-signature.json"} {
		file, err := os.Open(name)
		if err != nil {
			panic(err)
		}
		request, err := events.ReadEvent(file)
		file.Close()
		if err != nil {
			panic(err)
		}
		delivery, _, err := events.ReceiveGitHub(request, secrets)
		var fault *pipeline.Fault
		if errors.As(err, &fault) {
			fmt.Println(fault.Code.Status(), fault.Code)
			continue
		}
		fmt.Println(delivery.Event, delivery.Target, delivery.Actor.Kind)
	}
	// Output:
	// issues.opened octo-org/sample#318 person
	// ignored ping
	// refused bad_signature
}
