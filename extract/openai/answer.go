package openai

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract"
)

// completion is what is read of an answer; what else stands in it is the
// endpoint's business (platform.openai.com/docs/api-reference/chat/object).
type completion struct {
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	Finish  string `json:"finish_reason"`
	Message *reply `json:"message"`
}

type reply struct {
	Role     string           `json:"role"`
	Content  *string          `json:"content"`
	Refusal  *string          `json:"refusal"`
	Tools    []jsontext.Value `json:"tool_calls"`
	Function jsontext.Value   `json:"function_call"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// decode accepts one choice that the model ended itself, of an assistant's
// text. Whether that text is worth anything, the strict decoder says.
func decode(body []byte) (extract.Answer, error) {
	var c completion
	if err := json.Unmarshal(body, &c); err != nil || len(c.Choices) != 1 || c.Choices[0].Message == nil {
		return extract.Answer{}, ErrNoAnswer
	}
	one := c.Choices[0]
	m := one.Message
	switch {
	case m.Refusal != nil && *m.Refusal != "", one.Finish == "content_filter":
		return extract.Answer{}, ErrRefused
	case len(m.Tools) > 0, len(m.Function) > 0 && m.Function.Kind() != 'n':
		return extract.Answer{}, ErrTool
	case one.Finish != "stop":
		return extract.Answer{}, ErrCut
	case m.Role != "assistant" || m.Content == nil:
		return extract.Answer{}, ErrNoAnswer
	}
	return extract.Answer{Candidate: []byte(*m.Content), Projected: true, Usage: c.Usage.counted()}, nil
}

// counted counts each token once: the API's prompt tokens include those from
// the cache.
func (u usage) counted() extract.Usage {
	within := func(n int) int { return max(0, min(n, extract.MaxTokens)) }
	read := min(within(u.Details.Cached), within(u.Prompt))
	return extract.Usage{InputTokens: within(u.Prompt) - read, OutputTokens: within(u.Completion), CacheReadTokens: read}
}
