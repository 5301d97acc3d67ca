package conformance

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"decant.dev/fence"
)

// judgePrompt holds an answer in the form of prompt.v1 to what that form claims.
func (v seen) judgePrompt(report broken) {
	p, right := v.answer.prompt, v.right.Foreign()
	for _, part := range []struct {
		what string
		ok   bool
	}{
		{"voice", p.Voice == right.Voice},
		{"included", slices.Equal(p.Included, right.Included)},
		{"truncated", reflect.DeepEqual(p.Truncated, right.Truncated)},
		{"dropped", slices.Equal(p.Dropped, right.Dropped)},
		{"preamble and flat.system[0]", len(p.System) > 0 && p.System[0] == p.Preamble},
		{"placement, and data in flat", v.dataInPlace(p)},
	} {
		if !part.ok {
			report(PartsAgree, fmt.Sprintf("%s: want what follows from the context", part.what))
		}
	}
	var boundary fence.Boundary
	for _, t := range v.tokens {
		if b, err := fence.ParseBoundary(t.text); err == nil && b.Digest() == p.BoundaryDigest {
			boundary = b
		}
	}
	if len(v.tokens) > 0 && boundary.IsZero() {
		report(PartsAgree, "boundary_sha256: want the digest of the token's 32 digits")
		return
	}
	if boundary.IsZero() || !v.paired() {
		return // said already
	}
	blocks, _, err := fence.Split(p.Data, boundary)
	if err != nil {
		report(BlockForm, fmt.Sprintf("data: %v", err))
		return
	}
	wanted, _, err := fence.Split(v.right.Data(), v.right.Boundary())
	if err != nil || len(blocks) != len(wanted) {
		report(BlockForm, fmt.Sprintf("data: want %d blocks, got %d", len(wanted), len(blocks)))
		return
	}
	for i, b := range blocks {
		if b.Text != wanted[i].Text {
			report(BlockForm, fmt.Sprintf("data: block %d does not give its text back", i+1))
		}
	}
}

func (v seen) dataInPlace(p *fence.ForeignPrompt) bool {
	if p.Placement == fence.PlacementSystem {
		return len(p.System) == 2 && p.System[1] == p.Data || len(p.System) == 1 && p.Data == ""
	}
	return len(p.System) == 1 && strings.HasPrefix(p.User, p.Data)
}
