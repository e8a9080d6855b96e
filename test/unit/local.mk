unit_programs = \
	%D%/census %D%/check %D%/child %D%/code %D%/contract %D%/error %D%/events %D%/frame %D%/hold %D%/host \
	%D%/identity %D%/index %D%/leave %D%/margins %D%/name %D%/order %D%/path %D%/process %D%/program %D%/relay \
	%D%/retry %D%/rule %D%/runs %D%/stats %D%/timers %D%/waits
%C%_census_SOURCES = \
	%D%/test_census.c cli/look/census.c cli/message.c cli/owner.c cli/look/waits.c
%C%_events_SOURCES = %D%/test_events.c
%C%_check_SOURCES = %D%/test_check.c
%C%_child_SOURCES = %D%/test_child.c cli/run/child.c cli/run/page.c cli/spawn.c cli/number.c
%C%_code_SOURCES = %D%/test_code.c
%C%_contract_SOURCES = %D%/test_contract.c
%C%_error_SOURCES = %D%/test_error.c
%C%_frame_SOURCES = %D%/test_frame.c
%C%_hold_SOURCES = %D%/test_hold.c
%C%_host_SOURCES = %D%/test_host.c
%C%_identity_SOURCES = %D%/test_identity.c
%C%_index_SOURCES = %D%/test_index.c
%C%_leave_SOURCES = %D%/test_leave.c
%C%_margins_SOURCES = %D%/test_margins.c test/demo/margins.c test/demo/margins.h $(judge_sources)
%C%_name_SOURCES = %D%/test_name.c
%C%_order_SOURCES = %D%/test_order.c
%C%_path_SOURCES = %D%/test_path.c
%C%_process_SOURCES = %D%/test_process.c
%C%_program_SOURCES = %D%/test_program.c
%C%_relay_SOURCES = %D%/test_relay.c cli/number.c cli/run/relay.c
%C%_retry_SOURCES = %D%/test_retry.c
%C%_rule_SOURCES = %D%/test_rule.c
%C%_runs_SOURCES = %D%/test_runs.c
%C%_stats_SOURCES = %D%/test_stats.c
%C%_timers_SOURCES = %D%/test_timers.c
%C%_waits_SOURCES = %D%/test_waits.c cli/look/waits.c
