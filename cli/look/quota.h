/* The quotas of a path: the servers count the nodes and the bytes at and below a path that has one. */
#ifndef PDK_CLI_QUOTA_H
#define PDK_CLI_QUOTA_H

#include <jansson.h>
#include <paddock/client.h>

/* Add a finding to ALL for each hard limit, of PATH or of a path above it, that leaves no room for another contender.
 * The quotas of a chroot's outside, and those that may not be read, are not seen. */
int pdk__cli_quota_diagnose(json_t *all, pdk_client *c, const char *path, int64_t timeout_ms);

#endif
