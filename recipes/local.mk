libpaddock_all_la_SOURCES += \
	%D%/changes.c %D%/changes.h \
	%D%/grant.c %D%/grant.h \
	%D%/hold.c %D%/hold.h \
	%D%/holds.c %D%/holds.h \
	%D%/leader.c \
	%D%/lock.c %D%/lock.h \
	%D%/mutex.c %D%/mutex.h \
	%D%/node_data.c %D%/node_data.h \
	%D%/object.c %D%/object.h \
	%D%/observer.c \
	%D%/permit.c %D%/permit.h \
	%D%/rwlock.c %D%/rwlock.h \
	%D%/semaphore.c %D%/semaphore.h
