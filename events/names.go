package events

// ours reports whether the package knows the shape of the event's body.
func ours(event string) bool {
	return event == "issues" || event == "issue_comment" || event == "ping"
}

// documented reports whether GitHub documents the event with a body that has
// neither an issue at its top nor a ping's keys, so that such a body under
// this name is a misfit. A name that is not listed says nothing about its
// body: GitHub adds events, and those are ignored rather than failed.
//
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads
func documented(event string) bool {
	switch event {
	case "branch_protection_configuration", "branch_protection_rule", "check_run", "check_suite",
		"code_scanning_alert", "commit_comment", "content_reference", "create", "custom_property",
		"custom_property_values", "delete", "dependabot_alert", "deploy_key", "deployment",
		"deployment_protection_rule", "deployment_review", "deployment_status", "discussion",
		"discussion_comment", "fork", "github_app_authorization", "gollum", "installation",
		"installation_repositories", "installation_target", "label", "marketplace_purchase", "member",
		"membership", "merge_group", "meta", "milestone", "org_block", "organization", "package",
		"page_build", "personal_access_token_request", "project", "project_card", "project_column",
		"projects_v2", "projects_v2_item", "projects_v2_status_update", "public", "pull_request",
		"pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
		"pull_request_target", "push", "registry_package", "release", "repository",
		"repository_advisory", "repository_dispatch", "repository_import", "repository_ruleset",
		"repository_vulnerability_alert", "secret_scanning_alert", "secret_scanning_alert_location",
		"secret_scanning_scan", "security_advisory", "security_and_analysis", "sponsorship", "star",
		"status", "team", "team_add", "user", "watch", "workflow_dispatch", "workflow_job",
		"workflow_run":
		return true
	default:
		return false
	}
}
