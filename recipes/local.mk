simulated_sources += \
	%D%/any_lock.c %D%/any_lock.h \
	%D%/attendance.c %D%/attendance.h \
	%D%/barrier.c \
	%D%/cohort.c %D%/cohort.h \
	%D%/contenders_observer.c \
	%D%/count.c %D%/count.h \
	%D%/events.c %D%/events.h \
	%D%/grant.c %D%/grant.h \
	%D%/guarded.c %D%/guarded.h \
	%D%/handover.c %D%/handover.h \
	%D%/hold.c %D%/hold.h \
	%D%/mixture.c %D%/mixture.h \
	%D%/lockable.c %D%/lockable.h \
	%D%/leader.c \
	%D%/verbs.c %D%/verbs.h \
	%D%/lock_options.c %D%/lock_options.h \
	%D%/mutex.c \
	%D%/node_data.c %D%/node_data.h \
	%D%/object.c %D%/object.h \
	%D%/observer.c \
	%D%/rwlock.c \
	%D%/semaphore.c \
	%D%/part.c %D%/part.h \
	%D%/once.c \
	%D%/runs.c %D%/runs.h \
	%D%/turn.c %D%/turn.h
