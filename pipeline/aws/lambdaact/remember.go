package lambdaact

import (
	"context"
	"errors"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/client"
)

// ports are act's stores for one question. They keep the error of one that
// may be asked again, of which act's answer tells only that there was one.
// The authorizer is not among them: where it fails, nobody holds trigger.
type ports struct {
	admissions act.Admissions
	paused     act.Paused
	budgets    act.Budgets
	ledger     act.Ledger
	approvals  approval.Store
	transient  bool // asking the same question again may help
}

// remembering returns act with its stores wrapped.
func (h *Handler) remembering() (act.Handler, *ports) {
	asked := h.act
	p := &ports{admissions: asked.Admissions, paused: asked.Paused, budgets: asked.Budgets, ledger: asked.Ledger, approvals: asked.Approvals}
	asked.Admissions, asked.Paused, asked.Ledger, asked.Approvals = p, p, p, approvalPorts{p}
	if asked.Budgets != nil {
		asked.Budgets = p
	}
	return asked, p
}

func (p *ports) seen(err error) error {
	var again client.RetryableError
	p.transient = p.transient || errors.As(err, &again)
	return err
}

func (p *ports) Admit(ctx context.Context, run string, l plan.Label) error {
	return p.seen(p.admissions.Admit(ctx, run, l))
}

func (p *ports) Admitted(ctx context.Context, run string) (plan.Label, bool, error) {
	l, ok, err := p.admissions.Admitted(ctx, run)
	return l, ok, p.seen(err)
}

func (p *ports) Paused(ctx context.Context, recipe string) (bool, error) {
	paused, err := p.paused.Paused(ctx, recipe)
	return paused, p.seen(err)
}

func (p *ports) Charge(ctx context.Context, run string, spends []plan.Spend) (bool, error) {
	within, err := p.budgets.Charge(ctx, run, spends)
	return within, p.seen(err)
}

func (p *ports) Receipts(ctx context.Context, run string) ([]act.Receipt, error) {
	r, err := p.ledger.Receipts(ctx, run)
	return r, p.seen(err)
}

func (p *ports) Commit(ctx context.Context, receipts []act.Receipt, writes []table.Write) ([]act.Receipt, bool, error) {
	existing, stored, err := p.ledger.Commit(ctx, receipts, writes)
	return existing, stored, p.seen(err)
}

func (p *ports) Advance(ctx context.Context, from, to act.Receipt) (bool, error) {
	ok, err := p.ledger.Advance(ctx, from, to)
	return ok, p.seen(err)
}

type approvalPorts struct{ p *ports }

func (a approvalPorts) Get(ctx context.Context, run string) (approval.Record, bool, error) {
	r, ok, err := a.p.approvals.Get(ctx, run)
	return r, ok, a.p.seen(err)
}

func (a approvalPorts) Put(ctx context.Context, r approval.Record) (bool, error) {
	ok, err := a.p.approvals.Put(ctx, r)
	return ok, a.p.seen(err)
}
