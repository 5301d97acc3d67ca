package infra

import "time"

// sweep finds what was stored and not started. It lists keys and reads
// markers, and no text.
func (p *Pipeline) sweep() {
	list := func(sid, prefix string) right {
		r := may(sid, []string{"s3:ListBucket"}, p.RawBucket.BucketArn())
		r.when = map[string]any{"StringLike": map[string]any{"s3:prefix": prefix + "*"}}
		return r
	}
	environment := p.starters(map[string]*string{"DECANT_RUNS_TABLE": p.RunsTable.TableName()})
	p.function(Sweep, "starts what was stored and not started", 5*time.Minute, 256, environment,
		list("ListStarts", "start/"), list("ListBodies", "raw/"),
		may("ReadStart", []string{"s3:GetObject", "s3:DeleteObject"}, p.objects("start/")),
		may("SeeRecord", []string{"dynamodb:GetItem"}, p.RunsTable.TableArn()),
		may("StartRun", []string{"states:StartExecution"}, p.Machine.AttrArn(), p.Batch.AttrArn()),
		never("NoText", []string{"s3:*"}, p.objects("raw/"), p.objects("prompt/"), p.objects("bundle/"), p.objects("manifest/"), p.objects("cursor/")),
		never("NoTables", []string{"dynamodb:*"}, p.ActTable.TableArn(), p.GrantsTable.TableArn(), p.ApprovalsTable.TableArn()),
		never("NoSecret", []string{"secretsmanager:*"}, p.secrets()...))
}
