package pipeline

// Rules lists every rule that a Violation of Build or Enumerate may name. An
// audit adds the codes OutcomesEmpty and OutcomesStale.
func Rules() []string {
	return []string{
		"recipe_name",        // the name is not of its form
		"event_name",         // an event is not of its form, or named twice
		"approvals",          // more persons than a recipe can want
		"readers",            // not an audience
		"budget",             // a budget is out of its bounds, or counts what another counts
		"schedule_event",     // schedules, and no event schedule.tick
		"schedule_name",      // a schedule is not of its form, or named twice
		"schedule_channel",   // a schedule's channel is not of its form
		"schedule_target",    // a schedule's target is out of bounds
		"policy_row",         // a row of no kind, or without a decision for each label
		"no_plan",            // no function
		"shape_not_bounded",  // a field may say anything
		"token_is_text",      // a token says what only a text may
		"over_max_decide",    // the shape decides more bits than MaxDecide
		"over_max_carry",     // the shape carries more bits than MaxCarry
		"too_many_skeletons", // more than MaxSkeletons
		"plan_failed",        // the plan panics
		"invalid_action",     // an action that no list could spell
		"handle_in_address",  // a stranger would say where to write
		"kind_without_policy",
		"speaks_text",    // a text in an automatic action that speaks
		"audience_wider", // a sink is read by more than the sources are
	}
}
