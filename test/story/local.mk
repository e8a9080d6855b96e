story_programs = %D%/acquire %D%/barrier %D%/belief %D%/conditions %D%/disturbed %D%/double_barrier \
	%D%/idle %D%/link %D%/permits %D%/revoked %D%/rounds %D%/session %D%/sharing %D%/spent %D%/stray \
	%D%/unwatched
libpaddock_test_a_SOURCES += %D%/trace.c %D%/trace.h
%C%_acquire_SOURCES = %D%/test_acquire.c
%C%_barrier_SOURCES = %D%/test_barrier.c
%C%_belief_SOURCES = %D%/test_belief.c
%C%_conditions_SOURCES = %D%/test_conditions.c
%C%_disturbed_SOURCES = %D%/test_disturbed.c
%C%_double_barrier_SOURCES = %D%/test_double_barrier.c
%C%_idle_SOURCES = %D%/test_idle.c
%C%_link_SOURCES = %D%/test_link.c
%C%_permits_SOURCES = %D%/test_permits.c
%C%_revoked_SOURCES = %D%/test_revoked.c
%C%_rounds_SOURCES = %D%/test_rounds.c
%C%_session_SOURCES = %D%/test_session.c
%C%_sharing_SOURCES = %D%/test_sharing.c
%C%_spent_SOURCES = %D%/test_spent.c
%C%_stray_SOURCES = %D%/test_stray.c
%C%_unwatched_SOURCES = %D%/test_unwatched.c
