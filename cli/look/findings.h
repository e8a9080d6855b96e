/* Findings: each says a thing that is wrong with a lock path, with advice, in a JSON object with a stable code. */
#ifndef PDK_CLI_FINDINGS_H
#define PDK_CLI_FINDINGS_H

#include <jansson.h>

/* The codes. The manual's list of them is the contract. */
#define FOREIGN "foreign"
#define JUNK "junk"
#define TIE "tie"
#define PERSISTENT "persistent"
#define UNREADABLE "unreadable"
#define ACL_LACKS "acl"
#define MIXED "mixed"
#define COUNTER "counter"
#define ORPHAN "orphan"
#define DEADLOCK "deadlock"
#define QUOTA "quota"
#define RECORD "record"
#define OVERDUE "overdue"
#define PERIOD "period"
#define UNFINISHED "unfinished"
#define EARLY "early"

/* Add a finding to the array ALL, with ADVICE. Returns it, borrowed. */
json_t *pdk__cli_finding(json_t *all, const char *code, const char *advice, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add a node that the finding concerns. */
void pdk__cli_finding_node(json_t *finding, const char *name);

/* Print the findings, two lines each. */
void pdk__cli_findings_print(const json_t *all);

#endif
