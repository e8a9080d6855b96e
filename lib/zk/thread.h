/* A thread of ours. */
#ifndef PDK__THREAD_H
#define PDK__THREAD_H

#include <pthread.h>

/* It gets no signals. PDK_ESYSTEM. */
int pdk__thread_create(pthread_t *thread, void *(*run)(void *), void *arg);

#endif
