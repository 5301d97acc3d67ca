package infra

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
)

// stores makes what outlives a deployment. Bucket and tables are kept when
// the stack is deleted; docs/deploy.md says how to remove them.
func (p *Pipeline) stores() {
	s := p.Construct
	days := cdk.Duration_Days(num(p.props.TextDays))
	var rules []*awss3.LifecycleRule
	for _, prefix := range []string{"raw/", "prompt/", "bundle/", "manifest/", "cursor/", "start/"} {
		expire := days
		if prefix == "start/" {
			expire = cdk.Duration_Days(num(min(p.props.TextDays, startDays)))
		}
		rules = append(rules, &awss3.LifecycleRule{
			Id: str("delete-" + prefix[:len(prefix)-1]), Prefix: &prefix, Expiration: expire,
			NoncurrentVersionExpiration:         cdk.Duration_Days(num(1)),
			AbortIncompleteMultipartUploadAfter: cdk.Duration_Days(num(1)),
		})
	}
	p.RawBucket = awss3.NewBucket(s, str("RawBucket"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        yes(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Versioned:         yes(),
		RemovalPolicy:     cdk.RemovalPolicy_RETAIN,
		LifecycleRules:    &rules,
	})
	acknowledge(p.RawBucket, nag{id: "AwsSolutions-S1", reason: "Object keys are ids, and the roles that read or write objects are enumerated by the authority proof; CloudTrail data events record reads where an account wants them."})

	p.ActTable = p.table("ActTable", "sk", "ttl") // of counters; nothing else bears one
	p.GrantsTable = p.table("GrantsTable", "sk", "")
	p.RunsTable = p.table("RunsTable", "", "")
	p.ApprovalsTable = p.table("ApprovalsTable", "", "ttl")

	p.FailureQueue = awssqs.NewQueue(s, str("FailureQueue"), &awssqs.QueueProps{
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: yes(), RetentionPeriod: cdk.Duration_Days(num(14)),
	})
	acknowledge(p.FailureQueue, nag{id: "AwsSolutions-SQS3", reason: "This is the queue of what failed; a message holds a run's id and code, and nothing consumes it but people."})

	if p.props.DeliveryQueue {
		p.deliveryQueue()
	}

	p.ApprovalTopic = awssns.NewTopic(s, str("ApprovalTopic"), &awssns.TopicProps{
		EnforceSSL: yes(),
		MasterKey:  awskms.Alias_FromAliasName(s, str("TopicKey"), str("alias/aws/sns")),
	})

	p.GitHubSecret = awssecretsmanager.NewSecret(s, str("GitHubSecret"), &awssecretsmanager.SecretProps{
		Description:          str("decant: secret of GitHub's webhook"),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{PasswordLength: num(64), ExcludePunctuation: yes()},
	})
	acknowledge(p.GitHubSecret, nag{id: "AwsSolutions-SMG4", reason: "The secret is shared with GitHub, which nothing here can tell of a new one; a person rotates both, and the previous version stays accepted meanwhile (docs/deploy.md)."})
	p.hookSecrets()
}

// startDays is how long a marker without a body is kept: a delivery that was
// not accepted leaves one, and a sweep that fails has that long to be mended.
const startDays = 7

// table is one table on demand, with recovery to any second of 35 days.
func (p *Pipeline) table(id, sortKey, ttl string) awsdynamodb.Table {
	props := &awsdynamodb.TableProps{
		PartitionKey:                     &awsdynamodb.Attribute{Name: str("pk"), Type: awsdynamodb.AttributeType_STRING},
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: yes()},
		RemovalPolicy:                    cdk.RemovalPolicy_RETAIN,
	}
	if sortKey != "" {
		props.SortKey = &awsdynamodb.Attribute{Name: &sortKey, Type: awsdynamodb.AttributeType_STRING}
	}
	if ttl != "" {
		props.TimeToLiveAttribute = &ttl
	}
	return awsdynamodb.NewTable(p.Construct, &id, props)
}
