#include "test/chaos/findings.h"
#include "test/chaos/verdict.h"

#include <limits.h>
#include <stdio.h>

int judge(const char *dir)
{
    struct evidence e;
    static struct findings f;
    char file[PATH_MAX];
    int rc = 99;
    f = (struct findings){0};
    if (evidence_read(&e, dir)) {
        judge_evidence(&e, &f);
        print_summary(&e, &f);
        snprintf(file, sizeof file, "%s/report.html", dir);
        rc = !write_report(&e, &f, file) ? 99 : f.n_breaches > 0 ? 1 : 0;
    }
    findings_free(&f);
    evidence_free(&e);
    return rc;
}
