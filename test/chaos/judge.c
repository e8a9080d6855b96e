#include "test/chaos/verdict.h"

#include "test/chaos/findings.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

static int judge_into(const char *dir, struct findings *all)
{
    static struct findings f;
    struct evidence e;
    char text[PATH_MAX];
    int rc = 99;
    f = (struct findings){0};
    if (evidence_read(&e, dir)) {
        judge_evidence(&e, &f);
        snprintf(text, sizeof text, "seed %" PRId64 ", %" PRId64 " clients, sessions of %" PRId64 " ms", e.seed,
                 e.n_clients, e.session_ms);
        print_summary(text, &f);
        snprintf(text, sizeof text, "%s/report.html", dir);
        rc = !write_report(&e, &f, text) ? 99 : f.n_breaches > 0 ? 1 : 0;
    }
    if (all != NULL)
        findings_add(all, &f);
    findings_free(&f);
    evidence_free(&e);
    return rc;
}

int judge(const char *dir) { return judge_into(dir, NULL); }

int judge_all(char **dirs, int n)
{
    static struct findings all;
    int worst = 0;
    for (int i = 0; i < n; i++) {
        int rc = judge_into(dirs[i], &all);
        worst = rc > worst ? rc : worst;
        printf("\n");
    }
    print_summary("all together", &all);
    findings_free(&all);
    return worst;
}
