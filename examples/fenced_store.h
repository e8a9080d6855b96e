/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of fenced_store, an example of a resource that a lock protects. */
#ifndef FENCED_STORE_H
#define FENCED_STORE_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXT_SIZE = 256 };

/* The exit statuses beside 0. */
enum { EXIT_STALE = 1, EXIT_TROUBLE = 2, EXIT_USAGE = 64 };

/* Serve the record kept in FILE on a UNIX socket at ADDRESS, indefinitely; returns when that is not possible. */
int store_serve(const char *address, const char *file);

/* Write TEXT to the store at ADDRESS. 0, EXIT_STALE with the largest token it has seen in *LARGEST, or EXIT_TROUBLE. */
int store_put(const char *address, int64_t token, const char *text, int64_t *largest);

/* Read the record under a lock for reading that came with TOKEN: as store_put(), but the store does not remember it. */
int store_read(const char *address, int64_t token, char text[TEXT_SIZE], int64_t *largest);

/* The record, and the token that came with it (0: nothing was written yet). 0 or EXIT_TROUBLE. */
int store_get(const char *address, int64_t *token, char text[TEXT_SIZE]);

/* The whole demonstration, on the servers HOSTS. */
int demo(const char *hosts);

#endif
