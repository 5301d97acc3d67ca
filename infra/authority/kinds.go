package authority

import "strings"

// kind is what the proof knows of a type of resource. A type that is not in
// the list, and a property that is not in its row, fail the proof: they may
// carry authority.
type kind struct {
	// props are the properties that are interpreted or give nobody a right.
	props string
	// arns are the attributes whose value is an ARN, and what the value has
	// after the resource's own ARN.
	arns map[string]string
	// prefix is what stands before the name in the ARN, and nameAttr the
	// attribute that is the name, where it is not Ref.
	prefix, nameAttr string
	// inner is the beginning of the ARNs of what belongs to such a resource and
	// is named by it, and innerName what a pattern calls it.
	inner, innerName string
	// open marks a type whose properties are not read.
	open bool
}

func arn(attrs ...string) map[string]string {
	m := map[string]string{}
	for _, a := range attrs {
		m[a] = ""
	}
	return m
}

const here = ":${AWS::Region}:${AWS::AccountId}:"

var known = map[string]kind{
	"AWS::IAM::Role": {
		props: "AssumeRolePolicyDocument Description ManagedPolicyArns MaxSessionDuration Path PermissionsBoundary Policies RoleName Tags",
		arns:  arn("Arn"), prefix: "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/"},
	"AWS::IAM::Policy":        {props: "PolicyDocument PolicyName Roles"},
	"AWS::IAM::RolePolicy":    {props: "PolicyDocument PolicyName RoleName"},
	"AWS::IAM::ManagedPolicy": {props: "Description ManagedPolicyName Path PolicyDocument Roles", arns: arn("Ref", "PolicyArn")},

	"AWS::S3::Bucket": {
		props: "BucketEncryption BucketName LifecycleConfiguration LoggingConfiguration MetricsConfigurations ObjectLockConfiguration ObjectLockEnabled OwnershipControls PublicAccessBlockConfiguration Tags VersioningConfiguration",
		arns:  arn("Arn"), prefix: "arn:${AWS::Partition}:s3:::"},
	"AWS::S3::BucketPolicy": {props: "Bucket PolicyDocument"},
	"AWS::SQS::Queue": {
		props: "ContentBasedDeduplication DelaySeconds FifoQueue KmsDataKeyReusePeriodSeconds KmsMasterKeyId MaximumMessageSize MessageRetentionPeriod QueueName ReceiveMessageWaitTimeSeconds RedriveAllowPolicy RedrivePolicy SqsManagedSseEnabled Tags VisibilityTimeout",
		arns:  arn("Arn"), prefix: "arn:${AWS::Partition}:sqs" + here, nameAttr: "QueueName"},
	"AWS::SQS::QueuePolicy":  {props: "PolicyDocument Queues"},
	"AWS::SNS::Topic":        {props: "DisplayName FifoTopic KmsMasterKeyId SignatureVersion Tags TopicName TracingConfig", arns: arn("Ref", "TopicArn")},
	"AWS::SNS::TopicPolicy":  {props: "PolicyDocument Topics"},
	"AWS::SNS::Subscription": {props: "Endpoint FilterPolicy FilterPolicyScope Protocol RawMessageDelivery Region TopicArn"},
	"AWS::DynamoDB::Table": {
		props: "AttributeDefinitions BillingMode ContributorInsightsSpecification DeletionProtectionEnabled GlobalSecondaryIndexes KeySchema LocalSecondaryIndexes OnDemandThroughput PointInTimeRecoverySpecification ProvisionedThroughput ResourcePolicy SSESpecification TableClass TableName Tags TimeToLiveSpecification WarmThroughput",
		arns:  map[string]string{"Arn": ""}, prefix: "arn:${AWS::Partition}:dynamodb" + here + "table/"},
	"AWS::KMS::Key": {
		props: "Description EnableKeyRotation Enabled KeyPolicy KeySpec KeyUsage MultiRegion PendingWindowInDays RotationPeriodInDays Tags",
		arns:  arn("Arn"), prefix: "arn:${AWS::Partition}:kms" + here + "key/"},
	"AWS::KMS::Alias":                     {props: "AliasName TargetKeyId"},
	"AWS::SecretsManager::Secret":         {props: "Description GenerateSecretString KmsKeyId Name SecretString Tags", arns: arn("Ref", "Id")},
	"AWS::SecretsManager::ResourcePolicy": {props: "BlockPublicPolicy ResourcePolicy SecretId"},

	"AWS::Lambda::Function": {
		props: "Architectures Code DeadLetterConfig Description Environment EphemeralStorage FunctionName Handler KmsKeyArn LoggingConfig MemorySize PackageType RecursiveLoop ReservedConcurrentExecutions Role Runtime RuntimeManagementConfig Tags Timeout TracingConfig VpcConfig",
		arns:  arn("Arn"), prefix: "arn:${AWS::Partition}:lambda" + here + "function:"},
	"AWS::Lambda::Permission":         {props: "Action EventSourceToken FunctionName FunctionUrlAuthType InvokedViaFunctionUrl Principal SourceAccount SourceArn"},
	"AWS::Lambda::Url":                {props: "AuthType Cors InvokeMode TargetFunctionArn"},
	"AWS::Lambda::EventInvokeConfig":  {props: "FunctionName MaximumEventAgeInSeconds MaximumRetryAttempts Qualifier"},
	"AWS::Lambda::EventSourceMapping": {props: "BatchSize BisectBatchOnFunctionError Enabled EventSourceArn FilterCriteria FunctionName FunctionResponseTypes MaximumBatchingWindowInSeconds ScalingConfig Tags"},
	"AWS::StepFunctions::StateMachine": {
		props: "Definition DefinitionString DefinitionSubstitutions EncryptionConfiguration LoggingConfiguration RoleArn StateMachineName StateMachineType Tags TracingConfiguration",
		arns:  arn("Ref", "Arn"), prefix: "arn:${AWS::Partition}:states" + here + "stateMachine:", nameAttr: "Name",
		inner: "arn:${AWS::Partition}:states" + here + "execution:", innerName: "/execution"},
	"AWS::Scheduler::Schedule":            {props: "Description EndDate FlexibleTimeWindow GroupName KmsKeyArn Name ScheduleExpression ScheduleExpressionTimezone StartDate State Target", arns: arn("Arn")},
	"AWS::Scheduler::ScheduleGroup":       {props: "Name Tags"},
	"AWS::Events::Rule":                   {props: "Description EventPattern Name ScheduleExpression State Tags Targets", arns: arn("Arn")},
	"AWS::CloudFormation::CustomResource": {open: true},

	"AWS::ApiGatewayV2::Api":         {props: "CorsConfiguration Description DisableExecuteApiEndpoint Name ProtocolType Tags Version", prefix: "arn:${AWS::Partition}:execute-api" + here},
	"AWS::ApiGatewayV2::Stage":       {props: "AccessLogSettings ApiId AutoDeploy DefaultRouteSettings DeploymentId Description RouteSettings StageName Tags"},
	"AWS::ApiGatewayV2::Route":       {props: "ApiId ApiKeyRequired AuthorizationScopes AuthorizationType AuthorizerId OperationName RouteKey Target"},
	"AWS::ApiGatewayV2::Integration": {props: "ApiId Description IntegrationMethod IntegrationType IntegrationUri PayloadFormatVersion TimeoutInMillis"},
	"AWS::ApiGatewayV2::Deployment":  {props: "ApiId Description StageName"},

	"AWS::Logs::LogGroup":             {props: "DeletionProtectionEnabled KmsKeyId LogGroupClass LogGroupName RetentionInDays Tags", arns: map[string]string{"Arn": ":*"}, prefix: "arn:${AWS::Partition}:logs" + here + "log-group:"},
	"AWS::Logs::MetricFilter":         {props: "ApplyOnTransformedLogs FilterName FilterPattern LogGroupName MetricTransformations"},
	"AWS::Logs::QueryDefinition":      {props: "LogGroupNames Name QueryString"},
	"AWS::CloudWatch::Alarm":          {props: "ActionsEnabled AlarmActions AlarmDescription AlarmName ComparisonOperator DatapointsToAlarm Dimensions EvaluateLowSampleCountPercentile EvaluationPeriods ExtendedStatistic InsufficientDataActions MetricName Metrics Namespace OKActions Period Statistic Tags Threshold TreatMissingData Unit", arns: arn("Arn")},
	"AWS::CloudWatch::CompositeAlarm": {props: "ActionsEnabled AlarmActions AlarmDescription AlarmName AlarmRule OKActions Tags"},
	"AWS::CloudWatch::Dashboard":      {props: "DashboardBody DashboardName"},
	"AWS::CDK::Metadata":              {props: "Analytics"},

	"AWS::EC2::VPC":                         {props: "CidrBlock EnableDnsHostnames EnableDnsSupport InstanceTenancy Tags"},
	"AWS::EC2::Subnet":                      {props: "AvailabilityZone CidrBlock MapPublicIpOnLaunch Tags VpcId"},
	"AWS::EC2::RouteTable":                  {props: "Tags VpcId"},
	"AWS::EC2::SubnetRouteTableAssociation": {props: "RouteTableId SubnetId"},
	"AWS::EC2::Route":                       {open: true},
	"AWS::EC2::EIP":                         {props: "Domain Tags"},
	"AWS::EC2::InternetGateway":             {props: "Tags"},
	"AWS::EC2::NatGateway":                  {props: "AllocationId ConnectivityType SubnetId Tags"},
	"AWS::EC2::VPCGatewayAttachment":        {props: "InternetGatewayId VpcId"},
	"AWS::EC2::SecurityGroup":               {props: "GroupDescription GroupName SecurityGroupEgress SecurityGroupIngress Tags VpcId"},
	"AWS::EC2::SecurityGroupIngress":        {open: true},
	"AWS::EC2::SecurityGroupEgress":         {open: true},
	"AWS::EC2::VPCEndpoint":                 {props: "PolicyDocument PrivateDnsEnabled RouteTableIds SecurityGroupIds ServiceName SubnetIds Tags VpcEndpointType VpcId"},
}

// kindOf is what is known of a type. Custom resources are all of one kind.
func kindOf(typ string) (kind, bool) {
	if strings.HasPrefix(typ, "Custom::") {
		typ = "AWS::CloudFormation::CustomResource"
	}
	k, ok := known[typ]
	return k, ok
}
