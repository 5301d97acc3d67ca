package sinks

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
)

var quiet = log.New(io.Discard, "", 0)

// NewReceiver is a program that takes webhooks, after check found nothing wrong
// with them. One that is once performs each webhook-id once.
func NewReceiver(t *testing.T, once bool, check func(h http.Header, body []byte) error) *Peer {
	return newPeer(t, plainVoice, (*httptest.Server).StartTLS, func(p *Peer, w http.ResponseWriter, r *http.Request, body []byte) {
		if err := check(r.Header, body); err != nil || r.Method != http.MethodPost {
			t.Errorf("a post that its receiver refuses: %v", err)
			wordy(w, http.StatusBadRequest)
			return
		}
		p.take(w, r, true, func() any {
			if key := r.Header.Get("webhook-id"); !once || p.Count(key) == 0 {
				p.perform(key)
			}
			return Foreign
		})
	})
}

// coded writes an error as SQS does: its code in the body.
func coded(status int, code string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"__type":"com.amazonaws.sqs#`+code+`","message":"`+Foreign+`"}`)
	}
}

// NewSQS speaks SQS's JSON protocol for SendMessage. Where readers are once, or
// the message bears a deduplication id, a key is performed once.
func NewSQS(t *testing.T, once bool) *Peer {
	v := voice{refuse: coded(http.StatusBadRequest, "QueueDoesNotExist"), throttle: coded(http.StatusBadRequest, "RequestThrottled")}
	return newPeer(t, v, (*httptest.Server).Start, func(p *Peer, w http.ResponseWriter, r *http.Request, body []byte) {
		var in struct{ QueueUrl, MessageBody, MessageDeduplicationId, MessageGroupId string }
		var m struct{ Key string }
		if json.Unmarshal(body, &in) != nil || json.Unmarshal([]byte(in.MessageBody), &m) != nil || r.Header.Get("X-Amz-Target") != "AmazonSQS.SendMessage" || m.Key == "" {
			t.Errorf("not a message of ours: %s", body)
			wordy(w, http.StatusBadRequest)
			return
		}
		if in.MessageDeduplicationId != "" && (in.MessageDeduplicationId != m.Key || in.MessageGroupId == "") {
			t.Errorf("deduplicated by %q in group %q", in.MessageDeduplicationId, in.MessageGroupId)
		}
		p.take(w, r, true, func() any {
			if p.Count(m.Key) == 0 || !once && in.MessageDeduplicationId == "" {
				p.perform(m.Key)
			}
			sum := md5.Sum([]byte(in.MessageBody)) // as SQS answers, so that the SDK compares
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			return map[string]string{"MessageId": "c9e3a8a5-0f6c-4b3e-9d35-7a3f0f1f9a01", "MD5OfMessageBody": hex.EncodeToString(sum[:])}
		})
	})
}
