// Package source says who sends the webhooks of the example orders. It holds
// no secret and reads no text, so that an ingress may link it.
package source

import "decant.dev/events"

// Hook is the shop's webhook, at /webhooks/shop.
var Hook = events.Hook{
	Name:   "shop",
	Scheme: events.StandardWebhooks{},
	Event: events.HookEvent{
		Pointer: "/type",
		Names:   map[string]string{"message.received": "message.received", "message.edited": "message.edited"},
	},
}
