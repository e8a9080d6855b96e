#include "cli/look/quota.h"

#include "cli/look/findings.h"
#include "lib/core/path.h"

#include <paddock/contenders.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A contender's node has a name of 53 bytes, and an identity of about 200. */
enum { BYTES = 256 };

static const char *data_of(const pdk_contender_list *list, const char *name)
{
    for (size_t i = 0; i < pdk_contender_list_size(list); i++)
        if (strcmp(pdk_contender_text(list, i, PDK_CONTENDER_NAME), name) == 0)
            return pdk_contender_data(list, i, NULL);
    return "";
}

/* The number after KEY and "=" in TEXT, as "count=3,bytes=-1=;byteHardLimit=-1;countHardLimit=5"; -1: none. */
static long long number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL && at[strlen(key)] == '=' ? strtoll(at + strlen(key) + 1, NULL, 10) : -1;
}

static void find(json_t *all, const pdk_contender_list *list, const char *path)
{
    const char *limits = data_of(list, "zookeeper_limits"), *used = data_of(list, "zookeeper_stats");
    long long nodes = number(limits, "countHardLimit"), bytes = number(limits, "byteHardLimit");
    bool full = nodes >= 0 && number(used, "count") >= nodes,
         heavy = bytes >= 0 && number(used, "bytes") + BYTES > bytes;
    if (!full && !heavy)
        return;
    json_t *finding = pdk__cli_finding(
        all, QUOTA, "raise it, as with setquota of ZooKeeper's zkCli.sh, or delete what is not needed below the path",
        "a quota of %s is used up, and servers that enforce quotas refuse new contenders: the path's, or that of one "
        "above it",
        full ? "nodes" : "bytes");
    pdk__cli_finding_node(finding, path);
}

int pdk__cli_quota_diagnose(json_t *all, pdk_client *c, const char *path, int64_t timeout_ms)
{
    for (size_t end = 0; (end = pdk__path_next(path, end)) != 0;) {
        pdk_contender_list *list = NULL;
        char at[PDK__PATH_MAX + 1], quota[PDK__PATH_MAX + 1];
        snprintf(at, sizeof at, "%.*s", (int)end, path);
        if (snprintf(quota, sizeof quota, "/zookeeper/quota%s", at) >= (int)sizeof quota)
            return 0;
        int rc = pdk_contenders(c, quota, PDK_CONTENDERS_ALL, timeout_ms, &list);
        if (rc == 0)
            find(all, list, at);
        pdk_contender_list_free(list);
        if (rc != 0)
            return rc == PDK_EACCES || rc == PDK_EPATH ? 0 : rc;
    }
    return 0;
}
