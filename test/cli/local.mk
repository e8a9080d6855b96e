# The command as its users meet it.
if WITH_CLI
cli_programs = \
	%D%/barrier %D%/break %D%/container %D%/diagnosis %D%/doctor %D%/elect %D%/graph %D%/hold %D%/hold_json %D%/lease %D%/listing %D%/lock %D%/lost %D%/metrics %D%/notify %D%/once %D%/outage \
	%D%/permits %D%/renewal %D%/server %D%/several %D%/sharing %D%/signals %D%/terminal %D%/top %D%/usage %D%/watch
slow_cli_scripts = %D%/clients
cli_scripts = %D%/completed %D%/console %D%/in_tmux %D%/manual %D%/nothing-up
else
cli_programs =
cli_scripts =
slow_cli_scripts =
endif
EXTRA_DIST += %D%/clients %D%/completed %D%/console %D%/in_tmux %D%/manual %D%/nothing-up
libpaddock_test_a_SOURCES += %D%/cli.c %D%/cli.h %D%/servers.c
%C%_barrier_SOURCES = %D%/test_barrier.c
%C%_break_SOURCES = %D%/test_break.c
%C%_container_SOURCES = %D%/test_container.c
%C%_diagnosis_SOURCES = %D%/test_diagnosis.c
%C%_doctor_SOURCES = %D%/test_doctor.c
%C%_elect_SOURCES = %D%/test_elect.c
%C%_graph_SOURCES = %D%/test_graph.c
%C%_hold_SOURCES = %D%/test_hold.c
%C%_hold_json_SOURCES = %D%/test_hold_json.c
%C%_lease_SOURCES = %D%/test_lease.c
%C%_listing_SOURCES = %D%/test_listing.c
%C%_lock_SOURCES = %D%/test_lock.c
%C%_lost_SOURCES = %D%/test_lost.c
%C%_metrics_SOURCES = %D%/test_metrics.c
%C%_notify_SOURCES = %D%/test_notify.c
%C%_once_SOURCES = %D%/test_once.c
%C%_outage_SOURCES = %D%/test_outage.c
%C%_permits_SOURCES = %D%/test_permits.c
%C%_renewal_SOURCES = %D%/test_renewal.c
%C%_server_SOURCES = %D%/test_server.c
%C%_several_SOURCES = %D%/test_several.c
%C%_sharing_SOURCES = %D%/test_sharing.c
%C%_signals_SOURCES = %D%/test_signals.c
%C%_terminal_SOURCES = %D%/test_terminal.c
%C%_top_SOURCES = %D%/test_top.c
%C%_usage_SOURCES = %D%/test_usage.c
%C%_watch_SOURCES = %D%/test_watch.c

# For LD_PRELOAD.
preloaded_libraries = %D%/hanging_client.la %D%/hanging_resolver.la %D%/stopping_exec.la
preloaded_ldflags = -module -avoid-version -shared -rpath /nowhere
%C%_hanging_client_la_SOURCES = %D%/hanging_client.c
%C%_hanging_client_la_LDFLAGS = $(preloaded_ldflags)
%C%_hanging_resolver_la_SOURCES = %D%/hanging_resolver.c
%C%_hanging_resolver_la_LDFLAGS = $(preloaded_ldflags)
%C%_stopping_exec_la_SOURCES = %D%/stopping_exec.c
%C%_stopping_exec_la_LDFLAGS = $(preloaded_ldflags)
