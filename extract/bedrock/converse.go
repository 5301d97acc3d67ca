package bedrock

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/fence"
)

// answerName is the name of the output's format, and of the strict tool.
const answerName = "structure"

// question places the prompt as it says of itself: the preamble in a system
// block, which a cache point may follow, system data in a block after it, and
// the user message, which ends with the voice. A correction stands before
// everything else of the user message.
func (x *Extractor) question(p fence.Prompt, correction string) (*bedrockruntime.ConverseInput, error) {
	if p.Voice() == "" {
		return nil, fence.ErrNoPrompt
	}
	c := x.config
	q := &bedrockruntime.ConverseInput{
		ModelId:         &c.Model,
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(c.MaxTokens)), Temperature: c.Temperature},
		Messages: []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
			&types.ContentBlockMemberText{Value: correction + p.User()},
		}}},
	}
	for i, part := range p.System() {
		q.System = append(q.System, &types.SystemContentBlockMemberText{Value: part})
		if i == 0 && c.Cache {
			q.System = append(q.System, &types.SystemContentBlockMemberCachePoint{Value: types.CachePointBlock{Type: types.CachePointTypeDefault}})
		}
	}
	if c.Guardrail != (Guardrail{}) {
		q.GuardrailConfig = &types.GuardrailConfiguration{GuardrailIdentifier: &c.Guardrail.ID, GuardrailVersion: &c.Guardrail.Version}
	}
	switch c.Held {
	case ByFormat:
		q.OutputConfig = &types.OutputConfig{TextFormat: &types.OutputFormat{
			Type: types.OutputFormatTypeJsonSchema,
			Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{
				Schema: aws.String(string(x.schema)), Name: aws.String(answerName),
			}},
		}}
	case ByTool:
		var schema any
		if err := json.Unmarshal(x.schema, &schema); err != nil {
			return nil, errors.New("bedrock: the schema cannot be encoded")
		}
		q.ToolConfig = &types.ToolConfiguration{
			Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
				Name: aws.String(answerName), Description: aws.String("Takes the answer to this turn."), Strict: aws.Bool(true),
				InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(schema)},
			}}},
			ToolChoice: &types.ToolChoiceMemberTool{Value: types.SpecificToolChoice{Name: aws.String(answerName)}},
		}
	default:
		return nil, errors.New("bedrock: want a way to hold the model to the schema")
	}
	return q, nil
}

// read accepts a message of the assistant that the model ended itself, with
// exactly one answer in it, which reasoning may come before. Whether that is
// worth anything, the strict decoder says.
func (x *Extractor) read(out *bedrockruntime.ConverseOutput) (extract.Answer, error) {
	if out == nil {
		return extract.Answer{}, ErrNoAnswer
	}
	message, ok := out.Output.(*types.ConverseOutputMemberMessage)
	if !ok || message == nil || message.Value.Role != types.ConversationRoleAssistant {
		return extract.Answer{}, ErrNoAnswer
	}
	ended := types.StopReasonEndTurn
	if x.config.Held == ByTool {
		ended = types.StopReasonToolUse
	}
	switch out.StopReason {
	case ended:
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered:
		return extract.Answer{}, ErrRefused
	default:
		return extract.Answer{}, ErrCut
	}
	content := message.Value.Content
	for len(content) > 0 {
		if _, ok := content[0].(*types.ContentBlockMemberReasoningContent); !ok {
			break
		}
		content = content[1:]
	}
	if len(content) != 1 {
		return extract.Answer{}, ErrNoAnswer
	}
	candidate, ok := x.candidate(content[0])
	if !ok {
		return extract.Answer{}, ErrNoAnswer
	}
	return extract.Answer{Candidate: candidate, Projected: true, Usage: counted(out.Usage)}, nil
}

func (x *Extractor) candidate(block types.ContentBlock) ([]byte, bool) {
	switch b := block.(type) {
	case *types.ContentBlockMemberText:
		return []byte(b.Value), x.config.Held == ByFormat
	case *types.ContentBlockMemberToolUse:
		if x.config.Held != ByTool || aws.ToString(b.Value.Name) != answerName || b.Value.Input == nil {
			return nil, false
		}
		doc, err := b.Value.Input.MarshalSmithyDocument()
		return doc, err == nil
	default:
		return nil, false
	}
}

// counted is what Converse reports: it counts each token once.
func counted(u *types.TokenUsage) extract.Usage {
	if u == nil {
		return extract.Usage{}
	}
	within := func(n *int32) int { return max(0, min(int(aws.ToInt32(n)), extract.MaxTokens)) }
	return extract.Usage{
		InputTokens: within(u.InputTokens), OutputTokens: within(u.OutputTokens),
		CacheReadTokens: within(u.CacheReadInputTokens), CacheWriteTokens: within(u.CacheWriteInputTokens),
	}
}
