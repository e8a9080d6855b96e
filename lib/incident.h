/*
 * Incidents: why a call has failed, in words for people.
 *
 * The last failed call of each thread is kept, with the number of the object that it was made on. So threads that share
 * an object do not read each other's. The object keeps a failure that comes without a call: a loss, or the outcome of
 * an asynchronous call.
 */
#ifndef PDK__INCIDENT_H
#define PDK__INCIDENT_H

#include <stddef.h>
#include <stdint.h>

enum { PDK__INCIDENT_MAX = 512 };

/* A number for an object, never used twice. 0 is the number of calls without an object. */
uint64_t pdk__incident_object(void);

/* The calling thread's call on OBJECT has failed, for TEXT; or it did not fail, or begins. */
void pdk__incident_note(uint64_t object, const char *text);
void pdk__incident_clear(uint64_t object);

/* Why the calling thread's last call on OBJECT failed; "" when it did not fail, or another call failed since. */
const char *pdk__incident_text(uint64_t object);

/* Write "VERB SUBJECT: text of RC: WHY"; WHY may be "". */
void pdk__incident_format(char buf[PDK__INCIDENT_MAX], const char *verb, const char *subject, int rc, const char *why);

/* Copy TEXT into BUF of SIZE bytes; returns the length of the whole. */
size_t pdk__incident_copy(char *buf, size_t size, const char *text);

/* Copy TEXT of SIZE bytes, which any client may have written, with '?' for each byte that is not printable ASCII. */
void pdk__incident_clean(char *buf, size_t buf_size, const char *text, size_t size);

#endif
